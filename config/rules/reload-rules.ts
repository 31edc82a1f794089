/**
 * Keys that a running gateway cannot change, each with the reason. A key includes all keys below it, except
 * more specific ones of {@link liveKeys}. None of them is inside a list.
 */
export const restartKeys: Readonly<Record<string, string>> = {
  project: 'entries without a project belong to it',
  dataDir: 'the store, the keys and the control socket are in it',
  store: 'the directory is open and calls write to it',
  'log.pretty': 'the log stream is opened at start',
  'log.details': 'the log stream is opened at start',
  'sip.listen': 'the SIP agent binds its ports at start',
  'sip.announce': 'the SIP agent writes it into open dialogs',
  'sip.announceTo': 'the SIP agent writes it into open dialogs',
  'sip.drachtio': 'it decides which SIP agent runs',
  'sip.userAgent': 'the SIP agent and the HTTP clients are created with it',
  'sip.messages': 'the thread of the SIP agent is started with these limits',
  'sip.trace': 'the thread of the SIP agent reserves the memory at start',
  'sip.registrar.domains': 'the digest secrets of endpoints are derived for these hosts',
  'media.rtp': 'the media threads are started with it',
  'media.webrtc.bind': 'the port of browsers is bound at start',
  'media.webrtc.announce': 'browsers in calls hold these candidates',
  'media.webrtc.port': 'the port of browsers is bound at start',
  'media.rooms': 'the composing processes and ffmpeg are prepared at start',
  'media.recordings.folder': 'rows of recordings refer to files in it',
  'http.plain': 'the listener is bound at start',
  'http.tls': 'the listener is bound at start',
  'http.metrics': 'the listener is bound at start',
  'http.tls.hosts': 'the self-signed certificate is created for them at start',
  'http.headersTimeout': 'the listeners are created with it',
  'http.publicHost': 'tokens, links and the OAuth issuer contain it',
  'oauth.url': 'it is the issuer of tokens that are still valid',
  'oauth.accessTokenTtl': 'the authorization server is created with it',
  'oauth.refreshTokenTtl': 'the authorization server is created with it',
}

/** Keys that a reload changes in the running gateway; a key includes all keys below it. */
export const liveKeys: readonly string[] = [
  'projects',
  'log.level',
  'sip.tls',
  'sip.shield',
  'sip.overload',
  'sip.sessionTimer',
  'sip.registrar',
  'sip.challenges',
  'sip.domainSuffix',
  'sip.dial',
  'sip.dialNetworks',
  'media.webrtc.turn',
  'media.sounds',
  'media.speech',
  'media.recordings',
  'agents',
  'http.tls.certificate',
  'http.tls.key',
  'http.apiToken',
  'http.operatorToken',
  'http.trustedProxies',
  'http.maxConnections',
  'http.maxConnectionsPerAddress',
  'http.origins',
  'limits.calls',
  'limits.callDuration',
  'limits.ring',
  'limits.documentTimeout',
  'limits.recordsKept',
  'limits.messagesKept',
  'limits.documentNetworks',
  'limits.project',
  'limits.api',
  'limits.addressDepth',
  'limits.addressCalls',
  'limits.strangers',
  'limits.carrierCalls',
  'limits.webSockets',
  'limits.browsers',
  'oauth.clients',
  'webhooks',
  'push',
  'envs',
  'domains',
  'carriers',
  'endpoints',
  'subscribers',
  'resources',
  'rooms',
  'drain',
]

/** Rule of a key: a reload applies a change, or the change needs a restart, with the reason. */
export type ReloadRule = { readonly kind: 'live' } | { readonly kind: 'restart'; readonly reason: string }

const live = new Set(liveKeys)

/**
 * Returns the rule of a key of the schema, such as `limits.calls` or `domains[].allow`. The longest entry
 * that includes the key decides. Returns undefined if no entry includes it.
 */
export const reloadRuleOf = (path: string): ReloadRule | undefined => {
  const keys = path.replaceAll(/\[\]|\.<name>/g, '').split('.')
  for (let length = keys.length; length > 0; length--) {
    const prefix = keys.slice(0, length).join('.')
    if (live.has(prefix)) return { kind: 'live' }
    const reason = restartKeys[prefix]
    if (reason !== undefined) return { kind: 'restart', reason }
  }
  return undefined
}

import { isIP } from 'node:net'
import { parseDuration } from '../durations.ts'
import { parseNetwork } from '../networks.ts'
import { isPasswordOrHash } from '../password-hash.ts'
import { parseRtmpUrl } from '../rtmp-url.ts'
import { parseAge, parseSize } from '../sizes.ts'

/** Format of a text in the configuration. */
export interface Format {
  /** End of a message that begins with "must be". */
  readonly expected: string
  readonly validate: (text: string) => boolean
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  isIP(text) === 0 &&
  // A text like 300.1.1.1 is a misspelt IPv4 address, not a host name.
  !/^[\d.]+$/.test(text) &&
  text.split('.').every((part) => label.test(part))

const isHost = (text: string): boolean => isIP(text) !== 0 || isHostName(text)

/** Returns whether the whole left-most label, and no other label, is a wildcard (RFC 6125 section 6.4.3). */
const isWildcard = (text: string): boolean => text.startsWith('*.') && isHostName(text.slice(2))

const isHttpUrl = (text: string): boolean => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')

/** Whether a text is a WebSocket URL, which must not have a fragment (RFC 6455 section 3). */
const isWebSocketUrl = (text: string): boolean =>
  ['ws:', 'wss:'].includes(URL.parse(text)?.protocol ?? '') && !text.includes('#')

const isHostPort = (text: string): boolean => {
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text)
  if (!match) return false
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '')
  return isHost(host) && Number(match[2] ?? 1) >= 1 && Number(match[2] ?? 1) <= 65_535
}

/**
 * Whether a text is the URI of a carrier's target. `sips` permits only TLS. WebSockets are rejected, because
 * only clients open them.
 */
const isSipTarget = (text: string): boolean => {
  const [, scheme = '', hostPort = '', , parameters = ''] =
    /^(sips?):((\[[^\]]+\]|[^:;]+)(?::\d{1,5})?)((?:;[a-z0-9=._-]+)*)$/i.exec(text) ?? []
  const transport = /;transport=([^;]*)/i.exec(parameters)?.[1]?.toLowerCase()
  const transports = scheme.toLowerCase() === 'sips' ? ['tls', 'tcp'] : ['udp', 'tcp', 'tls']
  return isHostPort(hostPort) && (transport === undefined || transports.includes(transport))
}

/**
 * Whether a text is a STUN (RFC 7064) or TURN (RFC 7065) URI that browsers accept. Only a TURN URI may have a
 * parameter: the transport, which must not be UDP for TLS.
 */
const isIceUri = (text: string): boolean => {
  const [, scheme = '', hostPort = '', transport] =
    /^(stun|turns?):([^?]+)(?:\?transport=(udp|tcp))?$/i.exec(text) ?? []
  const transports = { stun: [], turns: ['tcp'] }[scheme.toLowerCase()] ?? ['udp', 'tcp']
  return isHostPort(hostPort) && (transport === undefined || transports.includes(transport.toLowerCase()))
}

const isBase64Url = (text: string, bytes: number): boolean =>
  /^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length === bytes

/** Formats of the schema, by name. */
export const formats = {
  'number-prefix': {
    expected: 'the first digits of a telephone number, such as +49 or 0900',
    validate: (text) => /^\+?\d{1,15}$/.test(text),
  },
  duration: {
    expected: 'a duration such as 500ms, 30s, 5m or 4h',
    validate: (text) => parseDuration(text) !== undefined,
  },
  age: { expected: 'an age such as 36h or 30d', validate: (text) => parseAge(text) !== undefined },
  size: { expected: 'a size such as 512MiB or 20GiB', validate: (text) => parseSize(text) !== undefined },
  network: {
    expected: 'an IP network such as 192.0.2.0/24',
    validate: (text) => parseNetwork(text) !== undefined,
  },
  ip: { expected: 'an IP address such as 192.0.2.1', validate: (text) => isIP(text) !== 0 },
  'announced-ip': {
    expected: 'an IP address that other machines can reach, not 0.0.0.0 or ::',
    validate: (text) => isIP(text) !== 0 && !/^[0.:]+$/.test(text),
  },
  host: { expected: 'a host name or an IP address', validate: isHost },
  'certificate-name': {
    expected: 'a host name, an IP address, or a wildcard name of the certificate such as *.carrier.example',
    validate: (text) => isHost(text) || isWildcard(text),
  },
  'server-name': {
    expected: 'a host name, an IP address, or a name such as *.sip.example, which matches one more label',
    validate: (text) => isHost(text) || isWildcard(text),
  },
  'host-port': { expected: 'a host name, with a port unless it is the default port', validate: isHostPort },
  'http-url': { expected: 'an http or https URL', validate: isHttpUrl },
  'server-url': {
    expected: 'an http, https, ws or wss URL without a fragment',
    validate: (text) => (isHttpUrl(text) && !text.includes('#')) || isWebSocketUrl(text),
  },
  'ws-url': { expected: 'a ws or wss URL without a fragment', validate: isWebSocketUrl },
  'rtmp-url': {
    expected: 'a URL such as rtmp://host/application/key, or with rtmps:',
    validate: (text) => parseRtmpUrl(text) !== undefined,
  },
  'file-path': { expected: 'the path of a file', validate: (text) => text !== '' },
  'sip-target': {
    expected: 'a SIP URI without a user, such as sip:gw.carrier.example;transport=tls',
    validate: isSipTarget,
  },
  'ice-uri': {
    expected:
      'a STUN or TURN URI such as stun:stun.example, turn:turn.example:3478?transport=udp ' +
      'or turns:turn.example:443?transport=tcp',
    validate: isIceUri,
  },
  origin: {
    expected: 'an origin such as https://app.example, without a path',
    validate: (text) => isHttpUrl(text) && new URL(text).origin === text.toLowerCase(),
  },
  'https-origin': {
    expected: 'an https origin such as https://gw.example, without a path',
    validate: (text) => URL.parse(text)?.protocol === 'https:' && new URL(text).origin === text.toLowerCase(),
  },
  email: { expected: 'an e-mail address', validate: (text) => /^[^\s@/?#]+@[^\s@/?#]+$/.test(text) },
  'postgres-url': {
    expected: 'a URL such as postgres://user@host/database',
    validate: (text) => ['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? ''),
  },
  'vapid-subject': {
    expected: 'a mailto: or https: URI',
    validate: (text) => /^mailto:[^\s@]+@[^\s@]+$/.test(text) || URL.parse(text)?.protocol === 'https:',
  },
  'p256-public-key': {
    expected: 'a public key of P-256, base64url, as printed by `trunkline push-keys`',
    validate: (text) => isBase64Url(text, 65) && Buffer.from(text, 'base64url')[0] === 4,
  },
  'p256-private-key': {
    expected: 'a private key of P-256, base64url, as printed by `trunkline push-keys`',
    validate: (text) => isBase64Url(text, 32),
  },
  password: {
    expected: 'a password, or a hash printed by `trunkline hash-password`',
    validate: isPasswordOrHash,
  },
  label: {
    expected: 'a name of letters, digits and dashes',
    validate: (text) => /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/i.test(text),
  },
  name: { expected: 'a name without blanks, /, ? and #', validate: (text) => /^[^\s/?#]{1,100}$/.test(text) },
  address: {
    expected: 'an address such as /public/menu',
    validate: (text) => /^\/[^\s/?#]+\/[^\s/?#]+$/.test(text),
  },
} satisfies Readonly<Record<string, Format>>

/** Name of one of {@link formats}. */
export type FormatName = keyof typeof formats

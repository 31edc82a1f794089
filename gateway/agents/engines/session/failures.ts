import type { EngineFailureKind } from '../../engine.ts'

/** Returns the kind of a failure by the status of an HTTP response. */
export const kindOfStatus = (status: number): EngineFailureKind => {
  if (status === 401 || status === 403) return 'unauthorised'
  if (status === 402 || status === 429) return 'limited'
  if (status === 408 || status === 504) return 'timeout'
  return status >= 500 ? 'server' : 'refused'
}

const kindsOfCloses: Readonly<Record<number, EngineFailureKind>> = {
  1002: 'protocol',
  1003: 'protocol',
  1007: 'protocol',
  1008: 'refused',
  1009: 'protocol',
  1011: 'server',
  1012: 'server',
  1013: 'limited',
  1014: 'server',
  3000: 'unauthorised',
  3003: 'unauthorised',
  3008: 'timeout',
  4401: 'unauthorised',
  4403: 'unauthorised',
  4408: 'timeout',
  4429: 'limited',
}

/** Returns the kind of a failure by the code that a WebSocket was closed with (RFC 6455 section 7.4). */
export const kindOfClose = (code: number): EngineFailureKind =>
  kindsOfCloses[code] ?? (code >= 4000 ? 'server' : 'connection')

/** Returns the kind of a failure by the error of a socket. */
export const kindOfError = ({ code }: NodeJS.ErrnoException): EngineFailureKind => {
  if (code === 'ETIMEDOUT') return 'timeout'
  // Errors of `ws` about a message: its length, its text, its frames.
  return code?.startsWith('WS_ERR_') ? 'protocol' : 'connection'
}

/** Maximum length of a server's text in a failure. */
const maxTextLength = 200

/**
 * Returns a server's text for a failure: on one line, shortened, without the secrets of the session and
 * without words that look like keys.
 */
export const publicText = (text: unknown, secrets: readonly string[]): string => {
  if (typeof text !== 'string') return ''
  let shown = text.slice(0, 2 * maxTextLength)
  for (const secret of secrets) if (secret !== '') shown = shown.replaceAll(secret, '…')
  return shown
    .split(/\s/)
    .map((word) => (/^.?(?:sk|xi|key|Bearer)[-_].{8}/.test(word) ? '…' : word))
    .join(' ')
    .slice(0, maxTextLength)
    .trim()
}

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

/** Words in the names of errors, each with its kind of failure. The first one that matches counts. */
const kindsOfNames: readonly (readonly [RegExp, EngineFailureKind])[] = [
  [/api_?key|auth|permission|forbidden|credential/, 'unauthorised'],
  [/rate_?limit|limit_(?:exceeded|reached)|quota|billing|credit|too_many|exhausted|busy/, 'limited'],
  [/time_?out|timed_out|deadline/, 'timeout'],
  [/session_expired|connection_lost/, 'connection'],
  [/server_error|internal|overloaded|unavailable/, 'server'],
  [/invalid|not_found|unsupported|context_length/, 'refused'],
]

/** Maximum number of characters of a name that are examined. */
const maxNameLength = 200

/**
 * Returns the kind of a failure by the name of an error, such as `invalid_api_key` or `RATE_LIMIT_EXCEEDED`,
 * or by its HTTP status. Several names are separated by a space. `otherwise`: kind of an unknown name.
 */
export const kindOfCode = (code: unknown, otherwise: EngineFailureKind): EngineFailureKind => {
  // Other values of a server may have members that make the conversion fail.
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN
  if (status >= 400 && status < 600) return kindOfStatus(status)
  const name = typeof code === 'string' ? code.slice(0, maxNameLength).toLowerCase() : ''
  return kindsOfNames.find(([words]) => words.test(name))?.[1] ?? otherwise
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

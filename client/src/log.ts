/** Amount of output on the console; each level includes those before it. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

// Fields of frames that grant access to the subscriber's identity or data.
const secrets: ReadonlySet<string> = new Set(['jwt_token', 'authorization_state', 'credential'])

const withoutSecrets = (frame: unknown): unknown =>
  JSON.parse(String(frame), (key, value) => (secrets.has(key) ? '[removed]' : value))

/** Log of the client. `trace` contains frames, with tokens and other secrets removed. */
export type Log = Readonly<Record<Exclude<LogLevel, 'silent'>, (text: string, detail?: unknown) => void>>

const order: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug', 'trace']

/** The part of the browser's console that is used. */
export type Writer = Pick<Console, 'error' | 'warn' | 'info' | 'debug'>

/** Creates a log at `level` that writes to `writer`. */
export const createLog = (level: LogLevel, writer: Writer): Log => {
  const at = (
    name: Exclude<LogLevel, 'silent'>,
    write: keyof Writer,
    format: (detail: unknown) => unknown = (detail) => detail,
  ) =>
    order.indexOf(name) > order.indexOf(level)
      ? () => {}
      : (text: string, detail?: unknown) =>
          detail === undefined
            ? writer[write](`[trunkline] ${text}`)
            : writer[write](`[trunkline] ${text}`, format(detail))
  return {
    error: at('error', 'error'),
    warn: at('warn', 'warn'),
    info: at('info', 'info'),
    debug: at('debug', 'debug'),
    trace: at('trace', 'debug', withoutSecrets),
  }
}

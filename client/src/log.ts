/** How much the client writes to the console; each level includes those before it. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Where the client writes. `trace` carries frames, with tokens removed. */
export type Log = Readonly<Record<Exclude<LogLevel, 'silent'>, (text: string, detail?: unknown) => void>>

const order: readonly LogLevel[] = ['silent', 'error', 'warn', 'info', 'debug', 'trace']

/** The part of the browser's console that is used. */
export type Writer = Pick<Console, 'error' | 'warn' | 'info' | 'debug'>

/** A log of `level` to `writer`. */
export const createLog = (level: LogLevel, writer: Writer): Log => {
  const at = (name: Exclude<LogLevel, 'silent'>, write: keyof Writer) =>
    order.indexOf(name) > order.indexOf(level)
      ? () => {}
      : (text: string, detail?: unknown) =>
          detail === undefined
            ? writer[write](`[trunkline] ${text}`)
            : writer[write](`[trunkline] ${text}`, detail)
  return {
    error: at('error', 'error'),
    warn: at('warn', 'warn'),
    info: at('info', 'info'),
    debug: at('debug', 'debug'),
    trace: at('trace', 'debug'),
  }
}

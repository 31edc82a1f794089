import pino from 'pino'
import type { LogConfig } from '../../config/types.ts'
import { readableLog } from './readable-log.ts'

/** Logger of a component. Child loggers add the ids `call` and `leg` to each line. */
export type Log = pino.Logger

/** Field names whose values never reach a log line, at the top and one level down. */
const secrets = ['password', 'secret', 'token', 'jwt_token', 'authorization', 'cookie', 'key']

/**
 * Makes the root logger, which writes to standard output. A `destination` receives JSON lines, even if the
 * configuration selects readable lines.
 */
export const createLog = (
  config: Pick<LogConfig, 'level' | 'pretty'> & Partial<LogConfig>,
  destination?: pino.DestinationStream,
): Log => {
  const options: pino.LoggerOptions = {
    level: config.level,
    redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: '[redacted]' },
    base: null,
  }
  if (destination) return pino(options, destination)
  if (!config.pretty) return pino(options)
  const readable = readableLog({ details: config.details === true })
  // Synchronous, so that lines and other text for the terminal keep their order.
  const output = pino.destination({ dest: 1, sync: true })
  return pino(options, { write: (line) => output.write(readable(line)) })
}

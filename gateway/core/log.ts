import pino from 'pino'
import type { LogConfig } from '../../config/types.ts'

/** Logger of a component. Child loggers add the ids `call` and `leg` to each line. */
export type Log = pino.Logger

/** Field names whose values never reach a log line, at the top and one level down. */
const secrets = ['password', 'secret', 'token', 'jwt_token', 'authorization', 'cookie', 'key']

/**
 * Makes the root logger, which writes to standard output. A `destination` receives JSON lines, even if the
 * configuration selects readable lines.
 */
export const createLog = (config: LogConfig, destination?: pino.DestinationStream): Log => {
  const options: pino.LoggerOptions = {
    level: config.level,
    redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: '[redacted]' },
    base: null,
  }
  if (destination) return pino(options, destination)
  if (!config.pretty) return pino(options)
  const look = { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }
  return pino({ ...options, transport: { target: 'pino-pretty', options: look } })
}

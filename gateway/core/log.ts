import pino from 'pino'
import type { LogConfig } from '../../config/types.ts'

/** The logger that parts are given; children carry `call` and `leg` ids. */
export type Log = pino.Logger

/** Field names whose values never reach a log line, at the top and one level down. */
const secrets = ['password', 'secret', 'token', 'jwt_token', 'authorization', 'cookie', 'key']

/**
 * Makes the root logger. It writes to standard output; a `destination` gets JSON lines, whatever the
 * configuration says of their look.
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

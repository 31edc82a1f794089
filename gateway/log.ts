import pino from 'pino'
import type { LogConfig } from '../config/types.ts'

/** The logger that parts are given; children carry `call` and `leg` ids. */
export type Log = pino.Logger

/** Field names whose values never reach a log line, at the top and one level down. */
const secrets = ['password', 'secret', 'token', 'jwt_token', 'authorization', 'cookie', 'key']

/** Makes the root logger. */
export const createLog = (config: LogConfig): Log =>
  pino({
    level: config.level,
    redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: '[redacted]' },
    base: null,
    ...(config.pretty && {
      transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } },
    }),
  })

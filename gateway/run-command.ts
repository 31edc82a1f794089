import type { Config } from '../config/types.ts'
import { App } from './app.ts'
import { greeting } from './greeting.ts'
import { createLog, type Log } from './log.ts'

/** Why the gateway stops. */
interface Stop {
  readonly reason: string
  readonly failed: boolean
}

/**
 * `trunkline run`: runs until a signal asks it to stop, or a part is lost that it cannot live without. Either way calls get their grace
 * period and a BYE. Returns the exit code.
 */
export const runGateway = async (config: Config, warnings: readonly string[]): Promise<number> => {
  const log = createLog(config.log)
  for (const warning of warnings) log.warn({ fault: warning }, 'a document in the configuration has a fault')
  const startedAt = performance.now()
  const stopping = Promise.withResolvers<Stop>()
  stopOnStrayErrors(log, stopping.resolve)
  const app = await App.start(config, log, (reason) => stopping.resolve({ reason, failed: true }))
  log.info({ ...app.addresses, startMs: Math.round(performance.now() - startedAt) }, 'ready')
  if (config.log.pretty) process.stdout.write(greeting(config, app.addresses))
  let signals = 0
  for (const reason of ['SIGTERM', 'SIGINT'] as const) {
    process.on(reason, () => (++signals === 1 ? stopping.resolve({ reason, failed: false }) : app.hurry()))
  }
  const { reason, failed } = await stopping.promise
  log.info({ reason, graceMs: config.drainMs }, 'draining')
  await app.drain()
  await app.close()
  log.info('stopped')
  return failed ? 1 : 0
}

/** An error that nobody caught leaves a state that nobody knows: no new calls, but those in progress are ended properly. */
const stopOnStrayErrors = (log: Log, stop: (stop: Stop) => void): void => {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error, event }, 'an error that nobody caught')
      stop({ reason: event, failed: true })
    })
  }
}

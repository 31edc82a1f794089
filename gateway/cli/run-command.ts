import type { ReadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { App } from '../app/app.ts'
import { greeting } from '../app/greeting.ts'
import { neededFiles, openFilesLimit } from '../app/open-files.ts'
import { type Reloading, Stopping } from '../app/stopping.ts'
import { SystemClock } from '../core/clock.ts'
import { createLog, type Log } from '../core/log.ts'

/** Longest time that the parts may take to close once no call is left: SIP transactions of the last BYEs included. */
const CLOSE_MS = 10_000

/** Lines about the configuration, for the log. */
export interface Warnings {
  /** Faults of documents. */
  readonly documents: readonly string[]
  /** Settings that are dangerous or pointless. */
  readonly settings: readonly string[]
}

/** Configuration, log and file of a gateway that runs. */
export interface RunOptions {
  /** The configuration file, absolute. */
  readonly file: string
  readonly started: ReadConfig
  readonly warnings: Warnings
}

/**
 * `trunkline run`: runs until a signal asks it to stop, or a part is lost that it cannot live without. Either way calls get their grace
 * period and a BYE; a second signal cuts that short, and a third one ends the process as it is. `reloading` has SIGHUP. Returns the exit
 * code.
 */
export const runGateway = async (
  { file, started, warnings }: RunOptions,
  reloading: Pick<Reloading, 'ready'>,
): Promise<number> => {
  const { config } = started
  const log = createLog(config.log)
  for (const fault of warnings.documents) log.warn({ fault }, 'a document in the configuration has a fault')
  for (const setting of warnings.settings) log.warn({ setting }, 'a setting is worth a second thought')
  warnOfOpenFiles(config, log)
  const startedAt = performance.now()
  const stopping = new Stopping({ hurry: () => app.hurry(), force: () => process.exit(1) })
  stopOnStrayErrors(log, stopping)
  const app = await App.start({ file, started }, log, (reason) => stopping.fail(reason))
  log.info({ ...app.addresses, startMs: Math.round(performance.now() - startedAt) }, 'ready')
  if (config.log.pretty) process.stdout.write(greeting(config, app.addresses))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.signal(signal))
  reloading.ready(() => void app.reload({ by: 'signal' }))
  const { reason, failed } = await stopping.asked
  log.info({ reason, graceMs: app.config.drainMs }, 'draining')
  await app.drain()
  // A part that hangs, as it may after a defect, is not to keep the process from ending and from being started again.
  const stuck = new SystemClock().after(CLOSE_MS, () => {
    log.error({ ms: CLOSE_MS }, 'not everything could be closed in time')
    process.exit(1)
  })
  await app.close()
  stuck.cancel()
  log.info('stopped')
  return failed ? 1 : 0
}

/** Calls fail where connections have taken the last file descriptor, so the limit must have room for both. */
const warnOfOpenFiles = (config: Config, log: Log): void => {
  const needed = neededFiles(config)
  const limit = openFilesLimit()
  if (limit === undefined || limit >= needed) return
  const facts = { event: 'open_files.limit', limit, needed }
  log.warn(facts, 'the limit of open files is below the number that the configured limits permit')
}

/** An error that nobody caught leaves a state that nobody knows: no new calls, but those in progress are ended properly. */
const stopOnStrayErrors = (log: Log, stopping: Stopping): void => {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error, event }, 'an error that nobody caught')
      stopping.fail(event)
    })
  }
}

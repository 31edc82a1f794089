import { DocumentPlaces } from '../../config/document-places.ts'
import { notifySocket } from '../../config/environment.ts'
import { ConfigInvalid, describeFault } from '../../config/faults.ts'
import { readConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { App } from '../app/app.ts'
import { checkDocuments, checkNamedFiles, checkSettings } from '../app/config-check.ts'
import { descriptorLimit, neededDescriptors } from '../app/file-descriptors.ts'
import { servedPages } from '../app/open-http.ts'
import { ServiceManager } from '../app/service-manager.ts'
import { type ReloadSignal, Shutdown } from '../app/shutdown.ts'
import { startupBanner } from '../app/startup-banner.ts'
import { SystemClock } from '../core/clock.ts'
import { createLog, type Log } from '../core/log.ts'

/**
 * Maximum time in ms for closing all components after the last call, including the SIP transactions of the
 * last BYEs.
 */
const maxCloseMs = 10_000

/**
 * `trunkline run`: runs the gateway of a configuration file (absolute path) until SIGTERM or SIGINT, or until
 * a component that it needs fails. Calls then get their grace period and a BYE. A second signal ends the
 * grace period, and a third one ends the process at once. `reloading` receives SIGHUP. Returns the exit code:
 * 1 after the loss of a component. Throws ConfigInvalid.
 */
export const runGateway = async (file: string, reloading: Pick<ReloadSignal, 'ready'>): Promise<number> => {
  const started = readConfig(file)
  const { config } = started
  const pretty = config.log.pretty ?? process.stdout.isTTY === true
  const log = createLog({ ...config.log, pretty })
  const places = new DocumentPlaces(file)
  const files = checkNamedFiles(config, places)
  const unusable = files.filter(({ severity }) => severity === 'error')
  if (unusable.length > 0) throw new ConfigInvalid(unusable)
  for (const fault of checkDocuments(config, places))
    log.warn(
      { event: 'config.document-faulty', fault: describeFault(fault) },
      'document of the configuration has a fault',
    )
  for (const setting of [...checkSettings(config, places), ...files])
    log.warn(
      { event: 'config.setting-questionable', setting: describeFault(setting) },
      'questionable setting found',
    )
  warnOfOpenFiles(config, log)
  const startedAt = performance.now()
  let running: App | undefined
  // During the start there is no call to end, so that the second signal ends the process.
  const hurry = () => (running ? running.hurry() : process.exit(1))
  const stopping = new Shutdown({ hurry, force: () => process.exit(1) })
  stopOnUncaughtErrors(log, stopping)
  // Comes before the start: a caller may be connected as soon as the SIP agent listens.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (!running) log.info({ event: 'gateway.stop-deferred', signal }, 'stop deferred until the start ends')
      stopping.signal(signal)
    })
  const onDrain = (graceMs?: number) => stopping.drain(graceMs)
  const app = await App.start({ file, started, onDrain }, log, (reason) => stopping.fail(reason))
  running = app
  const startMs = Math.round(performance.now() - startedAt)
  log.info({ event: 'gateway.started', ...app.addresses, startMs }, 'gateway ready')
  const manager = new ServiceManager(notifySocket(), log)
  manager.notify('ready')
  if (pretty) process.stdout.write(startupBanner(config, app.addresses, servedPages()))
  reloading.ready(() => void app.reload({ by: 'signal' }))
  const { reason, failed, graceMs = app.config.drainMs } = await stopping.requested
  log.info({ event: 'gateway.draining', reason, graceMs }, 'gateway draining')
  manager.notify('stopping')
  await app.drain(graceMs)
  // A component that hangs must not stop the process from exiting, or its restart would be delayed.
  const stuck = new SystemClock().after(maxCloseMs, () => {
    log.error({ event: 'gateway.close-timed-out', ms: maxCloseMs }, 'closing timed out')
    process.exit(1)
  })
  await app.close()
  stuck.cancel()
  log.info({ event: 'gateway.stopped' }, 'gateway stopped')
  return failed ? 1 : 0
}

/** Warns if the limit of open files is too low for the configured number of calls and connections. */
const warnOfOpenFiles = (config: Config, log: Log): void => {
  const needed = neededDescriptors(config)
  const limit = descriptorLimit()
  if (limit === undefined || limit >= needed) return
  log.warn(
    { event: 'gateway.open-files-limited', limit, needed },
    'limit of open files too low for the configuration',
  )
}

/**
 * Stops the gateway after an uncaught error, whose consequences are unknown: no new calls, and the present
 * ones end with a BYE.
 */
const stopOnUncaughtErrors = (log: Log, stopping: Shutdown): void => {
  for (const source of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(source, (error: unknown) => {
      log.fatal({ event: 'gateway.error-uncaught', err: error, source }, 'uncaught error')
      stopping.fail(source)
    })
  }
}

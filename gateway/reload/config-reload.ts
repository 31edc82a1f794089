import { realpathSync } from 'node:fs'
import { type ConfigChange, changesBetween, withoutRestartKeys } from '../../config/changes.ts'
import { documentChanges } from '../../config/document-changes.ts'
import { type ConfigFault, ConfigInvalid } from '../../config/faults.ts'
import type { ReadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import {
  ChangeRefused,
  type ConfigFollowers,
  type PreparedChange,
} from '../directory/provision/config-followers.ts'
import type { Write } from '../directory/store/sqlite.ts'

/**
 * Outcome of a reload:
 * - `applied`: the new values are in force.
 * - `unchanged`: the file has no new values.
 * - `valid`: a dry run succeeded.
 * - `invalid`: the file has faults. The old values stay in force.
 * - `failed`: a component rejected the new values. The old values stay in force.
 */
export type ReloadOutcome = 'applied' | 'unchanged' | 'valid' | 'invalid' | 'failed'

/** Result of a reload. Nothing in it is secret. */
export interface ReloadResult {
  readonly outcome: ReloadOutcome
  readonly file: string
  readonly dryRun: boolean
  /** Differences that were applied or, in a dry run, would be. */
  readonly applied: readonly ConfigChange[]
  /** Differences that need a restart; the gateway keeps the old values. */
  readonly restart: readonly ConfigChange[]
  readonly warnings: readonly string[]
  /** Faults of the file, where it is invalid. */
  readonly faults: readonly ConfigFault[]
  /** Reason given by the component that rejected the file, if the outcome is `failed`. */
  readonly error?: string
}

/** Collaborators of {@link ConfigReload}. */
export interface ConfigReloadOptions {
  /** The file that the gateway was started with, absolute. */
  readonly file: string
  /** The configuration that the gateway was started with. */
  readonly started: ReadConfig
  /** Reads a file. Throws {@link ConfigInvalid}. */
  readonly read: (file: string) => ReadConfig
  /** Lines about settings and documents that work but are questionable. */
  readonly warnings: (config: Config, file: string) => readonly string[]
  readonly followers: ConfigFollowers
  /** Runs `work` in one transaction of the store, rolled back if `work` throws. */
  readonly transaction: (work: (write: Write) => Promise<void>) => Promise<void>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly metrics: Pick<Metrics, 'configReloads' | 'gauge'>
}

/** Request for a reload. */
export interface ReloadRequest {
  /** Whether to report the changes without applying them. */
  readonly dryRun?: boolean
  /** Other file to read, only for a dry run; default the gateway's own file. */
  readonly file?: string
  /** Origin of the request, for the log. */
  readonly by: 'signal' | 'command' | 'api'
}

/** The operator named a file that the gateway does not run with. */
class OtherFile extends Error {
  override readonly name = 'OtherFile'

  constructor(file: string) {
    super(`the gateway runs with ${file}; another file can only be tried, by --dry-run`)
  }
}

/** Outcomes of reloads that change something if they can. */
const counted = ['applied', 'unchanged', 'invalid', 'failed'] as const satisfies readonly ReloadOutcome[]

/** Thrown to undo the writes of a dry run. */
class RolledBack extends Error {}

/**
 * Applies a changed configuration file to a running gateway. A reload reads and checks the whole file,
 * prepares every component, writes to the store in one transaction, and then commits the components. One
 * reload runs at a time.
 */
export class ConfigReload {
  readonly #options: ConfigReloadOptions
  #running: ReadConfig
  #restartKeys = 0
  #lastAt: number
  #closed = false
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: ConfigReloadOptions) {
    this.#options = options
    this.#running = options.started
    this.#lastAt = options.clock.now()
    // The series exist from the start: Prometheus sees no increase in one that begins with 1.
    for (const result of counted) options.metrics.configReloads.inc({ result }, 0)
    options.metrics.gauge('config_last_reload_timestamp_seconds', () => this.#lastAt / 1_000)
    options.metrics.gauge('config_restart_keys', () => this.#restartKeys)
  }

  /** Configuration in force. */
  get config(): Config {
    return this.#running.config
  }

  /** Rejects all further reloads; called at shutdown. */
  close(): void {
    this.#closed = true
  }

  /**
   * Reloads the file, once earlier reloads have finished. Faults of the file are in the result and never
   * reject the promise.
   */
  reload(request: ReloadRequest): Promise<ReloadResult> {
    const result = this.#queue.then(() => this.#reload(request))
    this.#queue = result.catch(() => {})
    return result
  }

  async #reload({ dryRun = false, file = this.#options.file, by }: ReloadRequest): Promise<ReloadResult> {
    const nothing = { file, dryRun, applied: [], restart: [], warnings: [], faults: [] }
    let result: ReloadResult
    try {
      this.#checkOpen()
      if (!dryRun && !isSameFile(file, this.#options.file)) throw new OtherFile(this.#options.file)
      result = await this.#take(file, dryRun)
    } catch (error) {
      if (error instanceof ConfigInvalid) result = { ...nothing, outcome: 'invalid', faults: error.faults }
      else result = { ...nothing, outcome: 'failed', error: reasonOf(error) }
      if (![ConfigInvalid, ChangeRefused, OtherFile].some((expected) => error instanceof expected))
        this.#options.log.error({ event: 'config.reload-failed', err: error }, 'reload failed')
    }
    this.#note(result, by)
    return result
  }

  async #take(file: string, dryRun: boolean): Promise<ReloadResult> {
    const now = this.#running
    const next = this.#options.read(file)
    const values = withoutRestartKeys(now.values, next.values)
    // `dataDir` is relative to the file, and must not change when a dry run reads a file in another folder.
    const config = { ...next.rebuilt(values), dataDir: now.config.dataDir }
    const all = [...changesBetween(now.values, next.values), ...documentChanges(now, { ...next, config })]
    const applied = all.filter(({ rule }) => rule.kind === 'live')
    const restart = all.filter(({ rule }) => rule.kind === 'restart')
    const found = { file, dryRun, applied, restart, faults: [] }
    const warnings = this.#options.warnings(config, file)
    // Prepared even if no key has changed: files that the configuration names, such as certificates, may
    // have.
    const prepared = await this.#options.followers.prepare(config, now.config)
    const failed = await this.#carryOut(prepared, dryRun)
    const unchanged = dryRun ? 'valid' : 'unchanged'
    const outcome = dryRun || applied.length === 0 ? unchanged : 'applied'
    if (!dryRun) {
      this.#running = { values, config, rebuilt: next.rebuilt }
      this.#restartKeys = restart.length
      this.#lastAt = this.#options.clock.now()
    }
    return { ...found, outcome, warnings: [...warnings, ...failed] }
  }

  #checkOpen(): void {
    if (this.#closed) throw new ChangeRefused('gateway', new Error('it is shutting down'))
  }

  /** Writes the prepared change, and commits it unless `dryRun`. If this rejects, nothing has changed. */
  async #carryOut(prepared: PreparedChange, dryRun: boolean): Promise<readonly string[]> {
    try {
      // The shutdown may have begun during the preparation.
      this.#checkOpen()
      if (prepared.writes) await this.#write(prepared, dryRun)
    } catch (error) {
      await prepared.discard()
      throw error
    }
    if (dryRun) {
      await prepared.discard()
      return []
    }
    const failed = prepared.commit(this.#options.log)
    return [...failed, ...(await prepared.finish())]
  }

  /** Writes to the store. A dry run writes too, to find what the store rejects, and rolls back. */
  async #write(prepared: PreparedChange, dryRun: boolean): Promise<void> {
    try {
      await this.#options.transaction(async (write) => {
        await prepared.write(write)
        if (dryRun) throw new RolledBack()
      })
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error
    }
  }

  #note(
    { outcome, dryRun, file, applied, restart, warnings, faults, error }: ReloadResult,
    by: string,
  ): void {
    const { log, metrics } = this.#options
    if (!dryRun) metrics.configReloads.inc({ result: outcome })
    const facts = {
      event: `config.reload-${outcome}`,
      by,
      dryRun,
      file,
      applied: applied.map(pathAndKind),
      restart: restart.map(pathAndKind),
    }
    const found = faults.map(({ line, path, message }) => `line ${line} ${path}: ${message}`)
    if (outcome === 'invalid' && dryRun)
      log.info({ ...facts, faults: found }, 'faults found in a dry run: the configuration is unchanged')
    else if (outcome === 'invalid')
      log.error({ ...facts, faults: found }, 'configuration not reloaded: the file has faults')
    else if (outcome === 'failed')
      log.error({ ...facts, reason: error }, 'configuration not reloaded: it cannot be applied')
    else log.info(facts, dryRun ? 'configuration checked in a dry run' : 'configuration reloaded')
    if (dryRun) return
    for (const warning of warnings)
      log.warn({ event: 'config.warning-reported', warning }, 'reloaded configuration is questionable')
    for (const { path, rule } of restart)
      if (rule.kind === 'restart')
        log.warn({ event: 'config.restart-needed', path, reason: rule.reason }, 'changed key needs a restart')
  }
}

/** Whether two paths lead to one file. Paths of missing files are compared as text. */
const isSameFile = (one: string, other: string): boolean => {
  if (one === other) return true
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false
  }
}

const pathAndKind = ({ path, kind }: ConfigChange): string => (kind === 'changed' ? path : `${kind} ${path}`)

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

import type { Config } from '../../config/types.ts'
import { takeDataFolder } from '../cluster/data-folder.ts'
import { SystemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { migrations } from '../directory/migrations/list.ts'
import { migrate, missingSteps } from '../directory/migrations/run.ts'
import { directoryOptions } from '../directory/opening/directory-options.ts'
import { openEngine } from '../directory/opening/open-engine.ts'
import { makeOwnDataFolder } from './own-data-folder.ts'

/** Options of `trunkline migrate`. */
export interface MigrateOptions {
  /** Changes nothing. */
  readonly check: boolean
  /** Prints the result as JSON. */
  readonly json?: boolean
}

/**
 * `trunkline migrate`: migrates the store to the current version, and prints each step. With `--check`,
 * changes nothing, and the exit code is 1 if steps are missing. Returns the exit code. Without `--check`,
 * throws if a gateway runs in the data folder.
 */
export const migrateStore = async (config: Config, options: MigrateOptions): Promise<number> => {
  makeOwnDataFolder(config.dataDir)
  const folder = options.check ? undefined : takeDataFolder(config.dataDir)
  try {
    return await migrateEngine(config, options)
  } finally {
    folder?.release()
  }
}

const migrateEngine = async (config: Config, { check, json = false }: MigrateOptions): Promise<number> => {
  const clock = new SystemClock()
  const log = createLog({ level: 'silent', pretty: false })
  const engine = await openEngine({ ...directoryOptions(config), clock, log })
  try {
    const missing = await missingSteps(engine.store)
    const result = { store: engine.name, version: migrations.length, missing, is_migrated: false }
    if (missing.length === 0) {
      print(json, result, `${engine.name} has the current version.\n`)
      return 0
    }
    const steps = missing.map((name) => `  ${name}\n`).join('')
    if (check) {
      print(json, result, `${engine.name} needs these migrations:\n${steps}`)
      return 1
    }
    for (const [index, name] of missing.entries()) {
      process.stderr.write(`Step ${index + 1} of ${missing.length}: ${name}\n`)
      const until = migrations.length - missing.length + index + 1
      await migrate(engine.store, clock, engine.lock, migrations.slice(0, until))
    }
    const text = `${engine.name} was migrated to version ${migrations.length}:\n${steps}`
    print(json, { ...result, is_migrated: true }, text)
    return 0
  } finally {
    await engine.close()
  }
}

const print = (json: boolean, result: object, text: string): void => {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : text)
}

import type { Config } from '../../config/types.ts'
import { takeDataFolder } from '../cluster/data-folder.ts'
import { SystemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { makeFolder } from '../core/make-folder.ts'
import { migrations } from '../directory/migrations/list.ts'
import { migrate, missingSteps } from '../directory/migrations/run.ts'
import { directoryOptions } from '../directory/opening/directory-options.ts'
import { openEngine } from '../directory/opening/open-engine.ts'

/**
 * `trunkline migrate`: migrates the store to the current version, and prints each step. With `--check`,
 * changes nothing, and the exit code is 1 if steps are missing. Returns the exit code. Without `--check`,
 * throws if a gateway runs in the data folder.
 */
export const migrateStore = async (
  config: Config,
  { check }: { readonly check: boolean },
): Promise<number> => {
  makeFolder(config.dataDir)
  const folder = check ? undefined : takeDataFolder(config.dataDir)
  try {
    return await migrateEngine(config, check)
  } finally {
    folder?.release()
  }
}

const migrateEngine = async (config: Config, check: boolean): Promise<number> => {
  const clock = new SystemClock()
  const log = createLog({ level: 'silent', pretty: false })
  const engine = await openEngine({ ...directoryOptions(config), clock, log })
  try {
    const missing = await missingSteps(engine.store)
    if (missing.length === 0) {
      process.stdout.write(`${engine.name} has the current version.\n`)
      return 0
    }
    const steps = missing.map((name) => `  ${name}\n`).join('')
    if (check) {
      process.stdout.write(`${engine.name} needs these migrations:\n${steps}`)
      return 1
    }
    for (const [index, name] of missing.entries()) {
      process.stderr.write(`Step ${index + 1} of ${missing.length}: ${name}\n`)
      const until = migrations.length - missing.length + index + 1
      await migrate(engine.store, clock, engine.lock, migrations.slice(0, until))
    }
    process.stdout.write(`${engine.name} was migrated to version ${migrations.length}:\n${steps}`)
    return 0
  } finally {
    await engine.close()
  }
}

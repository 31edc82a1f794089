import { configFile, defineCommand, invalidCode, jsonOption } from '../command.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline migrate`. */
export const migrate = defineCommand({
  name: 'migrate',
  group: 'Data',
  summary: 'migrate the store to the version of this release',
  description:
    '`trunkline run` does the same at its start. A migration cannot be reverted: make a backup first. ' +
    'The gateway must not run.',
  arguments: { file: configFile },
  options: {
    check: { description: 'print the missing steps, and exit with 1 if there are any' },
    json: jsonOption,
  },
  examples: [
    { line: 'migrate --check', effect: 'prints the steps that a new release needs' },
    { line: 'migrate trunkline.yaml', effect: 'carries them out' },
  ],
  exitCodes: {
    0: 'the store has the current version',
    1: 'steps are missing (`--check`), or the store could not be migrated',
    2: invalidCode,
  },
  run: ({ file, check, json }) =>
    withConfig(file, async (config) =>
      (await import('../migrate-command.ts')).migrateStore(config, { check, json }),
    ),
})

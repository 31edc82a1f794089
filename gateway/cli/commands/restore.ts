import { configFile, defineCommand, invalidCode, jsonOption } from '../command.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline restore`. */
export const restore = defineCommand({
  name: 'restore',
  group: 'Data',
  summary: 'restore an archive of `trunkline backup`',
  description:
    'Verifies every file of the archive, and then puts the files into the data folder. ' +
    'The gateway must not run. Nothing is overwritten without `--force`. PostgreSQL needs `pg_restore`.',
  arguments: { archive: { description: 'archive to restore', completes: 'file' }, file: configFile },
  options: {
    check: { description: 'verify the archive, and change nothing' },
    force: { description: 'move present files aside, and replace the tables of PostgreSQL' },
    json: jsonOption,
  },
  examples: [
    { line: 'restore --check backup.tar.gz', effect: 'verifies an archive' },
    { line: 'restore backup.tar.gz trunkline.yaml', effect: 'restores it into an empty data folder' },
  ],
  exitCodes: {
    0: 'the archive is restored, or valid (`--check`)',
    1: 'the archive is invalid, a gateway runs, or the data folder is not empty',
    2: invalidCode,
  },
  run: ({ archive, file, ...options }) =>
    withConfig(file, async (config) =>
      (await import('../backup/restore-command.ts')).restoreBackup(config, archive, options),
    ),
})

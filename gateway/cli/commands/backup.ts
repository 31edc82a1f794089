import { configFile, defineCommand, invalidCode } from '../command.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline backup`. */
export const backup = defineCommand({
  name: 'backup',
  group: 'Data',
  summary: 'write the store and the data folder to an archive',
  description:
    'Copies the store consistently while the gateway runs, with the keys and certificates beside it. ' +
    'The archive is a tar file, compressed by gzip, with mode 0600. PostgreSQL needs `pg_dump`.',
  arguments: { archive: { description: 'archive to write', completes: 'file' }, file: configFile },
  options: {
    recordings: { description: 'include the recordings' },
    json: { description: 'print the result as JSON' },
  },
  examples: [
    { line: 'backup backup.tar.gz', effect: 'writes an archive without recordings' },
    {
      line: 'backup --recordings /backup/trunkline.tar.gz /etc/trunkline.yaml',
      effect: 'writes one with them',
    },
  ],
  exitCodes: {
    0: 'the archive is written and checked',
    1: 'the archive exists, or could not be written',
    2: invalidCode,
  },
  run: ({ archive, file, ...options }) =>
    withConfig(file, async (config) =>
      (await import('../backup/backup-command.ts')).createBackup(config, archive, options),
    ),
})

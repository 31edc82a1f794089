import { configFile, defineCommand, invalidCode, jsonOption } from '../command.ts'

/** `trunkline reload`. */
export const reload = defineCommand({
  name: 'reload',
  group: 'Act',
  summary: 'apply a changed configuration to the running gateway',
  description:
    'Makes the gateway of this data folder read the file again, and prints the changes. ' +
    'Calls in progress go on.',
  arguments: { file: configFile },
  options: {
    dryRun: { description: 'print what would change, and change nothing' },
    json: jsonOption,
  },
  examples: [
    { line: 'reload --dry-run', effect: 'shows what would change' },
    { line: 'reload trunkline.yaml', effect: 'applies the changes' },
  ],
  exitCodes: {
    0: 'the configuration is applied, or nothing has changed',
    1: 'the gateway could not apply the configuration',
    2: invalidCode,
    3: 'some changes need a restart',
    4: 'no gateway runs with this data folder',
  },
  run: async ({ file, dryRun, json }) =>
    (await import('../reload-command.ts')).reloadGateway(file, { dryRun, json }),
})

import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline calls`. */
export const calls = defineCommand({
  name: 'calls',
  group: 'Look',
  summary: 'print the calls in progress',
  description:
    'Prints the calls in progress of all projects, the oldest first. The first word of a line names the ' +
    'call for `trunkline hangup` and `trunkline trace`.',
  arguments: { file: configFile },
  options: { json: jsonOption },
  examples: [
    { line: 'calls', effect: 'prints a table' },
    { line: 'calls --json', effect: 'prints whole ids and times' },
  ],
  exitCodes: {
    0: 'the calls are printed',
    1: 'the gateway could not answer',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder',
  },
  run: async ({ file, json }) => (await import('../status-command.ts')).printCalls(file, json),
})

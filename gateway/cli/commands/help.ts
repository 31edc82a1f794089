import { defineCommand } from '../command.ts'

/** `trunkline help`. */
export const help = defineCommand({
  name: 'help',
  group: 'Shell',
  summary: 'print the help of a command',
  arguments: { command: { description: 'name of a command', optional: true, completes: 'command' } },
  options: {},
  examples: [{ line: 'help check', effect: 'prints the same as `trunkline check --help`' }],
  exitCodes: { 0: 'the help is printed', 2: 'the command is unknown' },
  run: async ({ command }, { printHelp }) => {
    await printHelp(command)
    return 0
  },
})

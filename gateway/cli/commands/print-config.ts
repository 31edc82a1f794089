import { configFile, defineCommand, invalidCode, jsonOption } from '../command.ts'
import { printingFaults } from '../with-config.ts'

/** `trunkline print-config`. */
export const printConfig = defineCommand({
  name: 'print-config',
  group: 'Look',
  summary: 'print every value in effect, and its origin',
  description:
    'Prints one key in a line: its value, and whether the file, a variable of the environment or a default ' +
    'sets it. Secrets and documents are not shown.',
  arguments: { file: configFile },
  options: {
    noDefaults: { description: 'print only values of the file and the environment' },
    json: jsonOption,
  },
  examples: [
    { line: 'print-config | grep sip.listen', effect: 'finds the ports of SIP' },
    {
      line: 'print-config --no-defaults --json trunkline.yaml',
      effect: 'prints the own values for a program',
    },
  ],
  exitCodes: { 0: 'the values are printed', 2: invalidCode },
  run: ({ file, ...options }) =>
    printingFaults(async () => (await import('../print-config-command.ts')).printConfig(file, options)),
})

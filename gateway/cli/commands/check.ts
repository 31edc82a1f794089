import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline check`. */
export const check = defineCommand({
  name: 'check',
  group: 'Start',
  summary: 'check a configuration, and print its faults and warnings',
  description:
    'Reads the configuration as `run` does, with its environment variables and its documents. ' +
    'It starts nothing.',
  arguments: { file: configFile },
  options: { json: jsonOption },
  examples: [
    { line: 'check trunkline.yaml', effect: 'prints each fault with its line, its column and a hint' },
    { line: 'check --json trunkline.yaml', effect: 'prints the faults for a program' },
  ],
  exitCodes: { 0: 'the configuration is valid', 2: 'the configuration or a document of it is invalid' },
  run: async ({ file, json }) => (await import('../check-command.ts')).checkConfig(file, { json }),
})

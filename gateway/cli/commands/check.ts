import { configFile, defineCommand } from '../command.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline check`. */
export const check = defineCommand({
  name: 'check',
  group: 'Start',
  summary: 'check a configuration, and print its faults and warnings',
  description:
    'Reads the configuration as `run` does, with its environment variables and its documents. ' +
    'It starts nothing.',
  arguments: { file: configFile },
  options: {},
  examples: [{ line: 'check trunkline.yaml', effect: 'prints each fault with its line and column' }],
  exitCodes: { 0: 'the configuration is valid', 2: 'the configuration or a document of it is invalid' },
  run: ({ file }) =>
    withConfig(file, async (config) => (await import('../check-command.ts')).checkConfig(file, config)),
})

import { configFile, defineCommand, jsonOption } from '../command.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline signing-key`. */
export const signingKey = defineCommand({
  name: 'signing-key',
  group: 'Keys',
  summary: "print the keys that sign requests to customers' servers",
  description: 'Prints one key in a line, the present one first. Customers check signatures with them.',
  arguments: { file: configFile },
  options: {
    project: { value: 'id', description: 'project of the configuration; default: the first one' },
    json: jsonOption,
  },
  examples: [{ line: 'signing-key --project demo', effect: 'prints the keys of a project' }],
  exitCodes: { 0: 'the keys are printed', 2: 'the project is unknown, or the configuration is invalid' },
  run: ({ file, project, json }) =>
    withConfig(file, async (config) =>
      (await import('../signing-key-command.ts')).printSigningKeys(config, project, { json }),
    ),
})

import { configFile, defineCommand, invalidCode, jsonOption } from '../command.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline token`. */
export const token = defineCommand({
  name: 'token',
  group: 'Keys',
  summary: 'print an access token of a subscriber, valid for a day',
  arguments: { subscriber: { description: 'e-mail address, or `/context/name`' }, file: configFile },
  options: { json: jsonOption },
  examples: [{ line: 'token alice@demo.localhost', effect: 'prints a token for tests of a web page' }],
  exitCodes: { 0: 'the token is printed', 1: 'no subscriber has this name', 2: invalidCode },
  run: ({ subscriber, file, json }) =>
    withConfig(file, async (config) =>
      (await import('../token-command.ts')).issueToken(config, subscriber, { json }),
    ),
})

import { defineCommand, jsonOption } from '../command.ts'

/** `trunkline push-keys`. */
export const pushKeys = defineCommand({
  name: 'push-keys',
  group: 'Keys',
  summary: 'create keys for Web Push, and print them as configuration',
  arguments: {},
  options: { json: jsonOption },
  examples: [{ line: 'push-keys >> trunkline.yaml', effect: 'adds the keys to a file without `push`' }],
  exitCodes: { 0: 'the keys are printed', 2: 'the arguments are invalid' },
  run: async ({ json }) => (await import('../push-keys-command.ts')).printPushKeys({ json }),
})

import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline refusals`. */
export const refusals = defineCommand({
  name: 'refusals',
  group: 'Look',
  summary: 'print the latest SIP requests that the gateway rejected',
  description:
    'Prints requests that never became a call, the latest first: time, source, status, code and the facts ' +
    'that were checked. The code sip_agent marks rejections by the SIP agent itself, for example of a ' +
    'malformed request. The gateway keeps 20 of each kind for each source, and 500 of all.',
  arguments: { file: configFile },
  options: { json: jsonOption },
  examples: [{ line: 'refusals', effect: 'prints a table' }],
  exitCodes: {
    0: 'the rejections are printed',
    1: 'the gateway could not answer',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder',
  },
  run: async ({ file, json }) => (await import('../status-command.ts')).printRefusals(file, json),
})

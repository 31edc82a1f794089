import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline hangup`. */
export const hangup = defineCommand({
  name: 'hangup',
  group: 'Act',
  summary: 'end a call in progress',
  description: 'Ends a call of any project, or one branch of it. `trunkline calls` prints the ids.',
  arguments: {
    call: { description: 'id of the call, or at least its first four characters' },
    file: configFile,
  },
  options: {
    reason: {
      value: 'reason',
      description: 'reason for the caller of an unanswered call',
      choices: ['normal', 'busy', 'declined', 'unavailable'],
      default: 'normal',
    },
    json: jsonOption,
  },
  examples: [
    { line: 'hangup d8526ce3', effect: 'ends the call' },
    { line: 'hangup d8526ce3 --reason busy', effect: 'rejects a ringing call as busy' },
  ],
  exitCodes: {
    0: 'the call is hung up',
    1: 'no call in progress has this id',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder',
  },
  run: async ({ call, file, reason, json }) =>
    (await import('../act-command.ts')).hangUpCall(file, call, { reason, json }),
})

import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline status`. */
export const status = defineCommand({
  name: 'status',
  group: 'Look',
  summary: 'print the state of the running gateway',
  description:
    'Prints calls, carriers, listeners, phones, browsers, store and certificates of the running gateway. ' +
    'A carrier is unknown until its first ping is answered, or if it has no probe.',
  arguments: { file: configFile },
  options: { json: jsonOption },
  examples: [
    { line: 'status', effect: 'prints the state' },
    { line: 'status --json /etc/trunkline/trunkline.yaml', effect: 'prints it for a program' },
  ],
  exitCodes: {
    0: 'the gateway is healthy',
    1: 'the gateway is degraded: the output has the problems',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder',
  },
  run: async ({ file, json }) => (await import('../status-command.ts')).printStatus(file, json),
})

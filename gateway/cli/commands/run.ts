import { resolve } from 'node:path'
import { configFile, defineCommand, invalidCode } from '../command.ts'
import { printingFaults } from '../with-config.ts'

/** `trunkline run`. */
export const run = defineCommand({
  name: 'run',
  group: 'Start',
  summary: 'start the gateway',
  description:
    'Runs the gateway until SIGTERM or SIGINT. Calls in progress then have the configured grace period. ' +
    'A second signal ends this period, and a third one ends the process. SIGHUP reloads the configuration. ' +
    'A fault in a document ends only the calls that reach it, so the gateway starts and logs the fault. ' +
    '`trunkline check` reports it as an error.',
  arguments: { file: configFile },
  options: {},
  examples: [
    { line: 'run trunkline.yaml', effect: 'starts the gateway' },
    { line: 'run /etc/trunkline/trunkline.yaml', effect: 'starts it with a file elsewhere' },
  ],
  exitCodes: {
    0: 'the gateway ended after a signal',
    1: 'the gateway could not start, or lost a component that it needs',
    2: invalidCode,
  },
  run: ({ file }, { reloading }) =>
    printingFaults(async () => (await import('../run-command.ts')).runGateway(resolve(file), reloading)),
})

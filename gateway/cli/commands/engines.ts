import { defineCommand } from '../command.ts'
import { hostAndPort } from '../parsers.ts'

/** `trunkline engines`. */
export const engines = defineCommand({
  name: 'engines',
  group: 'Start',
  summary: 'start stand-ins of the engines of voice agents',
  description:
    'Serves the protocols of language models, recognisers, voices and speech-to-speech engines, ' +
    'on one port and by a script. There is no model and no recogniser behind them, so they need ' +
    'no account and no network. ' +
    'Without a script, a friendly assistant answers. The stand-ins end on SIGTERM or SIGINT.',
  arguments: {},
  options: {
    listen: {
      description: 'address of the port',
      value: 'host:port',
      default: '127.0.0.1:8089',
      parse: hostAndPort,
    },
    script: { description: 'script of the answers, in YAML or JSON', value: 'file', completes: 'file' },
  },
  examples: [
    { line: 'engines', effect: 'starts the assistant for a first call' },
    { line: 'engines --script faults.yaml', effect: 'answers by a script of your own' },
  ],
  exitCodes: {
    0: 'the stand-ins ended after a signal',
    1: 'the port cannot be opened',
    2: 'the arguments or the script are invalid',
  },
  run: async (values) => (await import('../engines-command.ts')).runEngines(values),
})

import { configFile, defineCommand } from '../command.ts'

/** `trunkline init`. */
export const init = defineCommand({
  name: 'init',
  group: 'Start',
  summary: 'write a first configuration for this machine',
  description:
    'Asks for the few values that a gateway needs, and writes a small commented file with mode 0600. A ' +
    'file that is replaced keeps its owner, group and mode, without access for others. The command ' +
    'generates a password and an API token, and shows them once.',
  arguments: { file: { ...configFile, description: 'file to write' } },
  options: {
    host: {
      value: 'address',
      description: 'IP address of this machine for phones, carriers and browsers; default: found',
    },
    domain: {
      value: 'name',
      description: 'host that callers dial, `sip:anyone@NAME`; default: the address of this machine',
    },
    carrier: {
      value: 'network',
      description: 'network from which a carrier sends calls, such as 203.0.113.0/24',
      repeats: true,
    },
    email: { value: 'address', description: 'e-mail address of the first person who signs in' },
    apiTokenVariable: {
      value: 'name',
      description: 'environment variable with the API token; default: a generated token in the file',
    },
    dataDir: {
      value: 'folder',
      description:
        'folder for the store and keys; default: `./data` beside the file, and `/var/lib/trunkline` for a ' +
        'file in `/etc/trunkline`',
    },
    yes: { description: 'ask nothing: use the options and the defaults' },
    force: { description: 'replace the file if it exists' },
    json: { description: 'print the result as JSON; implies `--yes`' },
  },
  examples: [
    { line: 'init', effect: 'asks, and writes trunkline.yaml' },
    {
      line: 'init --yes --domain voice.example --carrier 203.0.113.0/24 gateway.yaml',
      effect: 'asks nothing',
    },
  ],
  exitCodes: {
    0: 'the file is written',
    1: 'the file exists, or could not be written',
    2: 'an argument is invalid, or there is no terminal to ask',
  },
  run: async ({ file, ...options }) =>
    (await import('../init/init-command.ts')).writeFirstConfig(file, options),
})

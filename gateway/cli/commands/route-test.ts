import { configFile, defineCommand, invalidCode, jsonOption } from '../command.ts'
import { ipAddress } from '../parsers.ts'
import { withConfig } from '../with-config.ts'

/** `trunkline route-test`. */
export const routeTest = defineCommand({
  name: 'route-test',
  group: 'Look',
  summary: 'print how the gateway would answer a SIP request, and why',
  description:
    'Carries out each check of a call without making one. Prints the deciding facts and the next steps. ' +
    'Objects of the REST API count: the command reads the store, and asks a running gateway who is online.',
  arguments: { requestUri: { description: 'SIP or tel URI in the request line' }, file: configFile },
  options: {
    source: {
      value: 'address',
      description: 'IP address that the request comes from',
      required: true,
      parse: ipAddress,
    },
    transport: {
      value: 'name',
      description: 'transport of the request',
      choices: ['udp', 'tcp', 'tls', 'ws', 'wss'],
      default: 'udp',
    },
    method: { value: 'name', description: 'method of the request', default: 'INVITE' },
    user: { value: 'name', description: 'user name of a caller who signs in with the right password' },
    userAgent: { value: 'text', description: 'User-Agent of the request' },
    fileOnly: { description: 'test the file alone, without the store' },
    fetch: { description: 'fetch the document of the call, with the call id `route-test`' },
    json: jsonOption,
  },
  examples: [
    {
      line: 'route-test --source 192.0.2.1 sip:+4930123@voice.example',
      effect: 'tests a call from the carrier with this address',
    },
    {
      line: 'route-test --source ::1 --transport tls --json sip:ann@voice.example trunkline.yaml',
      effect: 'prints the result for a program',
    },
  ],
  exitCodes: {
    0: 'the call would be admitted',
    1: 'the call would be refused',
    2: invalidCode,
  },
  run: ({ requestUri: uri, file, method, json, fileOnly, fetch, ...query }) =>
    withConfig(file, async (config) =>
      (await import('../route-test-command.ts')).routeTest(
        config,
        { ...query, method: method.toUpperCase(), uri },
        { json, fileOnly, fetch },
      ),
    ),
})

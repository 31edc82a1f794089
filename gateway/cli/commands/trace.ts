import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline trace`. */
export const trace = defineCommand({
  name: 'trace',
  group: 'Look',
  summary: 'print the SIP messages of a call',
  description:
    'Prints the ladder and the messages of a call in progress or recently ended. The embedded SIP agent ' +
    'keeps the latest messages in memory (`sip.trace`), without passwords, keys and digits. Times are UTC.',
  arguments: {
    call: { description: 'id of the call, at least its first four characters, or a SIP Call-ID' },
    file: configFile,
  },
  options: {
    ladder: { description: 'print the ladder only' },
    pcap: {
      value: 'file',
      description: 'write a packet capture, for example for Wireshark, and print nothing',
      completes: 'file',
    },
    json: jsonOption,
  },
  examples: [
    { line: 'trace d8526ce3', effect: 'prints the messages of a call' },
    { line: 'trace d8526ce3 --pcap call.pcap', effect: 'writes them to a file' },
  ],
  exitCodes: {
    0: 'the messages are printed',
    1: 'no such call is in memory, or the SIP agent is a drachtio-server',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder',
  },
  run: async ({ call, file, ladder, pcap, json }) =>
    (await import('../trace-command.ts')).traceGatewayCall(file, call, { ladder, pcap, json }),
})

import { configFile, defineCommand, jsonOption } from '../command.ts'

/** `trunkline calls`. */
export const calls = defineCommand({
  name: 'calls',
  group: 'Look',
  summary: 'print the calls in progress',
  description:
    'Prints the calls in progress of all projects, the oldest first. The first word of a line names the ' +
    'call for `trunkline hangup` and `trunkline trace`. With `--follow`, prints a line when a call starts, ' +
    'is answered and ends, until Ctrl+C; with `--json` one object per line.',
  arguments: { file: configFile },
  options: {
    follow: { description: 'print each change, within a second' },
    json: jsonOption,
  },
  examples: [
    { line: 'calls', effect: 'prints a table' },
    { line: 'calls --json', effect: 'prints whole ids and times' },
    { line: 'calls --follow', effect: 'prints the calls as they come and go' },
  ],
  exitCodes: {
    0: 'the calls are printed, or Ctrl+C ended `--follow`',
    1: 'the gateway could not answer',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder, or it has stopped',
  },
  run: async ({ file, follow, json }) => {
    if (!follow) return (await import('../status-command.ts')).printCalls(file, json)
    const stopping = new AbortController()
    process.once('SIGINT', () => stopping.abort())
    const { SystemClock } = await import('../../core/clock.ts')
    const { followCalls } = await import('../follow-command.ts')
    return followCalls(file, { json, clock: new SystemClock(), stopping: stopping.signal })
  },
})

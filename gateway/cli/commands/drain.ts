import { InvalidArgumentError } from 'commander'
import { configFile, defineCommand, jsonOption } from '../command.ts'

/** Reads a duration such as `500ms`, `30s`, `5m` or `4h`. Returns ms. */
const graceTime = (text: string): number => {
  const [, number, unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? []
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit]
  if (factor === undefined) throw new InvalidArgumentError('It must be a duration such as 30s, 5m or 4h.')
  return Number(number) * factor
}

/** `trunkline drain`. */
export const drain = defineCommand({
  name: 'drain',
  group: 'Act',
  summary: 'let the calls in progress end, and stop the gateway',
  description:
    'The gateway rejects new calls, and stops after its last call. Prints the number of calls whenever it ' +
    'changes, with `--json` one object per line. Returns after the process of the gateway has ended.',
  arguments: { file: configFile },
  options: {
    timeout: {
      value: 'time',
      description: 'time after which the remaining calls are hung up; default: drain of the configuration',
      parse: graceTime,
    },
    json: jsonOption,
  },
  examples: [
    { line: 'drain', effect: 'waits as long as the configuration says' },
    { line: 'drain --timeout 2h', effect: 'gives calls two hours' },
  ],
  exitCodes: {
    0: 'the gateway has no calls any more and has stopped',
    1: 'the gateway could not drain, or was started again',
    2: 'the arguments are invalid, or the file has no readable dataDir',
    3: 'no gateway runs with this data folder',
  },
  run: async ({ file, timeout, json }) => {
    const { SystemClock } = await import('../../core/clock.ts')
    const { drainGateway } = await import('../act-command.ts')
    return drainGateway(file, { graceMs: timeout, json }, new SystemClock())
  },
})

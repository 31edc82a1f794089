import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { CallControl } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import { CallDetector } from './call-detector.ts'

/** Verbs that a key ends; the key is then used up. */
const others: readonly (readonly [name: string, verb: (call: CallControl) => Promise<unknown>])[] = [
  ['a detection', (call) => call.detect({ digits: '4' })],
  ['a conference', (call) => call.joinConference({ name: 'a' })],
  ['a queue', (call) => call.enterQueue({ name: 'a' })],
  ['a recording', (call) => call.record({ terminators: '4' })],
]

const fixture = () => {
  const key = (control: CallControl) => new Promise<string>((resolve) => void control.onDigit(resolve))
  const log = pino({ level: 'silent' })
  return setUp({
    detector: new CallDetector({ clock: new FakeClock(), log, metrics: new Metrics() }),
    conferences: {
      join: async (_call, control) => {
        await key(control)
        return { kind: 'left', conferenceId: 'c', durationMs: 1 }
      },
    },
    queues: {
      enter: async (_call, control) => {
        await key(control)
        return { kind: 'left', queueId: 'q', waitedMs: 1, position: 1, size: 1 }
      },
      take: async () => undefined,
    },
  })
}

it.each(others)('the keys during %s do not count for the next collection', async (_name, verb) => {
  const t = fixture()
  const { call, leg } = await t.wait()
  const over = verb(call)
  await settle()
  leg.digit('1')
  leg.digit('4')
  await over
  const next = call.collect({ initialTimeoutMs: 10 })
  await settle()
  t.clock.advance(10)
  expect(await next).toEqual({ reason: 'no-input', digits: '' })
})

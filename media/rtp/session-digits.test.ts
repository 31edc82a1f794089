import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TestTime } from './testing/session-line.ts'

/** Fate of one packet. */
const fate = fc.record({ lost: fc.integer({ min: 0, max: 99 }), twice: fc.boolean() })
const press = fc.record({
  code: fc.integer({ min: 0, max: 15 }),
  /** Duration in packets of 20 ms. */
  length: fc.integer({ min: 2, max: 60 }),
  gap: fc.integer({ min: 3, max: 40 }),
  /** Packet that arrives in any case. */
  sure: fc.nat(),
  /** Packet after which a re-INVITE changes the payload type of events; past the end: never. */
  change: fc.integer({ min: 0, max: 120 }),
  fates: fc.array(fate, { minLength: 64, maxLength: 64 }),
})

describe('incoming digits', () => {
  it('are reported once each, with any loss, concurrent audio and changing payload types', () => {
    const scenario = fc.record({
      presses: fc.array(press, { minLength: 1, maxLength: 5 }),
      lossPercent: fc.constantFrom(0, 20, 60, 95),
      /** Some senders continue audio during an event. */
      audio: fc.boolean(),
    })
    fc.assert(
      fc.property(scenario, ({ presses, lossPercent, audio }) => {
        const time = new TestTime()
        const line = time.line('192.0.2.1')
        let payloadType = 101
        const set = () => line.set({ telephoneEvent: payloadType }, { telephoneEvent: payloadType })
        set()
        let clock = 4000
        const pass = (steps: number) => {
          for (let i = 0; i < steps; i++) {
            line.hear(undefined, { timestamp: clock })
            time.pass(20)
            clock += 160
          }
        }
        pass(5)
        for (const { code, length, gap, sure, change, fates } of presses) {
          const start = clock
          const packets = length + 2
          for (let i = 0; i < packets; i++) {
            if (i === change) {
              payloadType = payloadType === 101 ? 126 : 101
              set()
            }
            const duration = Math.min(i + 1, length) * 160
            const { lost, twice } = fates[i % fates.length]!
            if (audio) line.hear(undefined, { timestamp: clock })
            if (i === sure % packets || lost >= lossPercent)
              for (let n = twice ? 2 : 1; n > 0; n--)
                line.hearEvent(code, start, duration, i >= length - 1, payloadType)
            else line.next.sequence = (line.next.sequence + 1) & 0xffff
            time.pass(20)
            clock += 160
          }
          pass(gap)
        }
        time.pass(400)
        const digits = line.events.flatMap((event) => (event.kind === 'digit' ? [event.digit] : []))
        expect(digits.join('')).toBe(presses.map(({ code }) => '0123456789*#ABCD'[code]).join(''))
        expect(line.session.stats().refused).toMatchObject({ 'payload-type': 0, malformed: 0 })
      }),
      { numRuns: 60 },
    )
  })

  it('are reported once if events are a separate source beside the audio', () => {
    const time = new TestTime()
    const line = time.line('192.0.2.1')
    line.set()
    const audio = { ssrc: 0xb0b }
    line.hear(undefined, audio)
    for (let i = 1; i <= 9; i++) {
      line.hearEvent(5, 8000, Math.min(i, 7) * 160, i >= 7)
      line.hear(undefined, audio)
      time.pass(20)
    }
    time.pass(400)
    expect(line.events.filter(({ kind }) => kind === 'digit')).toEqual([
      { kind: 'digit', digit: '5', durationMs: 140, by: 'event' },
    ])
  })

  it('are complete with packets that keep the old payload type after a rejected re-INVITE', () => {
    const time = new TestTime()
    const line = time.line('192.0.2.1')
    line.set()
    line.hearEvent(5, 8000, 400, false, 101)
    line.set({ telephoneEvent: 126 }, { telephoneEvent: 126 })
    line.hearEvent(5, 8000, 800, true, 101)
    time.pass(400)
    expect(line.events.filter(({ kind }) => kind === 'digit')).toEqual([
      { kind: 'digit', digit: '5', durationMs: 50, by: 'event' },
    ])
    expect(line.session.stats().refused['payload-type']).toBe(1)
  })
})

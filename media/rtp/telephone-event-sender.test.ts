import { describe, expect, it } from 'vitest'
import { isDigits, TelephoneEventSender } from './telephone-event-sender.ts'

/** Runs `ms` in ticks, and returns the sent packets. */
function run(
  events: TelephoneEventSender,
  ms: number,
  step = 10,
): { at: number; code: number; end: boolean; ms: number; first: boolean }[] {
  const sent: ReturnType<typeof run> = []
  for (let at = 0; at <= ms; at += step) {
    events.tick(at, ({ payload, isFirst: first }) =>
      sent.push({
        at,
        code: payload[0]!,
        end: payload[1]! >= 0x80,
        ms: payload.readUInt16BE(2) / 8,
        first,
      }),
    )
  }
  return sent
}

describe('outgoing telephone-events', () => {
  it('are two updates and three ends, 50 ms apart', () => {
    const events = new TelephoneEventSender()
    const done: boolean[] = []
    events.add('5', (sent) => done.push(sent))
    expect(run(events, 500)).toEqual([
      { at: 0, code: 5, end: false, ms: 20, first: true },
      { at: 50, code: 5, end: false, ms: 50, first: false },
      { at: 100, code: 5, end: true, ms: 100, first: false },
      { at: 150, code: 5, end: true, ms: 100, first: false },
      { at: 200, code: 5, end: true, ms: 100, first: false },
    ])
    expect(done).toEqual([true])
    expect(events.isBusy).toBe(false)
  })

  it('send every digit of a string, in order, with pauses', () => {
    const events = new TelephoneEventSender()
    events.add('1*aW#w0', () => {})
    const starts = run(events, 5000).filter(({ first }) => first)
    expect(starts.map(({ code, at }) => [code, at])).toEqual([
      [1, 0],
      [10, 200],
      [12, 400],
      [11, 1600],
      [0, 2300],
    ])
  })

  it('queue strings, and report each when sent', () => {
    const events = new TelephoneEventSender()
    const done: string[] = []
    events.add('1', () => done.push('first'))
    events.add('2', () => done.push('second'))
    run(events, 200)
    expect(done).toEqual(['first'])
    run(events, 600)
    expect(done).toEqual(['first', 'second'])
  })

  it('lose nothing when ticks are late', () => {
    const events = new TelephoneEventSender()
    events.add('12', () => {})
    const sent = run(events, 900, 130)
    expect(sent.map(({ code }) => code)).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2])
  })

  it('are cancelled at once, and report that', () => {
    const events = new TelephoneEventSender()
    const done: boolean[] = []
    events.add('123', (sent) => done.push(sent))
    events.add('4', (sent) => done.push(sent))
    run(events, 60)
    expect(events.isKeyDown).toBe(true)
    events.clear()
    expect([done, events.isBusy, events.isKeyDown]).toEqual([[false, false], false, false])
  })

  it('permit audio in a pause', () => {
    const events = new TelephoneEventSender()
    events.add('w1', () => {})
    run(events, 100)
    expect([events.isBusy, events.isKeyDown]).toEqual([true, false])
  })

  it('validate digits', () => {
    expect(['0123456789*#ABCDabcdwW', '', '5x', ' 1', '1,2'].map(isDigits)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

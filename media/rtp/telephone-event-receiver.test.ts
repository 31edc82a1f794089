import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { TelephoneEventReceiver } from './telephone-event-receiver.ts'

interface Sent {
  readonly code: number
  readonly stamp: number
  readonly duration: number
  readonly end?: boolean
  readonly at: number
}

/** Packets of one key press: updates every 50 ms, then three ends. */
function press(code: number, stamp: number, ms = 150, at = stamp / 8): Sent[] {
  const updates = Array.from({ length: ms / 50 - 1 }, (_, i) => ({
    code,
    stamp,
    duration: (i + 1) * 400,
    at: at + (i + 1) * 50,
  }))
  return [
    ...updates,
    ...[0, 1, 2].map((i) => ({ code, stamp, duration: ms * 8, end: true, at: at + ms + i * 50 })),
  ]
}

describe('incoming telephone-events', () => {
  let heard: string[]
  let events: TelephoneEventReceiver

  beforeEach(() => {
    heard = []
    events = new TelephoneEventReceiver((digit, durationMs) => heard.push(`${digit}:${durationMs}`))
  })

  const receive = (packets: readonly Sent[]) => {
    for (const { code, stamp, duration, end, at } of packets) {
      events.tick(at)
      const payload = Buffer.of(code, end ? 0x8a : 0x0a, duration >> 8, duration & 0xff)
      expect(events.receive(at, 7, stamp >>> 0, payload, 0, 4)).toBe(true)
    }
  }

  it('report each key press once, with its duration', () => {
    receive([...press(1, 8000), ...press(11, 16_000), ...press(15, 24_000)])
    expect(heard).toEqual(['1:150', '#:150', 'D:150'])
  })

  it('report the same key twice when it was pressed twice', () => {
    receive([...press(5, 8000), ...press(5, 12_000)])
    expect(heard).toEqual(['5:150', '5:150'])
  })

  const whole = press(7, 8000, 200)
  const subsets = Array.from({ length: 2 ** whole.length - 1 }, (_, i) =>
    whole.filter((_, bit) => ((i + 1) >> bit) & 1),
  )

  it('report one digit with any loss, as long as one packet arrives', () => {
    expect(subsets).toHaveLength(63)
    for (const subset of subsets) {
      heard = []
      events = new TelephoneEventReceiver((digit) => heard.push(digit))
      receive(subset)
      events.tick(whole.at(-1)!.at + 1000)
      expect(heard).toEqual(['7'])
    }
  })

  it('report one digit in any order and with any duplicates', () => {
    for (const order of [
      [...whole].reverse(),
      [...whole, ...whole],
      [whole[3]!, whole[0]!, whole[4]!, whole[1]!],
    ]) {
      heard = []
      events = new TelephoneEventReceiver((digit) => heard.push(digit))
      receive(order.map((packet) => ({ ...packet, at: 2000 })))
      events.tick(3000)
      expect(heard).toEqual(['7'])
    }
  })

  it('are complete without an end after a time without packets, and with the next digit', () => {
    const open = press(3, 8000).filter(({ end }) => !end)
    receive(open)
    events.tick(open.at(-1)!.at + 199)
    expect(heard).toEqual([])
    events.tick(open.at(-1)!.at + 200)
    expect(heard).toEqual(['3:100'])
    receive([...press(4, 16_000).filter(({ end }) => !end), ...press(6, 16_900)])
    expect(heard).toEqual(['3:100', '4:100', '6:150'])
  })

  it('are one digit if a long press comes in segments', () => {
    const updates = (stamp: number, from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        code: 9,
        stamp,
        duration: (i + 1) * 400,
        at: from + (i + 1) * 50,
      }))
    const first = [...updates(1000, 0, 163), { code: 9, stamp: 1000, duration: 0xffff, at: 8192 }]
    const second = updates(1000 + 0xffff, 8192, 20)
    const end = { code: 9, stamp: 1000 + 0xffff, duration: 8080, end: true, at: 9202 }
    receive([...first, ...second, end, end, end])
    expect(heard).toEqual([`9:${Math.round((0xffff + 8080) / 8)}`])
  })

  it('join segments also if the last packet of the first one was lost', () => {
    receive([
      { code: 9, stamp: 0, duration: 65_200, at: 8150 },
      { code: 9, stamp: 0xffff, duration: 400, at: 8242 },
      { code: 9, stamp: 0xffff, duration: 800, end: true, at: 8292 },
    ])
    expect(heard).toEqual([`9:${Math.round((0xffff + 800) / 8)}`])
  })

  it('continue over the wrap of the timestamp', () => {
    receive([...press(1, 0xffffff00, 150, 0), ...press(2, 0xffffff00 + 3200, 150, 400)])
    expect(heard).toEqual(['1:150', '2:150'])
  })

  it('are accepted from another source with unrelated timestamps', () => {
    const send = (ssrc: number, code: number, stamp: number, duration: number, end = false) =>
      events.receive(0, ssrc, stamp, Buffer.of(code, end ? 0x8a : 0x0a, duration >> 8, duration & 0xff), 0, 4)
    send(7, 1, 400_000, 800)
    send(7, 1, 400_000, 1200, true)
    // The same numbers, and others that would be late.
    for (const code of [1, 2]) for (const end of [false, true]) send(code + 7, code, 400_000, 1200, end)
    expect(heard).toEqual(['1:150', '1:150', '2:150'])
  })

  it('ignore a late packet of a reported digit', () => {
    receive(press(1, 8000))
    receive([{ code: 1, stamp: 8000, duration: 400, at: 1400 }])
    events.tick(9999)
    expect(heard).toEqual(['1:150'])
  })

  it('are one digit if whole segments of a long press are lost, also after it was reported', () => {
    const at = (segment: number, duration: number, end = false) => ({
      code: 9,
      stamp: segment * 0xffff,
      duration,
      end,
      at: segment * 8192 + duration / 8,
    })
    receive([at(0, 400), at(2, 800), at(2, 1200, true)])
    events.tick(99_999)
    expect(heard).toEqual(['9:50'])
    heard = []
    events = new TelephoneEventReceiver((digit, durationMs) => heard.push(`${digit}:${durationMs}`))
    receive([
      { ...at(0, 65_000), at: 0 },
      { ...at(2, 800), at: 1 },
      { ...at(0, 65_400), at: 2 },
    ])
    receive([{ ...at(2, 1200, true), at: 3 }])
    expect(heard).toEqual([`9:${Math.round((2 * 0xffff + 1200) / 8)}`])
  })

  it('use the clock of their payload type', () => {
    expect(events.receive(0, 7, 96_000, Buffer.of(5, 0x8a, 0x25, 0x80), 0, 4, 48_000)).toBe(true)
    expect(heard).toEqual(['5:200'])
  })

  it('ignore flash and tones, and reject short payloads', () => {
    receive(press(16, 8000))
    expect(events.receive(0, 7, 1, Buffer.of(1, 2, 3), 0, 3)).toBe(false)
    events.tick(9999)
    expect(heard).toEqual([])
  })
})

describe('arbitrary presses with any loss that leaves a packet of each', () => {
  const rates = [8000, 16_000, 48_000] as const
  const press = fc.record({
    code: fc.integer({ min: 0, max: 15 }),
    /** In steps of 20 ms: 40 ms to 30 s. */
    steps: fc.integer({ min: 2, max: 1500 }),
    gap: fc.integer({ min: 2, max: 200 }),
  })
  const luck = fc.infiniteStream(fc.integer({ min: 0, max: 99 }))

  /** Packets of one press (RFC 4733 section 2.5.1): updates every 20 ms, segments, three ends. */
  function packets(code: number, first: number, steps: number, rate: number): Omit<Sent, 'at'>[] {
    const made: Omit<Sent, 'at'>[] = []
    let stamp = first
    let gone = 0
    for (let step = 1; step <= steps; step++) {
      let duration = (step * rate) / 50 - gone
      while (duration > 0xffff) {
        made.push({ code, stamp, duration: 0xffff })
        stamp = (stamp + 0xffff) >>> 0
        gone += 0xffff
        duration -= 0xffff
      }
      made.push({ code, stamp, duration, end: step === steps })
    }
    return [...made, made.at(-1)!, made.at(-1)!]
  }

  it('report each digit once, in order', () => {
    const case_ = fc.record({
      presses: fc.array(press, { minLength: 1, maxLength: 6 }),
      start: fc.integer({ min: 0, max: 0xffffffff }),
      rate: fc.constantFrom(...rates),
      lossPercent: fc.constantFrom(0, 10, 50, 90, 99),
      luck,
      /** Packet of a press that arrives in any case. */
      survivor: fc.double({ min: 0, max: 0.999, noNaN: true }),
    })
    fc.assert(
      fc.property(case_, ({ presses, start, rate, lossPercent, luck: stream, survivor }) => {
        const heard: string[] = []
        const events = new TelephoneEventReceiver((digit) => heard.push(digit))
        let at = 0
        for (const { code, steps, gap } of presses) {
          const all = packets(code, (start + (at * rate) / 1000) >>> 0, steps, rate)
          const sure = Math.floor(survivor * all.length)
          for (const [i, { stamp, duration, end }] of all.entries()) {
            const chance = stream.next().value ?? 0
            if (i !== sure && chance < lossPercent) continue
            const now = at + i * 20
            events.tick(now)
            const payload = Buffer.of(code, end ? 0x8a : 0x0a, duration >> 8, duration & 0xff)
            // Some networks duplicate packets.
            for (let n = chance % 10 === 0 ? 2 : 1; n > 0; n--)
              events.receive(now, 7, stamp, payload, 0, 4, rate)
          }
          at += (steps + gap) * 20
        }
        events.tick(at + 1000)
        expect(heard.join('')).toBe(presses.map(({ code }) => '0123456789*#ABCD'[code]).join(''))
      }),
      { numRuns: 300 },
    )
  })
})

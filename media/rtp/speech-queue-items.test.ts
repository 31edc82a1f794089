import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ItemPosition } from '../types.ts'
import { SpeechQueue } from './speech-queue.ts'

const frame = 160
const peak = 20_000
/** Constant audio, in which a fade is visible as it is. */
const constant = (ms: number) => new Int16Array(ms * 8).fill(peak)
const levels = (samples: ArrayLike<number> | undefined) => Array.from(samples ?? new Int16Array(frame))
/** Reads that many frames; silence for those that are not due. */
const read = (queue: SpeechQueue, frames: number): number[] =>
  Array.from({ length: frames }, () => levels(queue.take(8000))).flat()
/** Samples of half of the amplitude or more. */
const audible = (samples: readonly number[]) => samples.filter((sample) => Math.abs(sample) >= peak / 2)
/** Largest step between neighbours. */
const steps = (samples: readonly number[]) =>
  Math.max(...samples.slice(1).map((sample, i) => Math.abs(sample - samples[i]!)))

describe('items of speech', () => {
  /** Queue whose events are recorded. */
  const withEvents = () => {
    const events: string[] = []
    const queue = new SpeechQueue(8000, (kind, item) => events.push(`${item} ${kind}`))
    return { queue, events }
  }

  it('begin with their first frame, and end with their last one after they were finished', () => {
    const { queue, events } = withEvents()
    queue.write(constant(50), 1)
    queue.write(constant(60), 2)
    queue.finish(1)
    expect(events).toEqual([])
    read(queue, 2)
    expect(events).toEqual(['1 began'])
    read(queue, 1)
    expect(events).toEqual(['1 began', '1 ended', '2 began'])
    read(queue, 5)
    expect(events).toHaveLength(3)
    queue.finish(2)
    queue.finish(3)
    expect(events.slice(3)).toEqual(['2 ended', '3 ended'])
  })

  it('have positions until they end, in order, which a cut returns', () => {
    const { queue, events } = withEvents()
    queue.write(constant(40), 1)
    queue.write(constant(100), 2)
    queue.write(constant(100))
    queue.write(constant(100), 3)
    queue.finish(1)
    queue.finish(3)
    read(queue, 4)
    // The fade of 20 ms counts up to half of the amplitude.
    expect(queue.cut()).toEqual([
      { item: 2, heardMs: 50 },
      { item: 3, heardMs: 0 },
    ])
    const rest = read(queue, 5)
    expect([
      rest.slice(0, frame).every((sample, i) => i === 0 || sample < rest[i - 1]!),
      rest[frame - 1],
    ]).toEqual([true, 0])
    expect(rest.slice(frame).every((sample) => sample === 0)).toBe(true)
    expect(events).toEqual(['1 began', '1 ended', '2 began'])
    expect([queue.queued, queue.cut()]).toEqual([0, []])
  })

  it('are neither heard nor kept waiting while nothing is sent', () => {
    const { queue, events } = withEvents()
    queue.write(constant(100), 1)
    for (let i = 0; i < 3; i++) queue.take(8000, false)
    queue.take(8000)
    expect(queue.cut()).toEqual([{ item: 1, heardMs: 30 }])
    expect(events).toEqual(['1 began'])
  })

  it('start without a delay if they are complete or come faster than real time', () => {
    const { queue } = withEvents()
    queue.write(constant(30), 1)
    queue.finish(1)
    expect(queue.take(8000)).toHaveLength(frame)
    read(queue, 3)
    queue.write(constant(10), 2)
    expect(queue.take(8000)).toBeUndefined()
    queue.write(constant(45), 2)
    expect(queue.take(8000)).toHaveLength(frame)
  })

  it('are forgotten beyond a thousand that were sent but never finished', () => {
    const { queue } = withEvents()
    for (let item = 0; item < 1010; item++) {
      queue.write(constant(20), item)
      read(queue, 3)
    }
    const positions = queue.cut()
    expect([positions.length, positions[0]!.item, positions.at(-1)!.item]).toEqual([1000, 10, 1009])
  })
})

describe('a pause of speech', () => {
  it('falls silent within its fade, waits, and continues where half of the amplitude was lost', () => {
    const queue = new SpeechQueue(8000)
    queue.write(constant(1000), 1)
    read(queue, 5)
    queue.pause(30)
    const fall = read(queue, 4)
    expect([fall[119], fall[239], fall.slice(239).every((sample) => sample === 0)]).toEqual([
      peak / 2,
      0,
      true,
    ])
    expect([queue.isAudible, queue.isWaiting, queue.take(8000)]).toEqual([false, false, undefined])
    queue.write(constant(20), 2)
    queue.resume(20)
    const rise = read(queue, 2)
    expect(audible(rise)).toHaveLength(240)
    expect([steps(fall), steps(rise)].every((step) => step < 130)).toBe(true)
    expect(audible(read(queue, 100))).toHaveLength(8160 - 800 - 120 - 240)
  })

  it('has no sound if nothing is being heard, and then begins without a fade', () => {
    const queue = new SpeechQueue(8000)
    queue.pause()
    queue.write(constant(100), 1)
    expect([read(queue, 3).every((sample) => sample === 0), queue.isSpeaking]).toEqual([true, false])
    queue.resume()
    expect(read(queue, 5)).toEqual([...constant(100)])
  })

  it('that ends during the fade turns back', () => {
    const queue = new SpeechQueue(8000)
    queue.write(constant(1000))
    read(queue, 5)
    queue.pause(60)
    const before = read(queue, 1)
    queue.resume(20)
    expect(audible([...before, ...read(queue, 1)])).toHaveLength(320)
    queue.pause(30)
    const deep = read(queue, 1)
    queue.resume(20)
    const after = read(queue, 3)
    expect([audible([...deep, ...after]).length, steps([...deep, ...after]) < 130]).toEqual([440, true])
  })

  it('and a cut have no fade after other audio was sent in its place', () => {
    const queue = new SpeechQueue(8000)
    queue.write(constant(1000), 1)
    read(queue, 5)
    queue.interrupt()
    expect([queue.cut(), queue.take(8000)]).toEqual([[{ item: 1, heardMs: 100 }], undefined])
    queue.write(constant(1000), 2)
    read(queue, 5)
    queue.interrupt()
    queue.pause()
    expect([queue.isWaiting, queue.take(8000)]).toEqual([false, undefined])
  })

  it('keeps marks back, and ends with a cut but not with a clear', () => {
    const queue = new SpeechQueue(8000)
    let isDone = false
    queue.write(constant(110), 1)
    queue.mark(() => {
      isDone = true
    })
    read(queue, 5)
    queue.pause(30)
    read(queue, 5)
    expect(isDone).toBe(true)
    queue.write(constant(100), 1)
    queue.clear()
    queue.write(constant(100), 2)
    expect(queue.take(8000)).toBeUndefined()
    queue.cut()
    queue.write(constant(100), 3)
    expect(read(queue, 5)).toEqual([...constant(100)])
  })

  it('never clicks, whatever comes in quick succession', () => {
    const act = fc.constantFrom('pause', 'resume', 'take', 'take')
    fc.assert(
      fc.property(fc.array(fc.tuple(act, fc.integer({ min: 5, max: 70 })), { maxLength: 60 }), (acts) => {
        const queue = new SpeechQueue(8000)
        queue.write(constant(2000))
        const heard = read(queue, 1)
        for (const [what, fadeMs] of acts)
          if (what === 'take') heard.push(...read(queue, 1))
          else queue[what](fadeMs)
        expect(steps(heard)).toBeLessThan(peak / 38)
      }),
    )
  })
})

/** Model of a queue: the waiting samples with their items, and the heard samples by item. */
class Model {
  readonly queue: SpeechQueue
  readonly events: string[] = []
  readonly spoken = new Map<number, number>()
  readonly heard = new Map<number, number>()
  waiting: { readonly item: number; readonly sample: number }[] = []
  isPaused = false
  #count = 0
  /** Samples that a cut has dropped, and its answer, until the next frame. */
  #dropped: Model['waiting'] = []
  #cut: readonly ItemPosition[] | undefined

  constructor() {
    this.queue = new SpeechQueue(8000, (kind, item) => this.events.push(`${item} ${kind}`))
  }

  /** Random signs, which a fade does not change, make the samples tell their position. */
  speak(item: number, length: number): void {
    const samples = Int16Array.from({ length }, () =>
      Math.sin((this.#count++) ** 2 * 12.9898) > 0 ? peak : -peak,
    )
    this.queue.write(samples, item)
    for (const sample of samples) this.waiting.push({ item, sample })
    this.spoken.set(item, (this.spoken.get(item) ?? 0) + length)
  }

  cut(): void {
    if (this.#cut) this.take()
    this.#dropped = this.waiting
    this.waiting = []
    this.isPaused = false
    this.#cut = this.queue.cut()
  }

  /** Reads a frame: its audible samples are the next waiting ones, or after a cut the next dropped ones. */
  take(): void {
    const signs = audible(levels(this.queue.take(8000))).map(Math.sign)
    const from = this.#cut && signs.length > 0 && this.#isTail(signs) ? this.#dropped : this.waiting
    const passed = from.splice(0, signs.length)
    expect(passed.map(({ sample }) => Math.sign(sample))).toEqual(signs)
    for (const { item } of passed) this.heard.set(item, (this.heard.get(item) ?? 0) + 1)
    for (const { item, heardMs } of this.#cut ?? []) expect(heardMs * 8).toBe(this.heard.get(item) ?? 0)
    this.#cut = undefined
    this.#dropped = []
    expect(this.queue.queued).toBe(this.waiting.length)
    for (const [item, count] of this.heard) expect(count).toBeLessThanOrEqual(this.spoken.get(item)!)
  }

  #isTail(signs: readonly number[]): boolean {
    return signs.every((sign, i) => sign === Math.sign(this.#dropped[i]?.sample ?? 0))
  }
}

describe('any sequence of commands', () => {
  const fade = fc.integer({ min: 5, max: 70 })
  const speak = fc.record({ op: fc.constant('speak' as const), length: fc.integer({ min: 1, max: 900 }) })
  const others = [
    fc.record({ op: fc.constantFrom('pause' as const, 'resume' as const), fadeMs: fade }),
    fc.record({ op: fc.constantFrom('take' as const, 'finish' as const) }),
    fc.record({ op: fc.constant('take' as const) }),
    fc.record({ op: fc.constant('take' as const) }),
  ]
  const cut = fc.record({ op: fc.constant('cut' as const) })
  type Act = {
    readonly op: 'speak' | 'pause' | 'resume' | 'take' | 'finish' | 'cut'
    readonly length?: number
    readonly fadeMs?: number
  }

  /** Executes the acts; every speech after a finish or a cut is a new item. */
  const run = (acts: readonly Act[]): { readonly model: Model; readonly finished: readonly number[] } => {
    const model = new Model()
    const finished: number[] = []
    let item = 1
    for (const { op, length, fadeMs } of acts) {
      if (op === 'speak') model.speak(item, length!)
      else if (op === 'take') model.take()
      else if (op === 'cut') {
        model.cut()
        item++
      } else if (op === 'finish') {
        if (model.spoken.has(item)) finished.push(item)
        model.queue.finish(item++)
      } else model.queue[op](fadeMs)
    }
    return { model, finished }
  }

  it('sends every sample exactly once at half of its amplitude or more, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(speak, ...others), { maxLength: 80 }), (acts) => {
        const { model, finished } = run(acts)
        model.queue.resume()
        while (model.queue.queued > 0) model.take()
        expect(model.waiting).toEqual([])
        expect(model.heard).toEqual(model.spoken)
        for (const item of finished) expect(model.events).toContain(`${item} ended`)
        const known = (event: string) => model.spoken.has(Number(event.split(' ')[0]))
        const order = model.events.filter(known).map((event) => Number(event.split(' ')[0]))
        expect(order).toEqual(order.toSorted((a, b) => a - b))
      }),
      { numRuns: 300 },
    )
  })

  it('sends nothing of cut speech but one fading frame, and counts that', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(speak, cut, ...others), { maxLength: 80 }), (acts) => {
        const { model } = run(acts)
        model.queue.resume()
        model.take()
        while (model.queue.queued > 0) model.take()
        expect(model.waiting).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})

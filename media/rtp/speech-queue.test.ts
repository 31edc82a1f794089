import { describe, expect, it } from 'vitest'
import { dominant, sine } from '../codecs/tone.ts'
import { SpeechQueue } from './speech-queue.ts'

const ramp = (length: number) => Int16Array.from({ length }, (_, i) => i % 30_000)
/** Reads up to `frames` frames, without undefined ones. */
const take = (queue: SpeechQueue, frames: number, rate: 8000 | 16_000 = 8000): number[] =>
  Array.from({ length: frames }, () => [...(queue.take(rate) ?? [])]).flat()

describe('speech from outside', () => {
  it('is read frame by frame, for any piece lengths, and padded with silence', () => {
    const queue = new SpeechQueue(8000)
    const whole = ramp(1000)
    for (const [from, to] of [
      [0, 7],
      [7, 500],
      [500, 1000],
    ])
      queue.write(whole.subarray(from, to))
    expect(queue.queued).toBe(1000)
    const heard = take(queue, 7)
    expect(heard.slice(0, 1000)).toEqual([...whole])
    expect(heard.slice(1000)).toEqual(Array(120).fill(0))
    expect([queue.queued, queue.take(8000)]).toEqual([0, undefined])
  })

  it('starts with a small delay if written in small pieces, and at once if enough is queued', () => {
    const queue = new SpeechQueue(8000)
    queue.write(ramp(160))
    expect([queue.isAudible, queue.take(8000), queue.take(8000)]).toEqual([false, undefined, undefined])
    expect(queue.take(8000)).toHaveLength(160)
    queue.write(ramp(480))
    expect(queue.take(8000)).toHaveLength(160)
    expect(queue.isAudible).toBe(true)
  })

  it('reports when everything written so far was read or dropped', () => {
    const queue = new SpeechQueue(8000)
    const reported: string[] = []
    queue.mark(() => reported.push('nothing'))
    queue.write(ramp(320))
    queue.mark(() => reported.push('first'))
    queue.write(ramp(320))
    queue.mark(() => reported.push('second'))
    expect(reported).toEqual(['nothing'])
    take(queue, 2)
    expect(reported).toEqual(['nothing', 'first'])
    queue.clear()
    expect([reported, queue.queued, queue.isAudible]).toEqual([['nothing', 'first', 'second'], 0, false])
  })

  it('is limited to 120 s', () => {
    const queue = new SpeechQueue(8000)
    for (let i = 0; i < 100; i++) queue.write(ramp(16_000))
    expect(queue.queued).toBe(960_000)
    take(queue, 1)
    queue.write(ramp(16_000))
    expect(queue.queued).toBe(960_000)
  })

  it('collects tiny pieces, in order among large ones', () => {
    const queue = new SpeechQueue(8000)
    const whole = ramp(20_000)
    let at = 0
    const write = (length: number) => {
      queue.write(whole.slice(at, at + length))
      at += length
    }
    for (const length of [1, 1, 800, 1, 799, 3, 2000, 1, 1]) write(length)
    while (at < whole.length) write(1)
    expect(queue.pieces).toBeLessThan(30)
    expect(take(queue, 125)).toEqual([...whole])
    expect(queue.pieces).toBe(0)
  })

  it('does not modify its input', () => {
    const queue = new SpeechQueue(8000)
    const given = new Int16Array(1000).fill(7)
    queue.write(given.subarray(0, 900))
    queue.write(Int16Array.of(1, 2, 3))
    expect(given).toEqual(new Int16Array(1000).fill(7))
  })

  it('keeps 1000 marks, and reports further ones at once', () => {
    const queue = new SpeechQueue(8000)
    queue.write(ramp(960))
    const reported: number[] = []
    for (let i = 0; i < 1002; i++) queue.mark(() => reported.push(i))
    expect(reported).toEqual([1000, 1001])
    take(queue, 6)
    expect(reported).toHaveLength(1002)
    queue.write(ramp(160))
    queue.mark(() => reported.push(-1))
    expect(reported).toHaveLength(1002)
    queue.clear()
    expect(reported.at(-1)).toBe(-1)
  })

  it('is converted to the rate of the far end', () => {
    const queue = new SpeechQueue(8000)
    queue.write(sine(1000, 1000))
    expect(dominant(take(queue, 50, 16_000), 16_000)).toBe(1000)
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../edge/testing/test-clock.ts'
import { readWebm } from '../record/testing/read-webm.ts'
import { LiveEncoder } from './live-encoder.ts'
import { FakeFfmpeg } from './testing/fake-ffmpeg.ts'

const size = { width: 640, height: 360 }

describe('a live encoder', () => {
  let clock: TestClock
  let ffmpeg: FakeFfmpeg
  let tags: number[]
  let errors: string[]
  let encoder: LiveEncoder

  beforeEach(() => {
    clock = new TestClock()
    ffmpeg = new FakeFfmpeg()
    tags = []
    errors = []
    encoder = new LiveEncoder(
      ffmpeg,
      { onTag: ({ timestamp }) => tags.push(timestamp), onEnd: ({ message }) => errors.push(message) },
      clock,
    )
  })

  /** Returns the blocks that ffmpeg has received. */
  const blocks = () => {
    const bytes = ffmpeg.last.stdin.read() as Buffer | null
    return bytes ? readWebm(bytes).blocks.map(({ track, atMs, data }) => [track, atMs, data]) : []
  }

  it('begins with the first key frame, and leaves out what came before it', () => {
    encoder.addAudio(clock.now(), Buffer.from('early'))
    encoder.addVideo(clock.now(), Buffer.from('delta'))
    clock.advance(500)
    expect(blocks()).toEqual([])
    const start = clock.now()
    encoder.addVideo(start, Buffer.from('key'), size)
    encoder.addAudio(start - 20, Buffer.from('before'))
    encoder.addAudio(start, Buffer.from('sound'))
    encoder.addVideo(start + 40, Buffer.from('delta'))
    clock.advance(100)
    expect(blocks()).toEqual([
      [2, 0, 'key'],
      [1, 0, 'sound'],
      [2, 40, 'delta'],
    ])
  })

  it('repeats a key frame without a successor, and no other frame', () => {
    const start = clock.now()
    encoder.addVideo(start, Buffer.from('key'), size)
    clock.advance(300)
    expect(blocks()).toEqual([
      [2, 0, 'key'],
      [2, 100, 'key'],
      [2, 200, 'key'],
      [2, 300, 'key'],
    ])
    encoder.addVideo(start + 340, Buffer.from('delta'))
    clock.advance(1000)
    expect(ffmpeg.last.stdin.read().includes('key')).toBe(false)
  })

  it('passes the tags of ffmpeg on, and reports its end once', async () => {
    const tag = Buffer.from([9, 0, 0, 1, 0, 0, 40, 0, 0, 0, 0, 1, 0, 0, 0, 12])
    ffmpeg.last.stdout.write(Buffer.concat([Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0'), tag]))
    await new Promise(setImmediate)
    expect(tags).toEqual([40])
    ffmpeg.last.end(1, 'no memory')
    await new Promise(setImmediate)
    expect(errors).toEqual(['no memory'])
    expect(clock.running).toBe(0)
  })

  it('ends if ffmpeg writes something else, or is too slow', async () => {
    ffmpeg.last.stdout.write(Buffer.alloc(20))
    await new Promise(setImmediate)
    expect(errors).toEqual(['FLV: a stream of FLV expected'])
    expect(ffmpeg.last.isKilled).toBe(true)
    const errorsOfSlow: string[] = []
    const slow = new LiveEncoder(
      ffmpeg,
      { onTag: () => {}, onEnd: ({ message }) => errorsOfSlow.push(message) },
      clock,
    )
    for (let at = 0; at < 10_000; at += 100) {
      slow.addVideo(clock.now(), Buffer.alloc(300_000), size)
      clock.advance(100)
    }
    expect(errorsOfSlow).toEqual(['ffmpeg is too slow'])
  })

  it('is silent after its close', async () => {
    encoder.close()
    encoder.close()
    await new Promise(setImmediate)
    expect([errors, ffmpeg.last.isKilled, clock.running]).toEqual([[], true, 0])
  })
})

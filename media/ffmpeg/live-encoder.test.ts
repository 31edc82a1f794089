import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../edge/testing/test-clock.ts'
import { readWebm } from '../record/testing/read-webm.ts'
import { stillPicture } from '../rooms/still-picture.ts'
import { LiveEncoder } from './live-encoder.ts'
import { FakeFfmpeg } from './testing/fake-ffmpeg.ts'

const size = { width: 640, height: 360 }

describe('a live encoder', () => {
  let clock: TestClock
  let ffmpeg: FakeFfmpeg
  let tags: number[]
  let errors: string[]
  let keyRequests: number
  let received: Buffer
  let blockCount: number
  let encoder: LiveEncoder

  beforeEach(() => {
    clock = new TestClock()
    ffmpeg = new FakeFfmpeg()
    tags = []
    errors = []
    keyRequests = 0
    received = Buffer.alloc(0)
    blockCount = 0
    encoder = new LiveEncoder(
      ffmpeg,
      {
        onTag: ({ timestamp }) => tags.push(timestamp),
        onKeyNeeded: () => keyRequests++,
        onEnd: ({ message }) => errors.push(message),
      },
      clock,
    )
  })

  /** Returns the blocks that ffmpeg has received since the last call. */
  const blocks = () => {
    const bytes = ffmpeg.last.stdin.read() as Buffer | null
    if (!bytes) return []
    received = Buffer.concat([received, bytes])
    const all = readWebm(received).blocks
    const next = all.slice(blockCount).map(({ track, atMs, data }) => [track, atMs, data])
    blockCount = all.length
    return next
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

  it('has a plain picture while a camera is silent, until its next key frame', () => {
    const start = clock.now()
    encoder.addVideo(start, Buffer.from('key'), size)
    encoder.addVideo(start, Buffer.from('delta'))
    clock.advance(1999)
    expect(blocks().map(([, , data]) => data)).toEqual(['key', 'delta'])
    clock.advance(201)
    const still = stillPicture.toString('latin1')
    expect(blocks()).toEqual([2000, 2100, 2200].map((atMs) => [2, atMs, still]))
    expect(keyRequests).toBe(0)
    encoder.addVideo(start + 2250, Buffer.from('lost'))
    clock.advance(100)
    expect(blocks()).toEqual([[2, 2300, still]])
    expect(keyRequests).toBe(1)
    encoder.addVideo(start + 2310, Buffer.from('next'), size)
    encoder.addVideo(start + 2320, Buffer.from('delta'))
    clock.advance(100)
    expect(blocks()).toEqual([
      [2, 2310, 'next'],
      [2, 2320, 'delta'],
    ])
    expect(keyRequests).toBe(1)
  })

  it('limits its decoders', () => {
    const { args } = ffmpeg.last
    const input = args.slice(0, args.indexOf('-i')).join(' ')
    expect(input).toContain('-threads 2 -max_pixels 9437184')
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
      { onTag: () => {}, onKeyNeeded: () => {}, onEnd: ({ message }) => errorsOfSlow.push(message) },
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

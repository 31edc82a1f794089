import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readWebm } from '../testing/read-webm.ts'
import { WebmMuxer } from './webm-muxer.ts'

/** File in memory. */
class MemoryFile {
  bytes: Buffer = Buffer.alloc(0)

  append(bytes: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, bytes])
  }

  replaceHeader(bytes: Uint8Array): void {
    this.bytes = Buffer.concat([bytes, this.bytes.subarray(bytes.length)])
  }

  complete(muxer: WebmMuxer): Buffer {
    muxer.finish()
    this.replaceHeader(muxer.header(this.bytes.length))
    return this.bytes
  }
}

const size = { width: 640, height: 360 }

/** Opens a file with audio, with the functions that add to it. */
const opened = () => {
  const file = new MemoryFile()
  const muxer = new WebmMuxer(1, file)
  const audio = (atMs: number, data = 'a') => muxer.addAudio(atMs, Buffer.from(data))
  const video = (atMs: number, isKey = false, data = 'v') =>
    muxer.addVideo(atMs, Buffer.from(data), isKey ? size : undefined)
  return { file, muxer, audio, video }
}

describe('a WebM file', () => {
  it('has a track of audio alone until the first key frame', () => {
    const { file, muxer, audio, video } = opened()
    audio(0)
    video(5)
    expect(readWebm(file.bytes).tracks).toEqual({ 1: 'A_OPUS' })
    video(10, true)
    video(43)
    expect(readWebm(file.bytes)).toMatchObject({
      tracks: { 1: 'A_OPUS', 2: 'V_VP8' },
      durationMs: undefined,
      blocks: [{ track: 1, atMs: 0, data: 'a' }],
    })
    expect(readWebm(file.complete(muxer))).toMatchObject({ durationMs: 43, cues: [10] })
  })

  it('has clusters of 0.7 s, which begin with key frames', () => {
    const { file, muxer, audio, video } = opened()
    for (let atMs = 0; atMs < 5000; atMs += 20) {
      audio(atMs)
      if (atMs % 40 === 0) video(atMs, atMs === 0 || atMs === 2600)
    }
    const { clusters, cues, durationMs } = readWebm(file.complete(muxer))
    expect(clusters.map(({ atMs }) => atMs)).toEqual([0, 0, 700, 1400, 2100, 2600, 3300, 4000, 4700])
    expect([cues, durationMs]).toEqual([[0, 2600], 5000])
  })

  it('is written at the latest when 0.7 s have passed', () => {
    const { file, muxer, audio } = opened()
    audio(0)
    muxer.tick(699)
    expect(readWebm(file.bytes).blocks).toEqual([])
    muxer.tick(700)
    expect(readWebm(file.bytes).blocks).toHaveLength(1)
  })

  it('can be cut after each of its clusters', () => {
    const { file, muxer, audio } = opened()
    for (let atMs = 0; atMs < 5000; atMs += 20) audio(atMs)
    const whole = file.complete(muxer)
    const bytes = muxer.playable(whole.length - 30)
    const cut = Buffer.concat([muxer.header(bytes), whole.subarray(512, bytes)])
    expect(readWebm(cut)).toMatchObject({ durationMs: muxer.durationOf(bytes), cues: [] })
    expect([muxer.playable(whole.length), muxer.playable(600)]).toEqual([whole.length, 0])
  })

  it('contains what was written, in the order of each track, whatever the times', () => {
    const aTime = fc.double({ min: -100, max: 200_000, noNaN: true })
    const aBlock = fc.record({
      isAudio: fc.boolean(),
      atMs: aTime,
      isKey: fc.boolean(),
      data: fc.string({ unit: 'binary-ascii', maxLength: 300 }),
    })
    fc.assert(
      fc.property(fc.array(aBlock, { maxLength: 60 }), fc.boolean(), (blocks, isSorted) => {
        const { file, muxer, audio, video } = opened()
        const ordered = isSorted ? [...blocks].sort((a, b) => a.atMs - b.atMs) : blocks
        const expected: Record<number, string[]> = { 1: [], 2: [] }
        let hasKey = false
        for (const { isAudio, atMs, isKey, data } of ordered) {
          if (isAudio) audio(atMs, data)
          else video(atMs, isKey, data)
          hasKey ||= !isAudio && isKey
          if (isAudio || hasKey) expected[isAudio ? 1 : 2]!.push(data)
        }
        const read = readWebm(file.complete(muxer))
        for (const track of [1, 2]) {
          const found = read.blocks.filter((block) => block.track === track)
          expect(found.map(({ data }) => data)).toEqual(expected[track])
          const times = found.map(({ atMs }) => atMs)
          expect(times).toEqual([...times].sort((a, b) => a - b))
        }
        const ends = read.blocks.map(({ track, atMs }) => atMs + (track === 1 ? 20 : 0))
        expect(read.durationMs).toBe(Math.max(0, ...ends))
      }),
    )
  })
})

import { EventEmitter } from 'node:events'
import type { types } from 'mediasoup'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { FakeFfmpeg, ivfFrame, ivfHeader } from '../../ffmpeg/testing/fake-ffmpeg.ts'
import { FileSource } from './file-source.ts'
import { type FileStreams, onTransportClosed } from './file-streams.ts'

const settled = () => new Promise(setImmediate)
/** Texts as frames of VP8: the first bit of a key frame is 0. */
const key = (text: string) => `\0${text}`
const delta = (text: string) => `\x01${text}`

let ffmpeg: FakeFfmpeg
let clock: TestClock
/** Frames that were sent to the viewers. */
let sent: string[]
/** Ends the stream of the pictures. */
let lose: () => void

const sourceOf = (): FileSource => {
  const pictures = {
    send: (frame: Buffer) => sent.push(frame.subarray(1).toString()),
    onLost: (listener: () => void) => {
      lose = listener
    },
    close: () => {},
  }
  const streams = { pictures } as unknown as FileStreams
  const facts = { hasVideo: true, hasAudio: false, durationMs: 60_000 }
  return new FileSource({ file: 9, facts }, { ffmpeg, clock, streams })
}

const show = async (...frames: readonly string[]) => {
  ffmpeg.last.stdout.write(Buffer.concat([ivfHeader(10), ...frames.map((each, at) => ivfFrame(at, each))]))
  await settled()
}

beforeEach(() => {
  ffmpeg = new FakeFfmpeg()
  clock = new TestClock()
  sent = []
})

describe('a file as a source of a room', () => {
  it('repeats the picture of a pause for later viewers', async () => {
    const source = sourceOf()
    source.play()
    await show(key('a'), delta('b'))
    source.pause()
    clock.advance(200)
    await settled()
    await show(key('still'))
    clock.advance(2000)
    expect(sent).toEqual(['a', 'b', 'still', 'still', 'still'])
    source.play()
    await settled()
    clock.advance(5000)
    expect(sent).toHaveLength(5)
    await source.close()
    expect(clock.running).toBe(0)
  })

  it('repeats its last key frame in a pause behind its last picture', async () => {
    const source = sourceOf()
    source.play()
    await show(key('a'), key('b'), delta('c'))
    source.pause()
    clock.advance(200)
    await settled()
    ffmpeg.last.end(0)
    await settled()
    clock.advance(1000)
    expect(sent).toEqual(['a', 'b', 'c', 'b'])
    await source.close()
  })

  it('reports its end once, also to a listener that comes later', async () => {
    const source = sourceOf()
    lose()
    lose()
    const ends: unknown[] = []
    source.onEnd((end) => ends.push(end))
    await settled()
    expect(ends).toEqual([{ failure: 'the media process has ended' }])
  })

  it('notices a stream that has ended before', async () => {
    const observer = new EventEmitter()
    const transport = { closed: true, observer } as unknown as types.DirectTransport
    let lost = 0
    onTransportClosed(transport, () => lost++)
    await settled()
    onTransportClosed({ closed: false, observer } as unknown as types.DirectTransport, () => lost++)
    observer.emit('close')
    expect(lost).toBe(2)
  })
})

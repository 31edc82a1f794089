import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { readWebm } from '../../record/testing/read-webm.ts'
import { MemoryFiles } from '../../record/testing/recording-files.ts'
import type { PacketListener, PacketSource } from './feed.ts'
import { ProgramFrames } from './program-frames.ts'
import { RoomRecorder } from './room-recorder.ts'

/** Camera that sends a frame in one packet every 40 ms, and key frames on request. */
class TestCamera implements PacketSource {
  readonly listeners = new Set<PacketListener>()
  requests = 0
  #sequence = 0
  #isKeyWanted = false

  attach(listener: PacketListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  requestKeyFrame(): void {
    this.requests++
    this.#isKeyWanted = true
  }

  /** Sends the frame of a time; `width` is in key frames. */
  send(atMs: number, width = 640): void {
    const key = Buffer.from([0x10, 0, 0, 0x9d, 0x01, 0x2a, width & 0xff, width >> 8, 0x68, 0x01])
    const frame = this.#isKeyWanted ? key : Buffer.from([0x11, 0, 0])
    this.#isKeyWanted = false
    const head = Buffer.alloc(13)
    head[0] = 0x80
    head[1] = 0x80 | 96
    head.writeUInt16BE(this.#sequence++ & 0xffff, 2)
    head.writeUInt32BE((atMs * 90) >>> 0, 4)
    head.writeUInt32BE(7, 8)
    head[12] = 0x10
    for (const listener of [...this.listeners]) listener(Buffer.concat([head, frame]))
  }
}

describe('a recording of a room', () => {
  let clock: TestClock
  let files: MemoryFiles
  let packets: Set<(packet: Uint8Array, delayMs: number) => void>
  let recorder: RoomRecorder
  let camera: TestCamera
  /** Age of the audio in ms. */
  let delayMs: number

  beforeEach(() => {
    clock = new TestClock()
    files = new MemoryFiles()
    packets = new Set()
    camera = new TestCamera()
    delayMs = 0
    const onPacket = (listener: (packet: Uint8Array, delayMs: number) => void) => {
      packets.add(listener)
      return () => void packets.delete(listener)
    }
    recorder = new RoomRecorder({ path: '/room.webm' }, { mixer: { onPacket }, clock, files })
  })

  /** Runs the room with its camera for some time. */
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      for (const listener of [...packets]) listener(Buffer.from('mix'), delayMs)
      if (passed % 40 === 0) camera.send(clock.now())
      clock.advance(20)
      if (passed % 500 === 0) await new Promise(setImmediate)
    }
  }

  /** Records the program of the camera. */
  const withVideo = () => {
    let frames: ProgramFrames | undefined
    recorder.setVideo({
      watchFrames: (onFrame) => {
        frames = new ProgramFrames(clock, onFrame)
        return frames
      },
    })
    return frames!
  }

  const finished = async () => {
    recorder.stop()
    const result = await recorder.done
    return { result, file: readWebm(files.files.get('/room.webm')!) }
  }

  it('has audio alone without video', async () => {
    await run(3000)
    const { result, file } = await finished()
    expect([file.tracks, file.blocks.length, result.durationMs]).toEqual([{ 1: 'A_OPUS' }, 150, 3000])
    expect([packets.size, clock.running]).toEqual([0, 0])
  })

  it('has silence before the first member has sound', async () => {
    for (let i = 0; i < 20; i++) {
      clock.advance(100)
      await new Promise(setImmediate)
    }
    await run(1000)
    const { file } = await finished()
    const times = file.blocks.map(({ atMs }) => atMs)
    expect(file.blocks.filter(({ data }) => data === 'mix')).toHaveLength(50)
    expect(times.slice(0, 90)).toEqual(Array.from({ length: 90 }, (_, i) => i * 20))
    expect(times.slice(-50)).toEqual(Array.from({ length: 50 }, (_, i) => 2000 + i * 20))
  })

  it('has failed if video without a single frame lasted', async () => {
    const nothing = () => {}
    await run(1000)
    recorder.setVideo({ watchFrames: () => ({ requestKeyFrame: nothing, close: nothing }) })
    await run(3000)
    const { result } = await finished()
    expect(result).toMatchObject({
      end: { kind: 'error', code: 'no_picture' },
      durationMs: 4000,
      hasFile: true,
    })
  })

  it('has not failed if the video had no time for a frame', async () => {
    const nothing = () => {}
    await run(3000)
    recorder.setVideo({ watchFrames: () => ({ requestKeyFrame: nothing, close: nothing }) })
    await run(1000)
    expect((await finished()).result.end).toEqual({ kind: 'stopped' })
  })

  it('has the camera from its first key frame on, aligned with the audio', async () => {
    await run(1000)
    const frames = withVideo()
    frames.show(camera)
    await run(3000)
    const { file } = await finished()
    const video = file.blocks.filter(({ track }) => track === 2)
    expect([video[0], video.length]).toMatchObject([{ atMs: 1000, isKey: true }, 75])
    for (const [i, { atMs }] of video.entries()) expect(atMs).toBe(1000 + i * 40)
    expect([camera.listeners.size, packets.size, clock.running]).toEqual([0, 0, 0])
  })

  it('places the audio at the time of its arrival at the gateway, which changes slowly', async () => {
    delayMs = 100
    await run(2000)
    delayMs = 150
    await run(4000)
    const { file } = await finished()
    const times = file.blocks.map(({ atMs }) => atMs)
    // The audio of the first 100 ms arrived before the recording.
    expect([times[0], times.at(-1)]).toEqual([0, 6000 - 20 - 150])
    const steps = times.slice(1).map((atMs, i) => atMs - times[i]!)
    expect([Math.min(...steps), Math.max(...steps)]).toEqual([18, 20])
  })

  it('has a key frame every 10 s, and the plain picture without a camera', async () => {
    const frames = withVideo()
    frames.show(camera)
    await run(21_000)
    frames.show(undefined)
    await run(3000)
    const { file } = await finished()
    const keys = file.blocks.filter(({ track, isKey }) => track === 2 && isKey)
    expect(keys.map(({ atMs }) => atMs)).toEqual([0, 10_000, 20_000, 21_000, 22_000, 24_000])
  })

  it('continues with a key frame after a pause', async () => {
    const frames = withVideo()
    frames.show(camera)
    await run(2000)
    recorder.pause()
    await run(5000)
    const before = camera.requests
    recorder.resume()
    expect(camera.requests).toBe(before + 1)
    await run(2000)
    const { result, file } = await finished()
    expect(result.durationMs).toBe(4000)
    const video = file.blocks.filter(({ track }) => track === 2)
    expect(video.filter(({ isKey }) => isKey).map(({ atMs }) => atMs)).toEqual([0, 2000])
    expect(video).toHaveLength(100)
  })
})

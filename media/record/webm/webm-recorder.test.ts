import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { recoverRecordings } from '../recover-recordings.ts'
import { readWebm } from '../testing/read-webm.ts'
import { MemoryFiles } from '../testing/recording-files.ts'
import { webmDurationMs } from './complete-webm.ts'
import { WebmRecorder } from './webm-recorder.ts'

const path = '/recordings/room.webm'
const size = { width: 640, height: 360 }

/** Recording in memory, of packets whose content is the time since the start. */
class SampleRecording {
  readonly clock = new TestClock()
  readonly files = new MemoryFiles()
  readonly recorder: WebmRecorder
  readonly #startedAt: number

  constructor(maxMs?: number) {
    const { clock, files } = this
    this.#startedAt = clock.now()
    this.recorder = new WebmRecorder({
      path,
      channels: 1,
      clock,
      files,
      ...(maxMs !== undefined && { maxMs }),
    })
  }

  /** Sends audio and frames until the recording ends. `keyEveryMs`: distance of key frames. */
  async run(ms: number, keyEveryMs = 10_000): Promise<void> {
    for (let passed = 0; passed < ms && !this.recorder.hasEnded; passed += 20) {
      const now = this.clock.now()
      const sinceStart = now - this.#startedAt
      this.recorder.addAudio(now, Buffer.from(String(sinceStart)))
      const isKey = sinceStart % keyEveryMs === 0 || this.recorder.needsKey
      if (sinceStart % 40 === 0)
        this.recorder.addVideo(now, { data: Buffer.from(String(sinceStart)), ...(isKey && { size }) })
      this.clock.advance(20)
      // The disk keeps up.
      if (sinceStart % 500 === 0) await new Promise(setImmediate)
    }
  }

  async read() {
    const result = await this.recorder.done
    return { result, file: readWebm(this.files.files.get(path)!) }
  }
}

describe('a recording in WebM', () => {
  it('has all packets at their times', async () => {
    const recording = new SampleRecording()
    await recording.run(4000)
    recording.recorder.stop()
    const { result, file } = await recording.read()
    expect(result).toMatchObject({ end: { kind: 'stopped' }, durationMs: 4000, hasFile: true })
    expect(file).toMatchObject({ durationMs: 4000, tracks: { 1: 'A_OPUS', 2: 'V_VP8' }, cues: [0] })
    expect(file.blocks).toHaveLength(300)
    for (const { atMs, data } of file.blocks) expect(atMs).toBe(Number(data))
    expect(recording.clock.running).toBe(0)
  })

  it('leaves out a pause, and continues with a key frame', async () => {
    const recording = new SampleRecording()
    await recording.run(2000)
    recording.recorder.pause()
    expect(recording.recorder.needsKey).toBe(false)
    await recording.run(100_000)
    recording.recorder.resume()
    expect(recording.recorder.needsKey).toBe(true)
    // A frame from the time of the pause is late.
    recording.recorder.addVideo(recording.clock.now() - 1, { data: Buffer.from('late'), size })
    recording.recorder.addVideo(recording.clock.now(), { data: Buffer.from('no key frame') })
    await recording.run(2000)
    recording.recorder.stop()
    const { result, file } = await recording.read()
    expect(result.durationMs).toBe(4000)
    expect(file.blocks).toHaveLength(300)
    for (const { atMs, data } of file.blocks) expect(atMs).toBe(Number(data) - (atMs < 2000 ? 0 : 100_000))
    expect(file.cues).toEqual([0, 2000])
  })

  it('is on the disk up to the last second', async () => {
    const recording = new SampleRecording()
    await recording.run(10_000)
    const part = [...recording.files.files.values()][0]!
    const { blocks, rest } = readWebm(part)
    expect([Math.max(...blocks.map(({ atMs }) => atMs)) >= 8980, rest]).toEqual([true, 0])
    recording.recorder.stop()
    await recording.recorder.done
  })

  it('ends at its maximum duration, without its pauses', async () => {
    const recording = new SampleRecording(3000)
    await recording.run(2000)
    recording.recorder.pause()
    await recording.run(5000)
    recording.recorder.resume()
    await recording.run(2000)
    const { result } = await recording.read()
    expect([result.end, result.durationMs]).toEqual([{ kind: 'limit' }, 3000])
  })

  it('keeps whole clusters on a full disk', async () => {
    const recording = new SampleRecording()
    recording.files.space = 3000
    await recording.run(10_000)
    const { result, file } = await recording.read()
    expect(result).toMatchObject({ end: { kind: 'error', code: 'ENOSPC' }, hasFile: true })
    expect([file.rest, file.durationMs]).toEqual([0, result.durationMs])
    expect(result.durationMs).toBeGreaterThan(500)
  })

  describe('on a disk that stands still', () => {
    let recording: SampleRecording
    let goOn: () => void
    beforeEach(async () => {
      recording = new SampleRecording()
      await recording.run(2000)
      const { promise, resolve } = Promise.withResolvers<void>()
      recording.files.gate = promise
      goOn = resolve
    })
    const names = () => [...recording.files.files.keys()]

    it('loses nothing in nine seconds', async () => {
      await recording.run(9_000)
      goOn()
      await recording.run(1000)
      recording.recorder.stop()
      const { result, file } = await recording.read()
      expect(result).toMatchObject({ end: { kind: 'stopped' }, durationMs: 12_000 })
      expect(file.blocks).toHaveLength(900)
      expect(file.cues).toEqual([0, 10_000])
    })

    it('ends after ten seconds, and leaves what was written to the recovery', async () => {
      await recording.run(20_000)
      expect(recording.recorder.hasEnded).toBe(true)
      const end = { kind: 'error', code: 'too_slow', message: 'the disk has finished nothing for 10 s' }
      expect(await recording.recorder.done).toMatchObject({ end, bytes: 0, hasFile: false })
      expect(recording.clock.running).toBe(0)
      expect(names()).toEqual([expect.stringMatching(/\.part$/)])
      expect(recording.files.log).not.toContain('close')
      goOn()
      await expect.poll(() => recording.files.log).toContain('close')
      expect(names()).toEqual([expect.stringMatching(/\.part$/)])
    })

    it('ends after ten seconds if it is stopped meanwhile', async () => {
      await recording.run(1000)
      recording.recorder.stop()
      for (let second = 0; second < 20; second++) recording.clock.advance(1000)
      expect(await recording.recorder.done).toMatchObject({ end: { kind: 'error', code: 'too_slow' } })
      expect(recording.clock.running).toBe(0)
    })

    it('ends after a minute if it cannot be synchronised', async () => {
      goOn()
      await recording.run(1000)
      recording.recorder.stop()
      recording.files.gate = new Promise(() => {})
      await expect.poll(() => recording.clock.running).toBe(1)
      recording.clock.advance(60_000)
      expect(await recording.recorder.done).toMatchObject({ end: { code: 'too_slow' }, hasFile: false })
      expect(recording.clock.running).toBe(0)
    })

    it('ends with the error of a write that fails at last', async () => {
      await recording.run(3000)
      recording.files.failing.write = 'EIO'
      goOn()
      await recording.run(100)
      expect(await recording.recorder.done).toMatchObject({
        end: { kind: 'error', code: 'EIO' },
        hasFile: false,
      })
      expect(names()).toEqual([expect.stringMatching(/\.part$/)])
    })
  })

  it('leaves no file without a packet', async () => {
    const recording = new SampleRecording()
    recording.recorder.stop()
    expect(await recording.recorder.done).toMatchObject({ bytes: 0, durationMs: 0, hasFile: false })
    expect([...recording.files.files.keys()]).toEqual([])
  })
})

describe('a WebM file after a crash', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'webm-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** Returns the unfinished file of 10 seconds, as a crash leaves it. */
  const unfinished = async (): Promise<Buffer> => {
    const recording = new SampleRecording()
    await recording.run(10_000, 4000)
    return [...recording.files.files.values()][0]!
  }

  const recovered = async (bytes: Buffer) => {
    await writeFile(join(folder, '.room.webm.0123abcd.part'), bytes)
    return recoverRecordings(folder, Date.now() + 180_000)
  }

  it('is completed at its last whole cluster, wherever it is cut', async () => {
    const bytes = await unfinished()
    const { clusters } = readWebm(bytes)
    for (const length of [bytes.length, bytes.length - 1, bytes.length - 100, 2000]) {
      expect((await recovered(bytes.subarray(0, length))).failed).toEqual([])
      const file = join(folder, 'room.webm')
      const found = readWebm(await readFile(file))
      const last = Math.max(...found.blocks.map(({ atMs, track }) => atMs + (track === 1 ? 20 : 0)))
      expect(found.durationMs).toBe(last)
      expect(await webmDurationMs(file)).toBe(last)
      expect(found.cues[0]).toBe(0)
      if (length === bytes.length) expect([found.clusters, found.cues]).toEqual([clusters, [0, 4000, 8000]])
      await rm(file)
    }
  })

  it('is removed without a cluster', async () => {
    const bytes = await unfinished()
    for (const length of [4, 100, 512, 520]) {
      expect(await recovered(bytes.subarray(0, length))).toMatchObject({
        removed: [join(folder, 'room.webm')],
        failed: [],
      })
      expect(await readdir(folder)).toEqual([])
    }
  })
})

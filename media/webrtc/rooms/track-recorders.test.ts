import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { readWebm } from '../../record/testing/read-webm.ts'
import { MemoryFiles } from '../../record/testing/recording-files.ts'
import { SenderClock, StreamClock } from '../../rooms/sender-clock.ts'
import type { MediaPort, Recording, RecordRequest, RoomFrame } from '../../types.ts'
import type { SoundListener } from './relay-feed.ts'
import { PictureRecorder, PortRecorder, SoundRecorder } from './track-recorders.ts'

let clock: TestClock
let files: MemoryFiles
const pathOf = (format: string) => `/track.${format}`
const content = () => readWebm(files.files.get('/track.webm')!)

beforeEach(() => {
  clock = new TestClock()
  files = new MemoryFiles()
})

/** Lets time pass in steps of 20 ms. */
const pass = async (ms: number, step: () => void = () => {}) => {
  for (let passed = 0; passed < ms; passed += 20) {
    step()
    clock.advance(20)
    if (passed % 200 === 0) await new Promise(setImmediate)
  }
}

describe('the recording of a sound', () => {
  const listeners = new Set<SoundListener>()
  let number = 0
  let recorder: SoundRecorder
  let fail: (fault: Error) => void
  beforeEach(() => {
    listeners.clear()
    const attach = (listener: SoundListener, onFault: typeof fail) => {
      fail = onFault
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
    recorder = new SoundRecorder({ pathOf }, { attach }, { clock, files })
  })

  /** Sends a packet of 20 ms. */
  const send = (ssrc = 7, sender?: StreamClock) => {
    const head = Buffer.alloc(12)
    head[0] = 0x80
    head.writeUInt16BE(number & 0xffff, 2)
    head.writeUInt32BE((number * 960) >>> 0, 4)
    head.writeUInt32BE(ssrc, 8)
    number++
    for (const listener of listeners)
      listener(Buffer.concat([head, Buffer.of(0xf8), Buffer.from('x')]), sender)
  }
  const speechTimes = () =>
    content()
      .blocks.filter(({ data }) => data.endsWith('x'))
      .map(({ atMs }) => atMs)

  it('has the packets at their times, and silence while the member is muted', async () => {
    await pass(1000)
    await pass(1000, () => send())
    recorder.setMuted(true)
    await pass(1000, () => send())
    recorder.setMuted(false)
    // The browser sends another stream.
    await pass(1000, () => send(8))
    recorder.stop()
    const { durationMs } = await recorder.done
    expect(durationMs).toBe(4000)
    const every20 = (from: number) => Array.from({ length: 50 }, (_, i) => from + i * 20)
    expect(speechTimes()).toEqual([...every20(1000), ...every20(3000)])
    const times = content().blocks.map(({ atMs }) => atMs)
    expect(times).toEqual(Array.from({ length: 200 }, (_, i) => i * 20))
    expect([listeners.size, clock.running]).toEqual([0, 0])
  })

  it('has all packets that have waited for the first report for 7 s', async () => {
    number = 0
    const stream = new StreamClock(new SenderClock(), 48_000)
    await pass(7000, () => send(7, stream))
    stream.report(clock.now(), { ssrc: 7, senderMs: 9 * 3_600_000, timestamp: 7000 * 48 })
    await pass(1000, () => send(7, stream))
    recorder.stop()
    expect(await recorder.done).toMatchObject({ end: { kind: 'stopped' }, durationMs: 8000 })
    expect(speechTimes()).toHaveLength(400)
  })

  it('has the packets at the times of their capture, also those before the first report', async () => {
    number = 0
    const stream = new StreamClock(new SenderClock(), 48_000)
    const began = clock.now()
    // Packets are on their way for 90 ms; the report of the time is not.
    await pass(1000)
    await pass(2000, () => send(7, stream))
    expect([...files.files.values()].every((bytes) => readWebm(bytes).blocks.length <= 50)).toBe(true)
    stream.report(began + 3000, { ssrc: 7, senderMs: 9 * 3_600_000, timestamp: (2000 + 90) * 48 })
    await pass(1000, () => send(7, stream))
    recorder.stop()
    await recorder.done
    expect(speechTimes()).toEqual(Array.from({ length: 150 }, (_, i) => 910 + i * 20))
    const times = content().blocks.map(({ atMs }) => atMs)
    expect(times.every((atMs, i) => i === 0 || atMs - times[i - 1]! <= 30)).toBe(true)
  })

  it('has what waits for a report at its end, and before a pause', async () => {
    const stream = new StreamClock(new SenderClock(), 48_000)
    await pass(1000, () => send(7, stream))
    recorder.pause()
    await pass(1000, () => send(7, stream))
    recorder.resume()
    // Another stream waits anew.
    const next = new StreamClock(new SenderClock(), 48_000)
    await pass(1000, () => send(8, next))
    recorder.stop()
    expect((await recorder.done).durationMs).toBe(2000)
    expect(speechTimes()).toEqual(Array.from({ length: 100 }, (_, i) => i * 20))
  })

  it('of a member who stays muted is silence, from the start of the file to its end', async () => {
    recorder.setMuted(true)
    await pass(3000, () => send())
    recorder.stop()
    expect((await recorder.done).durationMs).toBe(3000)
    expect(speechTimes()).toEqual([])
    expect(content().blocks.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 150 }, (_, i) => i * 20))
  })

  it('ends with an error if its sound cannot be received, and keeps what came before', async () => {
    await pass(1000, () => send())
    fail(new Error('no transport'))
    const { end, durationMs } = await recorder.done
    expect([end, durationMs]).toEqual([{ kind: 'error', code: 'error', message: 'no transport' }, 1000])
    expect([listeners.size, clock.running]).toEqual([0, 0])
  })

  it('leaves a pause out', async () => {
    await pass(1000, () => send())
    recorder.pause()
    await pass(5000, () => send())
    recorder.resume()
    await pass(1000, () => send())
    recorder.stop()
    expect((await recorder.done).durationMs).toBe(2000)
    expect(speechTimes()).toEqual(Array.from({ length: 100 }, (_, i) => i * 20))
  })

  it('ends with the fault of the disk', async () => {
    files.space = 600
    await pass(3000, () => send())
    expect((await recorder.done).end).toMatchObject({ kind: 'error', code: 'ENOSPC' })
    expect([listeners.size, clock.running]).toEqual([0, 0])
  })
})

describe('the recording of a picture', () => {
  it('has the frames of one member, and requests a key frame after a pause', async () => {
    const calls: unknown[] = []
    let report: (frame: RoomFrame) => void = () => {}
    const watchMember = (id: string, onFrame: (frame: RoomFrame) => void) => {
      report = onFrame
      calls.push(id)
      return {
        requestKeyFrame: () => calls.push('key'),
        setShown: (isShown: boolean) => calls.push(isShown),
        flush: () => calls.push('flush'),
        close: () => calls.push('close'),
      }
    }
    const recorder = new PictureRecorder({ pathOf }, { watchMember }, 'm', { clock, files })
    const frame = (isKey: boolean) => () =>
      report({
        at: clock.now(),
        data: Buffer.from(isKey ? 'key' : 'frame'),
        ...(isKey && { size: { width: 640, height: 360 } }),
      })
    await pass(20, frame(true))
    await pass(980, frame(false))
    recorder.setMuted(true)
    recorder.pause()
    await pass(1000, frame(false))
    recorder.resume()
    // A key frame from the time of the pause does not continue the file.
    report({ at: clock.now() - 1, data: Buffer.from('late'), size: { width: 640, height: 360 } })
    await pass(500, frame(false))
    await pass(20, frame(true))
    recorder.stop()
    await recorder.done
    expect(calls.slice(0, 7)).toEqual(['m', false, 'flush', 'key', 'key', 'flush', 'close'])
    const { blocks, tracks } = content()
    expect(tracks).toEqual({ 2: 'V_VP8' })
    expect(blocks.filter(({ isKey }) => isKey).map(({ atMs }) => atMs)).toEqual([0, 1500])
    expect(blocks).toHaveLength(51)
  })

  it.each(['held', 'waiting'])('begins with %s frames from the time before its start', async (kind) => {
    const started = clock.now()
    let requests = 0
    let reportEarly = () => {}
    const watchMember = (_id: string, onFrame: (frame: RoomFrame) => void) => {
      reportEarly = () => {
        onFrame({ at: started - 900, data: Buffer.from('key'), size: { width: 640, height: 360 } })
        onFrame({ at: started - 30, data: Buffer.from('delta') })
        onFrame({ at: started + 10, data: Buffer.from('delta') })
      }
      // A feed that holds packets reports their frames at once.
      if (kind === 'held') reportEarly()
      return {
        requestKeyFrame: () => requests++,
        setShown: () => {},
        flush: () => {},
        close: () => {},
      }
    }
    const recorder = new PictureRecorder({ pathOf }, { watchMember }, 'm', { clock, files })
    await pass(200)
    // Frames that wait for a report of their sender come later.
    if (kind === 'waiting') reportEarly()
    recorder.stop()
    await recorder.done
    expect(content().blocks.map(({ atMs, data }) => [atMs, data])).toEqual([
      [0, 'key'],
      [0, 'delta'],
      [10, 'delta'],
    ])
    expect(requests).toBe(0)
  })
})

describe('the recording of a port', () => {
  it('is a WAV without what is muted, and without pauses', () => {
    const calls: string[] = []
    const requests: RecordRequest[] = []
    const record: MediaPort['record'] = (request) => {
      requests.push(request)
      return {
        done: new Promise(() => {}),
        pause: (how) => void calls.push(how),
        resume: () => void calls.push('resume'),
        stop: () => void calls.push('stop'),
        moveTo: () => {},
      } satisfies Recording
    }
    const recorder = new PortRecorder({ pathOf }, { record })
    expect(requests).toEqual([{ path: '/track.wav', format: 'wav', tracks: 'in', sampleRate: 16_000 }])
    recorder.setMuted(false)
    recorder.setMuted(true)
    recorder.pause()
    recorder.setMuted(false)
    recorder.setMuted(true)
    recorder.resume()
    recorder.setMuted(false)
    recorder.stop()
    expect(calls).toEqual(['silence', 'resume', 'skip', 'resume', 'silence', 'resume', 'stop'])
  })
})

import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { SileroJob, SileroReply } from './silero-messages.ts'
import { type SileroDeps, SileroThread, type StartSilero } from './silero-thread.ts'

/** Threads that a test drives. */
const open = () => {
  const clock = new FakeClock()
  const logged: unknown[] = []
  const failures: unknown[] = []
  const threads: { jobs: SileroJob[]; reply(reply: SileroReply): void; dies(): void; isEnded: boolean }[] = []
  const start: StartSilero = (_, reply, onEnd) => {
    const thread = { jobs: [] as SileroJob[], reply, dies: () => onEnd('died'), isEnded: false }
    threads.push(thread)
    return {
      send: (job) => thread.jobs.push(job),
      end: async () => {
        thread.isEnded = true
      },
    }
  }
  const keep = (fields: object) => logged.push(fields)
  const log = { info: keep, warn: keep } as unknown as Log
  const metrics = { agentDetectorFailures: { inc: (labels: unknown) => failures.push(labels) } }
  const deps = { clock, log, metrics, start } as unknown as SileroDeps
  const data = { runtime: '/none', model: new Uint8Array(new SharedArrayBuffer(1)) }
  return { clock, logged, failures, threads, detector: new SileroThread(data, 0.5, deps) }
}

const frame = new Int16Array(160)

/** Detector with a stream in a thread that is ready. */
const running = () => {
  const rig = open()
  const found: number[] = []
  const stream = rig.detector.open((probability) => found.push(probability))
  rig.threads[0]!.reply({ op: 'ready' })
  stream.begin()
  return { ...rig, stream, found }
}

describe('A thread of Silero', () => {
  it('starts with the first stream, and takes audio as soon as it is ready', () => {
    const { detector, threads } = open()
    expect(threads).toHaveLength(0)
    const one = detector.open(() => {})
    const two = detector.open(() => {})
    expect(threads).toHaveLength(1)
    one.begin()
    expect(one.hear(frame)).toBe(false)
    threads[0]!.reply({ op: 'ready' })
    two.begin()
    two.begin()
    expect([one.hear(frame), two.hear(frame)]).toEqual([true, true])
    expect(threads[0]!.jobs).toMatchObject([
      { op: 'hear', stream: 1, sound: 1 },
      { op: 'hear', stream: 2, sound: 2 },
    ])
  })

  it('gives a stream only the results of its present sound', () => {
    const { threads, stream, found } = running()
    threads[0]!.reply({ op: 'heard', stream: 1, sound: 1, probabilities: [0.1, 0.2] })
    threads[0]!.reply({ op: 'heard', stream: 2, sound: 1, probabilities: [0.3] })
    stream.begin()
    threads[0]!.reply({ op: 'heard', stream: 1, sound: 1, probabilities: [0.4] })
    stream.close()
    threads[0]!.reply({ op: 'heard', stream: 1, sound: 2, probabilities: [0.5] })
    expect(found).toEqual([0.1, 0.2])
    expect(threads[0]!.jobs).toEqual([{ op: 'close', stream: 1 }])
  })

  it('refuses audio while a thousand frames wait', () => {
    const { threads, stream } = running()
    for (let i = 0; i < 1000; i++) expect(stream.hear(frame)).toBe(true)
    expect(stream.hear(frame)).toBe(false)
    threads[0]!.reply({ op: 'heard', stream: 1, sound: 1, probabilities: [] })
    expect(stream.hear(frame)).toBe(true)
  })

  it('is started again after it died, twice at most', () => {
    const { clock, logged, failures, threads, stream, detector } = running()
    threads[0]!.dies()
    expect(stream.hear(frame)).toBe(false)
    clock.advance(4999)
    expect(threads).toHaveLength(1)
    clock.advance(1)
    threads[1]!.reply({ op: 'ready' })
    expect(stream.hear(frame)).toBe(true)
    threads[1]!.dies()
    clock.advance(5000)
    threads[2]!.dies()
    clock.advance(60_000)
    detector.open(() => {})
    expect([threads.length, clock.running]).toEqual([3, 0])
    expect(failures).toEqual(Array(3).fill({ failure: 'ended' }))
    expect(logged).toMatchObject([
      { event: 'agent.detector-ready' },
      { event: 'agent.detector-failed', reason: 'died', next: 'restart' },
      { event: 'agent.detector-ready' },
      { event: 'agent.detector-failed', next: 'restart' },
      { event: 'agent.detector-failed', next: 'off' },
    ])
  })

  it('waits for the next stream with a new thread, if all have ended', () => {
    const { clock, threads, stream, detector } = running()
    stream.close()
    threads[0]!.dies()
    clock.advance(5000)
    expect(threads).toHaveLength(1)
    detector.open(() => {})
    expect(threads).toHaveLength(2)
  })

  it('does not try a model again that cannot be loaded', () => {
    const { clock, failures, threads, detector } = open()
    detector.open(() => {})
    threads[0]!.reply({ op: 'broken', reason: 'no such model' })
    threads[0]!.dies()
    clock.advance(60_000)
    detector.open(() => {})
    expect([threads.length, threads[0]!.isEnded, failures]).toEqual([1, true, [{ failure: 'broken' }]])
  })

  it('ends with the detector', async () => {
    const { clock, threads, stream, detector } = running()
    await detector.close()
    threads[0]!.dies()
    detector.open(() => {})
    expect([threads.length, threads[0]!.isEnded, stream.hear(frame), clock.running]).toEqual([
      1,
      true,
      false,
      0,
    ])
  })
})

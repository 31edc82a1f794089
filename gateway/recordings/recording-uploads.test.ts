import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unreachable } from '../callbacks/answers.ts'
import type { Upload } from '../callbacks/customer-http.ts'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { RecordingUploads } from './recording-uploads.ts'

const row = { id: 'r1', project_id: 'p1', call_id: 'c1', format: 'wav' } as const
const put = { url: 'https://me:pa55@store.example/a.wav?sig=pa55', method: 'PUT' } as const
const post = { ...put, method: 'POST' } as const

const failure = (reason: string, more: object = {}) => unreachable(put.url, reason, 'It failed.', more)

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'uploads-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Uploads to a server that sends the given answers; further uploads wait for the test. */
const setUp = (...answers: (number | Error)[]) => {
  const clock = new FakeClock()
  const metrics = new Metrics()
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const asked: Upload[] = []
  const waiting: { answer: (status: number) => void; signal: AbortSignal | undefined }[] = []
  const upload = async (wanted: Upload, signal?: AbortSignal): Promise<number> => {
    asked.push(wanted)
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    if (answer !== undefined) return answer
    return new Promise((resolve, reject) => {
      waiting.push({ answer: resolve, signal })
      signal?.addEventListener('abort', () => reject(failure('given-up')))
    })
  }
  const path = join(folder, 'r1.wav')
  writeFileSync(path, 'sound')
  const uploads = new RecordingUploads({
    http: { upload },
    folder: { fileOf: () => path },
    clock,
    log,
    metrics,
  })
  /** Waits for the end of an attempt and the timer of the next one. */
  const tried = (count: number) =>
    expect.poll(() => [asked.length, clock.running], { interval: 1, timeout: 10_000 }).toEqual([count, 1])
  const outcomes = async () => {
    const metric = await metrics.registry.getSingleMetric('trunkline_recording_uploads_total')?.get()
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.outcome, value]) ?? [])
  }
  return { clock, lines, asked, waiting, uploads, tried, outcomes }
}

describe('an upload', () => {
  it('sends the file with its type, and logs its URL without secrets', async () => {
    const { uploads, asked, lines, outcomes } = setUp(200)
    expect(await uploads.send(row, put)).toBe('https://store.example/a.wav')
    expect(asked).toMatchObject([{ ...put, contentType: 'audio/wav' }])
    const { bytes, stream } = await asked[0]!.open()
    expect([bytes, (await buffer(stream)).toString()]).toEqual([5, 'sound'])
    expect(lines).toMatchObject([
      { level: 30, recording: 'r1', call: 'c1', url: 'https://store.example/a.wav' },
    ])
    expect(JSON.stringify(lines)).not.toContain('pa55')
    expect([uploads.waiting, await outcomes()]).toEqual([0, { stored: 1 }])
  })

  it.each([
    ['a server error', 503],
    ['too many requests', 429],
    ['a connection that broke', failure('connect', { sent: true })],
    ['a silent server', failure('timeout')],
  ])('by PUT is tried again after %s', async (_what, first) => {
    const { uploads, clock, tried, outcomes } = setUp(first, 500, 200)
    const stored = uploads.send(row, put)
    await tried(1)
    clock.advance(2_000)
    await tried(2)
    clock.advance(10_000)
    expect(await stored).toBe('https://store.example/a.wav')
    expect(await outcomes()).toEqual({ later: 2, stored: 1 })
  })

  it.each([
    ['a server error', 503],
    ['a connection that broke', failure('connect', { sent: true })],
    ['a silent server', failure('timeout')],
  ])('by POST is not repeated after %s, as it may have arrived', async (_what, first) => {
    const { uploads, clock, outcomes } = setUp(first)
    expect(await uploads.send(row, post)).toBeUndefined()
    expect([clock.running, await outcomes()]).toEqual([0, { refused: 1 }])
  })

  it('by POST is repeated if its server has received nothing', async () => {
    const { uploads, clock, tried } = setUp(failure('connect', { sent: false }), 200)
    const stored = uploads.send(row, post)
    await tried(1)
    clock.advance(2_000)
    expect(await stored).toBe('https://store.example/a.wav')
  })

  it.each([403, 404, failure('address-refused'), failure('file')])(
    'is refused for good by %s',
    async (answer) => {
      const { uploads, lines, outcomes } = setUp(answer)
      expect(await uploads.send(row, put)).toBeUndefined()
      expect(await outcomes()).toEqual({ refused: 1 })
      expect(lines).toMatchObject([{ level: 40, tries: 1, reason: expect.any(String) }])
    },
  )

  it('is given up after the fourth attempt', async () => {
    const { uploads, clock, tried, outcomes } = setUp(500, 500, 500, 500)
    const stored = uploads.send(row, put)
    for (const [tries, wait] of [2_000, 10_000, 60_000].entries()) {
      await tried(tries + 1)
      clock.advance(wait)
    }
    expect(await stored).toBeUndefined()
    expect(await outcomes()).toEqual({ later: 3, 'given-up': 1 })
  })

  it('waits for its turn at its server, and for no other server', async () => {
    const { uploads, asked, waiting } = setUp()
    const first = Array.from({ length: 5 }, () => uploads.send(row, put))
    const other = uploads.send(row, { ...put, url: 'https://other.example/b' })
    await expect.poll(() => asked.length).toBe(5)
    expect([asked.at(-1)?.url, uploads.waiting]).toEqual(['https://other.example/b', 6])
    waiting[0]!.answer(200)
    await first[0]
    await expect.poll(() => asked.length).toBe(6)
    for (const { answer } of waiting) answer(200)
    await Promise.all([...first, other])
    expect(uploads.waiting).toBe(0)
  })

  it('is dropped if too many wait', async () => {
    const { uploads, waiting, outcomes } = setUp()
    const sent = Array.from({ length: 1_000 }, () => uploads.send(row, put))
    expect(await uploads.send(row, put)).toBeUndefined()
    expect(await outcomes()).toEqual({ dropped: 1 })
    const closed = uploads.close()
    for (const { answer } of waiting) answer(200)
    await closed
    await Promise.all(sent)
  })
})

describe('the end of the gateway', () => {
  it('waits for running uploads, and makes no later attempt', async () => {
    const { uploads, clock, waiting, tried, outcomes } = setUp(500)
    const later = uploads.send(row, put)
    await tried(1)
    const onItsWay = uploads.send(row, put)
    await expect.poll(() => waiting.length).toBe(1)
    const closed = uploads.close()
    waiting[0]!.answer(200)
    await closed
    expect([await later, await onItsWay]).toEqual([undefined, 'https://store.example/a.wav'])
    expect([clock.running, await outcomes()]).toEqual([0, { later: 1, stored: 1, 'given-up': 1 }])
  })

  it('does not wait for longer than 5 s', async () => {
    const { uploads, clock, waiting } = setUp()
    const sent = uploads.send(row, put)
    await expect.poll(() => waiting.length).toBe(1)
    const closed = uploads.close()
    clock.advance(5_000)
    await closed
    expect([await sent, waiting[0]!.signal?.aborted]).toEqual([undefined, true])
  })
})

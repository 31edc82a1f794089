import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StreamOptions } from '../../handlers/verbs.ts'
import { FakePort } from '../calls/testing/fake-legs.ts'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { Streams, type StreamsDeps, type StreamsOptions } from './streams.ts'
import { TestStreamServer } from './testing/stream-server.ts'

let server: TestStreamServer

beforeEach(async () => {
  server = await TestStreamServer.open()
})

afterEach(() => server.close())

const setUp = ({ guard, ...options }: Partial<StreamsOptions & StreamsDeps> = {}) => {
  const clock = new FakeClock()
  const metrics = new Metrics()
  const lines: Record<string, unknown>[] = []
  const streams = new Streams(
    { userAgent: 'Trunkline', ...options },
    {
      edge: { open: () => Promise.reject(new Error('not used')) },
      guard: guard ?? new AddressGuard(['127.0.0.0/8']),
      log: pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) }),
      clock,
      metrics,
    },
  )
  const port = new FakePort('call')
  const sent: string[] = []
  const source = { callId: 'c', projectId: 'p', port, sendDigits: (digits: string) => void sent.push(digits) }
  const start = (options: Partial<StreamOptions> = {}) =>
    streams.start(source, { url: server.url, ...options })
  /** Starts one, and waits until it is open. */
  const opened = async (options: Partial<StreamOptions> = {}) => {
    const stream = start(options)
    await vi.waitFor(() => expect(server.of('start')).toHaveLength(1))
    return { stream, tap: port.taps[0]! }
  }
  const quiet = () => vi.waitFor(() => expect([streams.running, clock.running]).toEqual([0, 0]))
  return { clock, metrics, lines, streams, port, sent, start, opened, quiet }
}

const frame = (track: 'in' | 'out', value = 1000) => ({
  track,
  atMs: 0,
  samples: new Int16Array(160).fill(value),
})
const payload = (value: number, count = 160) => Buffer.alloc(count, value).toString('base64')

describe('a stream to a WebSocket', () => {
  it('gives a leg’s audio and keys, and says when it is stopped', async () => {
    const t = setUp()
    const { stream, tap } = await t.opened({ parameters: { a: 'b' }, bearerToken: 'secret' })
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'user-agent': 'Trunkline',
    })
    expect(tap.request).toEqual({ tracks: 'in', sampleRate: 8000 })
    tap.hear(frame('in'))
    stream.digit('5')
    stream.stop()
    stream.stop()
    expect(await stream.ended).toEqual({ kind: 'stopped' })
    await t.quiet()
    expect(server.messages.map(({ event }) => event)).toEqual(['connected', 'start', 'media', 'dtmf', 'stop'])
    expect(server.messages[1]).toMatchObject({
      streamSid: stream.id,
      start: { callSid: 'c', accountSid: 'p', customParameters: { a: 'b' }, tracks: ['inbound'] },
    })
    expect(tap.closed).toBe(true)
    expect(JSON.stringify(t.lines)).not.toContain('secret')
    expect(await t.metrics.text()).toContain('streams_ended_total{kind="websocket",end="stopped"} 1')
  })

  it('lets the leg hear what comes back, tells marks after it, and drops it when it is to', async () => {
    const t = setUp()
    const { stream, tap } = await t.opened({ bidirectional: true, tracks: 'both' })
    expect(tap.request.tracks).toBe('both')
    server.tell({ event: 'media', streamSid: stream.id, media: { payload: payload(0x4e) } })
    server.tell({ event: 'mark', mark: { name: 'end' } })
    server.tell({ event: 'dtmf', dtmf: { digit: '42' } })
    await vi.waitFor(() => expect(t.sent).toEqual(['42']))
    expect(tap.output).toEqual([new Int16Array(160).fill(-988)])
    expect(server.of('mark')).toEqual([])
    tap.flush()
    await vi.waitFor(() => expect(server.of('mark')).toMatchObject([{ mark: { name: 'end' } }]))
    server.tell({ event: 'mark', mark: { name: 'dropped' } })
    server.tell({ event: 'clear' })
    await vi.waitFor(() => expect(server.of('mark')).toHaveLength(2))
    expect(tap.output).toEqual([])
    stream.stop()
    await t.quiet()
  })

  it('carries the requested codec, rate and packet size in both directions', async () => {
    const t = setUp()
    const { stream, tap } = await t.opened({
      bidirectional: true,
      codec: 'L16',
      sampleRate: 24_000,
      packetMs: 40,
    })
    expect(tap.request).toEqual({ tracks: 'in', sampleRate: 48_000 })
    const heard = { track: 'in', samples: new Int16Array(960).fill(1000) } as const
    for (const atMs of [0, 20, 40, 60]) tap.hear({ ...heard, atMs })
    await vi.waitFor(() => expect(server.of('media')).toHaveLength(2))
    const [, second] = server.of('media')
    expect(second).toMatchObject({ media: { chunk: '2', timestamp: '40' } })
    const { payload: sent } = (second?.media ?? {}) as { readonly payload?: string }
    const samples = new Int16Array(Uint8Array.from(Buffer.from(sent ?? '', 'base64')).buffer)
    expect(samples).toEqual(new Int16Array(960).fill(1000))
    server.tell({ event: 'media', media: { payload: Buffer.from(samples.buffer).toString('base64') } })
    await vi.waitFor(() => expect(tap.output).toHaveLength(1))
    expect([tap.output[0]?.length, tap.output[0]?.at(-1)]).toEqual([1920, 1000])
    stream.stop()
    await t.quiet()
  })

  it('has what is too little for a message in its last one', async () => {
    const t = setUp()
    const { stream, tap } = await t.opened({ packetMs: 60, tracks: 'both' })
    for (const atMs of [0, 20, 40, 60]) tap.hear({ ...frame('in'), atMs })
    tap.hear({ ...frame('out'), atMs: 60 })
    stream.stop()
    await t.quiet()
    const media = server.of('media').map((message) => message.media as Record<string, string>)
    expect(
      media.map(({ track, timestamp, payload: text = '' }) => [
        track,
        timestamp,
        Buffer.from(text, 'base64').length,
      ]),
    ).toEqual([
      ['inbound', '0', 480],
      ['inbound', '60', 160],
      ['outbound', '60', 160],
    ])
    expect(server.messages.at(-1)).toMatchObject({ event: 'stop' })
  })

  it('is not begun in a format that is not there', () => {
    const t = setUp()
    for (const wrong of [{ sampleRate: 16_000 }, { packetMs: 30 }, { packetMs: 140 }] as const)
      expect(() => t.start(wrong)).toThrow(expect.objectContaining({ code: 'bad_stream' }))
    expect([t.streams.running, t.clock.running]).toEqual([0, 0])
  })

  it('takes nothing back where that was not asked for', async () => {
    const t = setUp()
    const { stream, tap } = await t.opened()
    server.tell({ event: 'media', media: { payload: payload(0x4e) } })
    server.tell('{')
    server.sockets[0]?.close()
    expect(await stream.ended).toEqual({ kind: 'closed' })
    expect(tap.output).toEqual([])
    expect(t.lines.some(({ msg }) => String(msg).includes('bad message'))).toBe(false)
    await t.quiet()
  })

  it('bears bad messages, and gives up after fifty', async () => {
    const t = setUp()
    const { stream } = await t.opened({ bidirectional: true })
    for (let i = 0; i < 50; i++) server.tell(i % 2 ? '{"event":1}' : '<html>')
    expect(await stream.ended).toEqual({ kind: 'failed', reason: '50 messages could not be read' })
    await t.quiet()
  })

  it('goes on with another port, also where that is known before there is a connection', async () => {
    const t = setUp()
    const second = new FakePort('call')
    const third = new FakePort('call')
    const stream = t.start()
    stream.moveTo(second)
    await vi.waitFor(() => expect(second.taps).toHaveLength(1))
    expect(t.port.taps).toEqual([])
    stream.moveTo(third)
    await second.close()
    second.taps[0]?.hear(frame('in'))
    await vi.waitFor(() => expect(server.of('media')).toHaveLength(1))
    await third.close()
    stream.stop()
    expect(await stream.ended).toEqual({ kind: 'stopped' })
    await t.quiet()
  })

  it('ends with its port', async () => {
    const t = setUp()
    const { stream } = await t.opened()
    await t.port.close()
    expect(await stream.ended).toEqual({ kind: 'stopped' })
    await t.quiet()
  })

  it('is given up when its far side takes nothing', async () => {
    const t = setUp()
    const { stream, tap } = await t.opened({ codec: 'L16' })
    server.sockets[0]?.pause()
    let ended = false
    void stream.ended.then(() => {
      ended = true
    })
    const second = { track: 'in' as const, atMs: 0, samples: new Int16Array(16_000) }
    for (let i = 0; i < 2000 && !ended; i++) {
      tap.hear(second)
      await Promise.resolve()
    }
    expect(await stream.ended).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('too slowly'),
    })
    await t.quiet()
  })

  it('waits no longer for the end of the connection than 2 s', async () => {
    const t = setUp()
    const { stream } = await t.opened()
    server.sockets[0]?.pause()
    stream.stop()
    expect(t.streams.running).toBe(1)
    t.clock.advance(2000)
    await t.quiet()
  })
})

describe('a far side that a stream cannot reach', () => {
  it('is an address without a server', async () => {
    const t = setUp()
    const stream = t.start({ url: 'ws://127.0.0.1:1/?key=secret' })
    expect(await stream.ended).toEqual({ kind: 'failed', reason: 'ECONNREFUSED' })
    await t.quiet()
    expect(t.lines.at(-1)).toMatchObject({ reason: 'ECONNREFUSED', url: 'ws://127.0.0.1:1/' })
  })

  it('is a private address, nor a name that has one', async () => {
    const guard = new AddressGuard([])
    const t = setUp({
      guard,
      resolve: (_, done) =>
        done(null, [
          { address: '192.0.43.7', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    })
    expect(() => t.start()).toThrow('127.0.0.1 is not public')
    expect(() => t.start({ url: 'ws://[::ffff:10.0.0.1]/' })).toThrow('is not public')
    const stream = t.start({ url: `ws://ai.example:${server.port}/` })
    expect(await stream.ended).toEqual({ kind: 'failed', reason: 'the address 127.0.0.1 is not permitted' })
    expect(server.requests).toEqual([])
    await t.quiet()
  })

  it('is a server that does not answer in time, and one that is not wanted any more', async () => {
    const t = setUp({ resolve: () => {} })
    const late = t.start({ url: 'ws://ai.example/' })
    t.clock.advance(5000)
    expect(await late.ended).toEqual({ kind: 'failed', reason: 'there was no connection within 5000 ms' })
    const given = t.start({ url: 'ws://ai.example/' })
    t.streams.close()
    expect(await given.ended).toEqual({ kind: 'stopped' })
    await t.quiet()
    expect(t.port.taps).toEqual([])
  })

  it('is anything by a token that is no header', () => {
    const t = setUp()
    expect(() => t.start({ bearerToken: 'a\r\nb: c' })).toThrow(
      expect.objectContaining({ code: 'bad_stream' }),
    )
    expect(t.streams.running).toBe(0)
  })
})

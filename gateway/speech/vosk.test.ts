import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RecognitionRequest, Transcript } from '../../media/types.ts'
import { FakeClock } from '../core/clock.ts'
import { TestVoskServer } from './testing/vosk-server.ts'
import { VoskRecogniser } from './vosk.ts'

let server: TestVoskServer

beforeEach(async () => {
  server = await TestVoskServer.open()
})

afterEach(() => server.close())

const setUp = (options: Partial<ConstructorParameters<typeof VoskRecogniser>[0]> = {}) => {
  const clock = new FakeClock()
  const results: string[] = []
  const recogniser = new VoskRecogniser({
    url: server.url,
    languages: {},
    headers: {},
    hints: true,
    connectTimeoutMs: 2000,
    clock,
    onEnd: (result) => results.push(result),
    ...options,
  })
  const reports: (Transcript | Error)[] = []
  const open = (request: Partial<RecognitionRequest> = {}) =>
    recogniser.open(
      { sampleRate: 8000, ...request },
      { onTranscript: (transcript) => reports.push(transcript), onFailure: (error) => reports.push(error) },
    )
  const session = () =>
    vi.waitFor(() => expect(server.sessions[0]?.config[0]).toBeDefined()).then(() => server.sessions[0]!)
  return { clock, recogniser, results, reports, open, session }
}

const audio = (...samples: number[]) => Int16Array.from(samples)

describe('a recogniser with the protocol of vosk-server', () => {
  it('sends configuration and audio, tells transcripts, and the last one after the end', async () => {
    const t = setUp({ headers: { 'x-tenant': 'demo' }, token: 'secret' })
    server.last = { text: 'two', result: [{ conf: 0.9 }] }
    const recognition = t.open({ sampleRate: 16_000, hints: ['One'] })
    const session = await t.session()
    expect(session.headers).toMatchObject({ authorization: 'Bearer secret', 'x-tenant': 'demo' })
    expect(session.config).toEqual([{ sample_rate: 16_000, phrase_list: ['one', '[unk]'] }])
    recognition.write(audio(1, -2, 300))
    await vi.waitFor(() => expect(session.heard.toString('hex')).toBe('0100feff2c01'))
    session.send({ partial: 'one' })
    session.send({ text: 'one' })
    await vi.waitFor(() => expect(t.reports).toHaveLength(2))
    await recognition.end()
    expect(session.eof).toBe(true)
    expect(t.reports).toEqual([
      { text: 'one', isFinal: false },
      { text: 'one', isFinal: true },
      { text: 'two', isFinal: true, confidence: 0.9 },
    ])
    expect(t.results).toEqual(['ok'])
    expect([t.recogniser.running, t.clock.running]).toEqual([0, 0])
  })

  it('keeps the last 5 s of what is said before the connection is there, also when it ends before', async () => {
    const t = setUp()
    server.last = { text: 'late' }
    const recognition = t.open()
    const second = new Int16Array(8000)
    for (let i = 1; i <= 7; i++) recognition.write(second.fill(i))
    await recognition.end()
    const [session] = server.sessions
    expect(session?.heard).toHaveLength(5 * 16_000)
    expect(session?.heard.readInt16LE(0)).toBe(3)
    expect(t.reports).toEqual([{ text: 'late', isFinal: true }])
  })

  it('goes where the language is understood', async () => {
    const t = setUp({ languages: { de: `${server.url}/german`, 'de-at': `${server.url}/austrian` } })
    for (const language of ['de-DE', 'DE-at', 'fr', undefined])
      t.open(language === undefined ? {} : { language })
    await vi.waitFor(() => expect(server.sessions).toHaveLength(4))
    expect(server.sessions.map(({ path }) => path).sort()).toEqual(['/', '/', '/austrian', '/german'])
    await t.recogniser.close()
    expect(t.results).toEqual(Array(4).fill('given-up'))
    expect(t.reports).toEqual([])
  })

  it('sends no phrases where hints are off', async () => {
    const t = setUp({ hints: false })
    t.open({ hints: ['one'] })
    expect((await t.session()).config).toEqual([{ sample_rate: 8000 }])
    await t.recogniser.close()
  })

  it('does not wait for the last transcript for more than 3 s', async () => {
    const t = setUp()
    server.last = undefined
    const recognition = t.open()
    const session = await t.session()
    const ended = recognition.end()
    await vi.waitFor(() => expect(session.eof).toBe(true))
    t.clock.advance(3000)
    await ended
    expect(t.results).toEqual(['failed'])
    expect(t.reports).toEqual([])
  })

  it('gives up at once when it is closed, whatever the server says then', async () => {
    const t = setUp()
    const recognition = t.open()
    const session = await t.session()
    session.send({ text: 'too late' })
    recognition.close()
    recognition.close()
    await vi.waitFor(() => expect(session.socket.readyState).toBe(session.socket.CLOSED))
    recognition.write(audio(1))
    await recognition.end()
    expect([t.reports, t.results]).toEqual([[], ['given-up']])
  })
})

describe('failures of such a recogniser', () => {
  it('reports once that the server is unreachable', async () => {
    const t = setUp({ url: 'ws://127.0.0.1:1' })
    const recognition = t.open()
    await vi.waitFor(() => expect(t.reports).toHaveLength(1))
    expect(String(t.reports[0])).toContain('ECONNREFUSED')
    recognition.close()
    expect([t.results, t.clock.running]).toEqual([['failed'], 0])
  })

  it('tells that a token is no header, and not what it is', async () => {
    const t = setUp({ token: 'secret\n' })
    const recognition = t.open()
    recognition.write(audio(1))
    await recognition.end()
    expect(String(t.reports[0])).toContain('ERR_INVALID_CHAR')
    expect(String(t.reports[0])).not.toContain('secret')
    expect([t.results, t.recogniser.running]).toEqual([['failed'], 0])
  })

  it('tells the status with which the server refuses', async () => {
    const t = setUp({ url: `${server.url}/x` })
    server.refuse = true
    t.open()
    await vi.waitFor(() => expect(t.reports).toHaveLength(1))
    expect(String(t.reports[0])).toContain('401')
  })

  it('gives up a connection after the configured time', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const t = setUp({ url: `ws://127.0.0.1:${(silent.address() as { port: number }).port}` })
    t.open()
    t.clock.advance(1999)
    expect(t.reports).toEqual([])
    t.clock.advance(1)
    expect(String(t.reports[0])).toContain('within 2000 ms')
    await new Promise((resolve) => silent.close(resolve))
  })

  it('tells that the connection was lost, and does not connect again', async () => {
    const t = setUp()
    const recognition = t.open()
    const session = await t.session()
    session.socket.terminate()
    await vi.waitFor(() => expect(t.reports).toHaveLength(1))
    expect(String(t.reports[0])).toContain('closed the connection')
    recognition.write(audio(1))
    expect(server.sessions).toHaveLength(1)
  })

  it('tells of a message that cannot be read', async () => {
    const t = setUp()
    t.open()
    ;(await t.session()).send('<html>')
    await vi.waitFor(() => expect(String(t.reports[0])).toContain('a JSON object expected'))
    expect(t.results).toEqual(['failed'])
  })

  it('gives a server up that is 5 s behind', async () => {
    const t = setUp()
    const recognition = t.open({ sampleRate: 48_000 })
    const session = await t.session()
    // It stops to read, so that the buffers between fill up.
    session.socket.pause()
    const second = new Int16Array(48_000)
    for (let i = 0; i < 200 && t.reports.length === 0; i++) recognition.write(second)
    expect(String(t.reports[0])).toContain('5000 ms behind')
    expect(t.results).toEqual(['failed'])
  })
})

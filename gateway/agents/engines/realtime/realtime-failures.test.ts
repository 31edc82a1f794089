import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { frameOf } from '../session/testing/engine-recorder.ts'
import { EngineServer } from '../session/testing/engine-server.ts'
import { audio, called, created, done, setUp, setUpReady } from './testing/realtime-session.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

describe('failures of a Realtime session', () => {
  it.each([
    [401, 'unauthorised'],
    [429, 'limited'],
    [404, 'refused'],
    [302, 'refused'],
    [503, 'server'],
  ])('classifies status %i as %s', async (status, kind) => {
    server.status = status
    const { events, engine, clock } = setUp(server)
    expect(await events.failure()).toEqual({
      kind,
      part: 'oai',
      message: `the server answered with status ${status}`,
    })
    expect([engine.sessions, clock.running]).toEqual([0, 0])
  })

  it('names the fault of the configuration, without the key', async () => {
    const { events } = setUp(server)
    const far = await server.connection()
    far.send({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'model_not_found', message: 'No m1 for secret' },
    })
    expect(await events.failure()).toMatchObject({
      kind: 'refused',
      message: 'model_not_found: No m1 for …',
    })
  })

  it('fails when credit is exhausted, and once only', async () => {
    const { far, events } = await setUpReady(server)
    const error = { type: 'error', error: { code: 'insufficient_quota', message: 'text' } }
    far.send(error, error)
    expect(await events.failure()).toMatchObject({ kind: 'limited', message: 'insufficient_quota' })
    await vi.waitFor(() => expect(far.socket.readyState).toBe(far.socket.CLOSED))
    expect(events.of('failure')).toHaveLength(1)
  })

  it('has a limit for the time until it is ready', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const { clock, events } = setUp(server, { url: `ws://127.0.0.1:${port}`, readyTimeoutMs: 4000 })
    clock.advance(4000)
    expect(await events.failure()).toMatchObject({ kind: 'timeout' })
    expect(clock.running).toBe(0)
    await new Promise((resolve) => silent.close(resolve))
  })

  it('finds a connection half open by its silence', async () => {
    const { far, clock, events } = await setUpReady(server)
    far.socket.pause()
    for (let i = 0; i < 3; i++) clock.advance(5000)
    expect(await events.failure()).toMatchObject({
      kind: 'timeout',
      message: 'the server sent nothing for 15000 ms',
    })
  })

  it('stays open where the server answers pings', async () => {
    const { far, clock, events, link } = await setUpReady(server)
    for (let i = 0; i < 8; i++) {
      clock.advance(5000)
      await far.settled()
    }
    expect(events.of('failure')).toEqual([])
    link.close()
    await vi.waitFor(() => expect(far.socket.readyState).toBe(far.socket.CLOSED))
    await vi.waitFor(() => expect(clock.running).toBe(0))
  })

  it.each([
    ['rate_limit_exceeded', 'limited'],
    ['server_error', 'server'],
    ['invalid_value', 'server'],
  ])('ends with an answer that fails by %s before anything of it was sent', async (code, kind) => {
    const { far, events } = await setUpReady(server)
    const response = { id: 'r', status: 'failed', status_details: { type: 'failed', error: { code } } }
    far.send(created('r'), { type: 'response.done', response })
    expect(await events.failure()).toEqual({ kind, part: 'oai', message: code })
  })

  it('ends with an answer that fails after its calls, which are not made, and without a word', async () => {
    const { far, events } = await setUpReady(server)
    const error = { code: 'server_error' }
    far.send(created('r'), called('r', 'a'), done('r', { status: 'failed', status_details: { error } }))
    expect(await events.failure()).toEqual({ kind: 'server', part: 'oai', message: 'server_error' })
    expect(events.of('call')).toEqual([])
  })

  it('tolerates some messages that cannot be read', async () => {
    const { far, events } = await setUpReady(server)
    for (let i = 0; i < 20; i++) far.send('<html>')
    await far.settled()
    expect([events.of('warning').length, events.of('failure').length]).toEqual([20, 0])
    far.send('[1]')
    expect(await events.failure()).toMatchObject({ kind: 'protocol' })
  })

  it('rejects 10 MiB of audio in one message', async () => {
    const { far, events } = await setUpReady(server)
    far.send(created('r'), { ...audio('r', 'i', 0), delta: 'A'.repeat(14_700_000) })
    expect(await events.failure()).toMatchObject({ kind: 'protocol' })
  })

  it('rejects minutes of audio in one message', async () => {
    const { far, events } = await setUpReady(server)
    far.send(created('r'), { ...audio('r', 'i', 0), delta: 'A'.repeat(4_200_000) })
    expect(await events.failure()).toMatchObject({ kind: 'protocol' })
    expect(events.audio).toEqual([])
  })

  it('reports a close in the middle of an answer', async () => {
    const { far, events, link } = await setUpReady(server)
    far.send(created('r'), audio('r', 'i', 20))
    await events.until('audio')
    far.socket.close(1011, 'overloaded')
    expect(await events.failure()).toMatchObject({
      kind: 'server',
      message: 'the server closed the connection (1011): overloaded',
    })
    link.hear(frameOf(8000))
    link.say('x')
    link.interrupt(undefined, false)
    link.close()
    expect(events.of('failure')).toHaveLength(1)
  })

  it('reports that the server takes the audio too slowly', async () => {
    const { far, events, link } = await setUpReady(server, { format: 'pcm24000' })
    far.socket.pause()
    for (let i = 0; i < 100_000 && events.of('failure').length === 0; i++) link.hear(frameOf(48_000, i))
    expect(await events.failure()).toMatchObject({ kind: 'connection' })
  })

  it('passes on a minute of audio that comes at once', async () => {
    const { far, events } = await setUpReady(server)
    far.send(created('r'))
    for (let i = 0; i < 600; i++) far.send(audio('r', 'i', 100))
    far.send(done('r'))
    await events.until('answer-end')
    expect(events.audio.reduce((sum, { length }) => sum + length, 0)).toBe(60 * 8000)
  })
})

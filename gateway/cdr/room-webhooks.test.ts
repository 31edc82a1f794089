import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CallbackOutbox } from '../callbacks/callback-outbox.ts'
import { Signer } from '../callbacks/signatures.ts'
import { closeAll, make, serve } from '../callbacks/testing/customer-servers.ts'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { migrate } from '../directory/migrations/run.ts'
import { openSqliteStore } from '../directory/store/sqlite.ts'
import { CallbackRows } from '../directory/tables/callbacks.ts'
import { RoomSessionRows } from '../directory/tables/room-sessions.ts'
import { SampleRoom } from '../rooms/testing/sample-room.ts'
import { endLostRooms } from './lost-rooms.ts'
import { RoomHistory } from './room-history.ts'

afterEach(closeAll)

const key = 'a-signing-key'

/** A history whose events reach real servers through the outbox. */
const setUp = async (allowedNetworks: readonly string[]) => {
  const clock = new FakeClock()
  const store = openSqliteStore(':memory:')
  await migrate(store, clock)
  const metrics = new Metrics()
  const log = pino({ level: 'silent' })
  const http = make({ clock, allowedNetworks, signer: () => new Signer([key]) })
  const rows = new CallbackRows(store, 'node-1')
  const callbacks = await CallbackOutbox.open({ rows, http, isSure: () => true, clock, metrics, log })
  const history = await RoomHistory.open(
    { rows: new RoomSessionRows(store), nodeId: 'node-1', callbacks, clock, log, metrics },
    { keepMs: 1e12, wasThereAt: 0, end: endLostRooms(clock), onCallbacks: () => {} },
  )
  const start = (url: string) => {
    const statusTarget = { url, method: 'POST' } as const
    const room = new SampleRoom({ statusTarget }, 'speaker', { id: randomUUID(), clock })
    history.watch(room.session)
    return room
  }
  const outcomes = async () =>
    (await metrics.callbacks.get()).values.map(({ labels, value }) => [labels.kind, labels.outcome, value])
  const close = async () => {
    await history.close()
    await callbacks.close()
    await store.destroy()
  }
  return { clock, callbacks, start, outcomes, close }
}

describe('events of a room for the server of a customer', () => {
  const answering: RequestListener = (_request, response) => void response.writeHead(204).end()

  it('arrive in order and signed, each with its id and place', async () => {
    const server = await serve(answering)
    const { callbacks, start, outcomes, close } = await setUp(['127.0.0.1/32'])
    const room = start(`${server.url}/rooms?key=1`)
    for (const name of ['Ann', 'Bob']) room.join(randomUUID(), { name })
    room.session.end()
    await vi.waitFor(() => expect(callbacks.waiting).toBe(0))
    const bodies = server.seen.map(({ body }) => JSON.parse(body))
    expect(bodies.map((body) => [body.event_type, body.params.member?.name])).toEqual([
      ['video.room.started', undefined],
      ['video.member.joined', 'Ann'],
      ['video.member.joined', 'Bob'],
      ['video.member.left', 'Ann'],
      ['video.member.left', 'Bob'],
      ['video.room.ended', undefined],
    ])
    expect(bodies.map(({ params }) => params.sequence)).toEqual([1, 2, 3, 4, 5, 6])
    expect(new Set(bodies.map((body) => body.event_id)).size).toBe(6)
    for (const { request, body } of server.seen) {
      const signed = {
        url: `${server.url}/rooms?key=1`,
        body: { contentType: 'application/json', text: body },
      }
      const { 'webhook-id': id, 'webhook-timestamp': at } = request.headers
      const expected = new Signer([key]).headers({ ...signed, id: String(id), at: Number(at) * 1000 })
      expect(request.headers).toMatchObject(expected)
    }
    expect(await outcomes()).toEqual([['room', 'delivered', 6]])
    await close()
  })

  it('are repeated if the server is out of order, and keep their place', async () => {
    let answers = 0
    const server = await serve(
      (_request, response) => void response.writeHead(++answers === 2 ? 503 : 204).end(),
    )
    const { clock, callbacks, start, close } = await setUp(['127.0.0.1/32'])
    const room = start(server.url)
    room.join(randomUUID())
    await vi.waitFor(() => expect(answers).toBe(2))
    await vi.waitFor(() => {
      clock.advance(1_000)
      expect(callbacks.waiting).toBe(0)
    })
    const [, first, again] = server.seen
    expect(again?.body).toBe(first?.body)
    expect(again?.request.headers['webhook-id']).toBe(first?.request.headers['webhook-id'])
    await close()
  })

  it('are not sent to an address that customers must not reach', async () => {
    const server = await serve(answering)
    const { callbacks, start, outcomes, close } = await setUp([])
    start(server.url).join(randomUUID())
    await vi.waitFor(() => expect(callbacks.waiting).toBe(0))
    expect(server.seen).toEqual([])
    expect(await outcomes()).toEqual([['room', 'refused', 2]])
    await close()
  })
})

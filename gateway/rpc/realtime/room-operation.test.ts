import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RoomOptions, VerbFailed } from '../../../handlers/verbs.ts'
import { nextOf, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const membership = { roomId: 'r-1', roomSessionId: 's-1', memberId: 'm-1' }
const ids = { room_id: 'r-1', room_session_id: 's-1', member_id: 'm-1' }

/** Opens an application with a call that stays in a room until `removed` resolves, or it leaves. */
const inRoom = async () => {
  const opened = await gateway.taken()
  const removed = Promise.withResolvers<void>()
  opened.call.during.set('joinRoom', ({ signal, onJoined }: RoomOptions) => {
    onJoined?.(membership)
    signal?.addEventListener('abort', () => removed.reject(signal.reason), { once: true })
    return removed.promise
  })
  expect(await opened.ask('calling.join_room', { name: 'lounge' })).toMatchObject({
    code: '200',
    call_id: 'c-1',
    node_id: 'node-1',
  })
  expect(await nextOf(opened.application, 'room')).toEqual({ name: 'lounge', state: 'joined', ...ids })
  return { ...opened, removed }
}

describe('a call in a room', () => {
  it('leaves it by a request, whose reply follows the event, and can join another', async () => {
    const { ask, application, call } = await inRoom()
    expect(call.verbs.at(-1)?.[1]).toMatchObject({ name: 'lounge' })
    expect(await ask('calling.leave_room')).toMatchObject({ code: '200', call_id: 'c-1' })
    const event = application.socket.frames.findIndex(({ method }) => method === 'signalwire.event')
    expect(event).toBeGreaterThanOrEqual(0)
    expect(await nextOf(application, 'room')).toEqual({
      name: 'lounge',
      state: 'left',
      reason: 'left',
      ...ids,
    })
    expect(await ask('calling.leave_room')).toMatchObject({ code: '409' })
    expect(await ask('calling.join_room', { name: '/private/board' })).toMatchObject({ code: '200' })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({ name: '/private/board' })
  })

  it('is reported when it is removed', async () => {
    const { application, removed } = await inRoom()
    removed.resolve()
    expect(await nextOf(application, 'room')).toMatchObject({ state: 'left', ...ids })
  })

  it('has no other party at the same time', async () => {
    const { ask } = await inRoom()
    expect(await ask('calling.join_room', { name: 'attic' })).toMatchObject({ code: '409' })
    const devices = [[{ type: 'phone', params: { to_number: '+15550001', from_number: '+15550002' } }]]
    expect(await ask('calling.connect', { tag: 't', devices })).toMatchObject({ code: '409' })
  })

  it('reports that it has left before the call ends', async () => {
    const { application, call, over } = await inRoom()
    call.end()
    await over
    expect(await nextOf(application, 'room')).toMatchObject({ state: 'left' })
    expect(application.story.slice(-3)).toEqual(['state ending', 'room left', 'state ended'])
  })
})

describe('a call that cannot join a room', () => {
  it('goes on, and the event has the error', async () => {
    const { ask, application, call } = await gateway.taken()
    call.failing.set('joinRoom', new VerbFailed('room_locked', 'The room is locked.'))
    await ask('calling.join_room', { name: 'lounge' })
    expect(await nextOf(application, 'room')).toEqual({
      name: 'lounge',
      state: 'failed',
      error: 'room_locked',
      message: expect.any(String),
    })
    call.failing.clear()
    await ask('calling.join_room', { name: 'lounge' })
    expect(await nextOf(application, 'room')).toMatchObject({ state: 'left' })
  })

  it.each([undefined, '', 7, 'a b', '/a/b/c', 'x'.repeat(101)])('rejects the name %o', async (name) => {
    const { ask, call } = await gateway.taken()
    const refused = await ask('calling.join_room', { name })
    expect(refused).toMatchObject({ code: '400', message: expect.stringMatching(/^name: /) })
    expect(call.names).toEqual([])
  })
})

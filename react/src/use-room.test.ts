// @vitest-environment happy-dom
import { type Call, ClientError } from '@trunkline/client'
import { act } from 'react'
import { expect, it } from 'vitest'
import { FakeCall, FakeRoom } from './testing/fakes.ts'
import { rendered } from './testing/rendered.ts'
import { useRoom } from './use-room.ts'

it('the room of a call is up to date, from joining until the end', async () => {
  const made = new FakeCall()
  const hook = await rendered((call: Call | undefined) => useRoom(call), made.call)
  expect(hook.value).toBeUndefined()
  const room = new FakeRoom()
  await act(async () => made.enters(room))
  expect(hook.value).toMatchObject({ name: 'Lounge', isLocked: false, layouts: [] })
  room.isLocked = true
  await act(async () => made.events.emit('call.updated', { room_session: {} }))
  expect(hook.value?.isLocked).toBe(true)
  room.layouts = ['grid-responsive', '1x1']
  await act(async () => room.events.emit('layouts', { layouts: room.layouts }))
  expect(hook.value?.layouts).toEqual(['grid-responsive', '1x1'])
  made.room = undefined
  await act(async () =>
    made.events.emit('destroy', { reason: new ClientError('normal', 'The call has ended.') }),
  )
  expect(hook.value).toBeUndefined()
  expect(room.events.size).toBe(0)
})

it('an event that changes nothing does not render the component again, and no listener stays', async () => {
  const made = new FakeCall()
  const room = new FakeRoom()
  made.enters(room)
  const hook = await rendered((call: Call | undefined) => useRoom(call), made.call)
  const { count } = hook
  await act(async () => made.events.emit('memberList.updated', { members: [] }))
  expect(hook.count).toBe(count)
  await hook.unmount()
  expect([made.events.size, room.events.size]).toEqual([0, 0])
})

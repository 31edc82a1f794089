// @vitest-environment happy-dom
import type { Call, RoomTrack } from '@trunkline/client'
import { act } from 'react'
import { expect, it } from 'vitest'
import { FakeCall } from './testing/fakes.ts'
import { rendered } from './testing/rendered.ts'
import { useRoomTracks } from './use-room-tracks.ts'

it('the separate cameras of a call are up to date, and empty without a call', async () => {
  const made = new FakeCall()
  const hook = await rendered((call: Call | undefined) => useRoomTracks(call), made.call as Call | undefined)
  expect(hook.value.size).toBe(0)
  const track: RoomTrack = { memberId: 'm2', kind: 'camera', track: {} as MediaStreamTrack, layer: 0 }
  await act(async () => made.assigns(track))
  expect([...hook.value.values()]).toEqual([track])
  await hook.render(undefined)
  expect(hook.value.size).toBe(0)
  expect(made.events.size).toBe(0)
  await hook.unmount()
})

/** Manifest of a long recording, with a room of which only the layout changes. */
import { expect, it } from 'vitest'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { RoomEvent } from '../../rooms/room-types.ts'
import type { RecordingManifest } from '../audio/recording-store.ts'
import { MemberRecordings, type MemberRecordingsDeps, type RecordedRoom } from './member-recordings.ts'
import { RecordedTime } from './recorded-time.ts'

it('has at most 5,000 moments, and is saved only once after these', async () => {
  let now = 0
  let layoutName = 'none'
  let emit: (event: RoomEvent) => void = () => {}
  let last: RecordingManifest | undefined
  let saved = 0
  const session: Partial<RoomSession> = {
    id: 's1',
    settings: { name: 'lounge' } as RoomSession['settings'],
    members: [],
    speakers: [],
    layoutFor: () => ({ layers: [] }) as unknown as ReturnType<RoomSession['layoutFor']>,
    listen: (listener) => {
      emit = listener
      return () => {}
    },
  }
  Object.defineProperty(session, 'layoutName', { get: () => layoutName })
  const save = (manifest: RecordingManifest) => {
    last = manifest
    saved++
  }
  const recordings = new MemberRecordings(
    { session, portOf: () => undefined } as unknown as RecordedRoom,
    {
      place: { pathOf: (name: string) => name, save },
      time: new RecordedTime({ now: () => now, uptime: () => now }),
    } as unknown as MemberRecordingsDeps,
  )
  const change = async () => {
    now += 1000
    layoutName = String(now)
    emit({ kind: 'room.updated', updated: ['layout_name'] })
    await Promise.resolve()
  }
  for (let i = 0; i < 5_000; i++) await change()
  const before = saved
  for (let i = 0; i < 10; i++) await change()
  expect([saved - before, last!.timeline.length, last!.timeline.at(-1)!.at]).toEqual([0, 5_000, 4_999])
  recordings.stop()
  expect([saved - before, last!.timeline.length, last!.is_truncated]).toEqual([1, 5_000, true])
  await recordings.done
})

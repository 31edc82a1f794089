import { beforeEach, describe, expect, it } from 'vitest'
import { SampleRoom } from './testing/sample-room.ts'

describe('the recordings of a room session', () => {
  let room: SampleRoom
  beforeEach(() => {
    room = new SampleRoom()
    room.join('A')
    room.takeEvents()
  })
  const recordings = () => room.session.recordings
  const settled = () => new Promise(setImmediate)

  it('are started, paused, resumed and stopped, and the room says whether one is in progress', async () => {
    const { id } = recordings().start()
    expect(room.takeEvents()).toEqual(['recording.started recording-0 recording', 'room.updated recording'])
    expect(recordings().isRecording).toBe(true)
    room.clock.advance(2000)
    recordings().pause(id)
    room.clock.advance(5000)
    expect(recordings().list).toMatchObject([{ id, state: 'paused', durationMs: 2000 }])
    recordings().resume(id)
    room.clock.advance(1000)
    recordings().stop(id)
    expect(room.takeEvents()).toEqual([
      'recording.updated recording-0 paused',
      'recording.updated recording-0 recording',
    ])
    expect(room.recordings[0]!.calls).toEqual(['pause', 'resume', 'stop'])
    room.recordings[0]!.complete({ durationMs: 2990 })
    await settled()
    expect(room.takeEvents()).toEqual(['recording.ended recording-0 completed', 'room.updated recording'])
    expect(recordings().list).toMatchObject([{ state: 'completed', durationMs: 2990 }])
    expect([recordings().isRecording, recordings().list[0]!.endedAt]).toEqual([false, room.clock.now()])
  })

  it('repeat no request that has no effect, and know no recording that has ended', async () => {
    const { id } = recordings().start()
    recordings().resume(id)
    recordings().pause(id)
    recordings().pause(id)
    expect(room.recordings[0]!.calls).toEqual(['pause'])
    room.recordings[0]!.complete({ durationMs: 0 })
    await settled()
    for (const act of ['pause', 'resume', 'stop'] as const)
      for (const unknown of [id, 'other'])
        expect(() => recordings()[act](unknown)).toThrow(
          expect.objectContaining({ code: 'unknown_recording' }),
        )
  })

  it('that fail are reported as failed, with the duration of what was kept', async () => {
    const { id } = recordings().start()
    room.clock.advance(5000)
    room.takeEvents()
    room.recordings[0]!.complete({ durationMs: 3000, kind: 'error' })
    await settled()
    expect(room.takeEvents()).toEqual(['recording.ended recording-0 failed', 'room.updated recording'])
    expect(recordings().list).toMatchObject([{ id, state: 'failed', durationMs: 3000 }])
    expect(recordings().isRecording).toBe(false)
    expect(() => recordings().pause(id)).toThrow(expect.objectContaining({ code: 'unknown_recording' }))
    room.session.leave('A', 'left')
    expect(room.takeEvents().at(-1)).toBe('room.ended')
    expect(recordings().list).toMatchObject([{ state: 'failed' }])
  })

  it('have files of members if the room or the request says so', () => {
    recordings().start()
    recordings().start({ hasMembers: true })
    expect(room.terms).toEqual([{ hasMembers: false }, { hasMembers: true }])
    const other = new SampleRoom({ recordMembers: true })
    other.join('A')
    other.session.recordings.start()
    other.session.recordings.start({ hasMembers: false })
    expect(other.terms).toEqual([{ hasMembers: true }, { hasMembers: false }])
  })

  it('are at most three at once, of which each has its events', async () => {
    for (let i = 0; i < 3; i++) recordings().start()
    expect(() => recordings().start()).toThrow(expect.objectContaining({ code: 'too_many_recordings' }))
    room.takeEvents()
    room.recordings[1]!.complete({ durationMs: 1 })
    await settled()
    expect(room.takeEvents()).toEqual(['recording.ended recording-1 completed'])
    recordings().start()
    expect(recordings().list.map(({ state }) => state)).toEqual([
      'recording',
      'completed',
      'recording',
      'recording',
    ])
  })

  it('end with the session, before its last event', async () => {
    recordings().start()
    room.clock.advance(3000)
    room.takeEvents()
    room.session.leave('A', 'left')
    expect(room.recordings[0]!.calls).toEqual(['stop'])
    expect(room.takeEvents().slice(-3)).toEqual([
      'recording.ended recording-0 completed',
      'room.updated recording',
      'room.ended',
    ])
    expect(recordings().list).toMatchObject([{ state: 'completed', durationMs: 3000 }])
    room.recordings[0]!.complete({ durationMs: 3000 })
    await settled()
    expect(room.takeEvents()).toEqual([])
    expect(() => recordings().start()).toThrow(expect.objectContaining({ code: 'room_ended' }))
  })
})

/** Recordings of rooms with fake media: failures, and the files of members. */
import { beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../testing/calls-fixture.ts'
import { FakeVideo } from '../testing/fake-legs.ts'
import { type JoinedCaller, RoomsFixture, seatOf, sourceOf } from '../testing/rooms-fixture.ts'

let fixture: RoomsFixture
beforeEach(() => {
  fixture = new RoomsFixture()
})

const sessionOf = (page: JoinedCaller) => seatOf(page).session

describe('a room that is recorded from its start', () => {
  const attempts = () => fixture.recordings.roomOrders.length + fixture.recordings.refusals
  const failure = { kind: 'error', code: 'ENOSPC', message: 'no space' } as const
  beforeEach(() => {
    fixture.details = { recordOnStart: true }
  })

  it('is recorded again after a fault, at most four times', async () => {
    const page = await fixture.join('Ann')
    for (const waitMs of [2000, 10_000, 60_000, 300_000]) {
      fixture.recorder.recordings.at(-1)!.finish(failure)
      await settle()
      const before = attempts()
      fixture.clock.advance(waitMs - 1)
      expect(attempts()).toBe(before)
      fixture.clock.advance(1)
      expect(attempts()).toBe(before + 1)
      expect(sessionOf(page).recordings.isRecording).toBe(true)
    }
    fixture.recorder.recordings.at(-1)!.finish(failure)
    await settle()
    fixture.clock.advance(10_000_000)
    expect(attempts()).toBe(5)
    expect(sessionOf(page).recordings.list.map(({ state }) => state)).toEqual(Array(5).fill('failed'))
    const lines = fixture.lines.filter(({ event }) => event === 'room.recording-failed')
    expect(lines.map(({ waitMs }) => waitMs)).toEqual([2000, 10_000, 60_000, 300_000, undefined])
  })

  it('is recorded as soon as a recording can begin', async () => {
    fixture.recordings.refusal = new Error('disk full')
    const page = await fixture.join('Ann')
    await fixture.join()
    expect(attempts()).toBe(1)
    fixture.recordings.refusal = undefined
    fixture.clock.advance(2000)
    expect(sessionOf(page).recordings.isRecording).toBe(true)
  })

  it('is not recorded again after a member has stopped it, or after its end', async () => {
    const page = await fixture.join('Ann')
    sessionOf(page).recordings.stop(sessionOf(page).recordings.list[0]!.id)
    await settle()
    const { running } = fixture.clock
    fixture.recordings.refusal = new Error('disk full')
    const other = await fixture.join('Eve', 'q')
    other.leg.ended({ code: 'normal' })
    await settle()
    fixture.clock.advance(10_000_000)
    expect([attempts(), fixture.clock.running]).toEqual([2, running])
  })
})

describe('the files of members', () => {
  const showing = () => Object.assign(new FakeVideo(), { isSending: true, isReceiving: true })
  const paths = () => fixture.recorder.tracks.map(({ request }) => request.path.split('/').at(-1))
  const calls = () => fixture.recorder.tracks.map((track) => track.calls)
  const manifest = () => fixture.recordings.manifests.at(-1)!
  beforeEach(() => {
    fixture.details = { recordMembers: true }
  })

  /** A page with a camera and Opus in a room that is recorded. */
  const recorded = async () => {
    const page = await fixture.join('Ann')
    fixture.recorder.opus.add(page.audio)
    seatOf(page).showVideo(showing())
    const { id } = sessionOf(page).recordings.start()
    return { page, session: sessionOf(page), id, memberId: seatOf(page).member.id }
  }

  it('are none without the setting of the room, or if the request says so', async () => {
    const { session } = await recorded()
    const before = fixture.recorder.tracks.length
    session.recordings.start({ hasMembers: false })
    expect([before, fixture.recorder.tracks.length]).toEqual([2, 2])
    expect(fixture.recordings.roomOrders.map(({ hasMembers }) => hasMembers)).toEqual([true, undefined])
  })

  it('are camera and sound of a page, and the sound of a telephone', async () => {
    const { session, memberId } = await recorded()
    fixture.clock.advance(1500)
    const phone = await fixture.join()
    expect(paths()).toEqual(['001-camera.webm', '002-audio.webm', '003-audio.wav'])
    const phoneId = session.members[1]!.id
    expect(phone.result).toBeUndefined()
    expect(manifest()).toMatchObject({
      room_session_id: session.id,
      room_name: 'lounge',
      is_truncated: false,
      members: [
        { id: memberId, name: 'Ann', type: 'member' },
        { id: phoneId, name: 'sip:caller@carrier.example', type: 'member' },
      ],
      files: [
        { name: '001-camera.webm', member_id: memberId, kind: 'camera', start: 0 },
        { name: '002-audio.webm', member_id: memberId, kind: 'audio', start: 0 },
        { name: '003-audio.wav', member_id: phoneId, kind: 'audio', start: 1.5 },
      ],
    })
  })

  it('have the screen of a member, and end with it', async () => {
    const { page } = await recorded()
    const seat = seatOf(page)
    const source = sourceOf({ hasVideo: true })
    const screen = seat.addSource({ type: 'screen', source, callId: 's', onRemoved: () => {} })
    await settle()
    expect(paths().at(-1)).toBe('003-screen.webm')
    expect(manifest().members.at(-1)).toMatchObject({ type: 'screen', parent_id: seat.member.id })
    seat.removeSource(screen)
    await settle()
    expect(calls().at(-1)!.at(-1)).toBe('stop')
  })

  it('have nothing of what a member has muted', async () => {
    const { session, memberId } = await recorded()
    const last = () => calls().map((each) => each.at(-1))
    expect(last()).not.toContain('mute')
    session.change(memberId, { audio_muted: true })
    await settle()
    expect(last()).toEqual(['unmute', 'mute'])
    session.change(memberId, { audio_muted: false, video_muted: true })
    await settle()
    expect(last()).toEqual(['mute', 'unmute'])
    session.setHeld(memberId, true)
    await settle()
    expect(last()).toEqual(['mute', 'mute'])
  })

  it('begin anew for a member that returns, at the time without pauses', async () => {
    const { session, id } = await recorded()
    const phone = await fixture.join()
    fixture.clock.advance(1000)
    session.recordings.pause(id)
    phone.leg.ended({ code: 'normal' })
    await settle()
    fixture.clock.advance(5000)
    const again = await fixture.join()
    session.recordings.resume(id)
    fixture.clock.advance(500)
    await fixture.join()
    expect(manifest().files.map(({ start }) => start)).toEqual([0, 0, 0, 1, 1.5])
    expect(calls().map((each) => each.filter((call) => !call.endsWith('mute')))).toEqual([
      ['pause', 'resume'],
      ['pause', 'resume'],
      ['pause', 'stop'],
      ['pause', 'resume'],
      [],
    ])
    expect(
      new Set(
        manifest()
          .files.slice(2)
          .map((file) => file.member_id),
      ).size,
    ).toBe(3)
    expect(again.result).toBeUndefined()
  })

  it('have a time line of layouts and speakers', async () => {
    const { session, memberId } = await recorded()
    fixture.clock.advance(1000)
    session.setTalking(memberId, true)
    await settle()
    fixture.clock.advance(1000)
    session.setLayout('1x1')
    await settle()
    const { timeline } = manifest()
    expect(timeline[0]).toMatchObject({ at: 0, layout: 'full-screen', speaker: memberId })
    expect(timeline.at(-1)).toMatchObject({ at: 2, layout: '1x1', layers: [{ member_id: memberId, x: 0 }] })
  })

  it('are updated once for several changes at a time', async () => {
    const { session, memberId } = await recorded()
    const before = calls().map(({ length }) => length)
    session.change(memberId, { audio_muted: true })
    session.change(memberId, { video_muted: true })
    await settle()
    expect(calls().map(({ length }, i) => length - before[i]!)).toEqual([1, 1])
  })

  it('end with the recording, also if it fails, and report their own faults', async () => {
    const { session } = await recorded()
    fixture.recorder.tracks[1]!.finish({ kind: 'error', code: 'EIO', message: 'broken' })
    await settle()
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ event: 'room.member-file-failed', file: '002-audio.webm', errno: 'EIO' }),
    )
    fixture.recorder.recordings[0]!.finish({ kind: 'error', code: 'ENOSPC', message: 'no space' })
    await settle()
    expect(calls().map((each) => each.at(-1))).toEqual(['stop', 'stop'])
    expect(session.recordings.list).toMatchObject([{ state: 'failed' }])
    const { length } = fixture.recorder.tracks
    await fixture.join()
    expect(fixture.recorder.tracks).toHaveLength(length)
  })

  it('are at most 500', async () => {
    const { page } = await recorded()
    for (let i = 0; i < 500; i++) {
      const source = sourceOf({ hasVideo: true })
      const screen = seatOf(page).addSource({ type: 'screen', source, callId: 's', onRemoved: () => {} })
      await settle()
      seatOf(page).removeSource(screen)
    }
    await settle()
    expect([fixture.recorder.tracks.length, manifest().is_truncated]).toEqual([500, true])
  })
})

/** Rooms of projects: their members, settings and recordings, with fake media. */
import { beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../testing/calls-fixture.ts'
import { FakeVideo } from '../testing/fake-legs.ts'
import { RoomsFixture, seatOf, sourceOf } from '../testing/rooms-fixture.ts'

let fixture: RoomsFixture
let rooms: RoomsFixture['rooms']
let recordings: RoomsFixture['recordings']
let recorder: RoomsFixture['recorder']
let events: RoomsFixture['events']
let join: RoomsFixture['join']
let mixer: RoomsFixture['mixer']

beforeEach(() => {
  fixture = new RoomsFixture()
  ;({ rooms, recordings, recorder, events, join, mixer } = fixture)
})

describe('a room', () => {
  it('admits a telephone and a page, which hear each other, and ends with the last of them', async () => {
    const page = await join('Ann')
    const phone = await join()
    const { session } = seatOf(page)
    expect([page, phone].map(({ audio }) => mixer().members.get(audio))).toEqual([
      { canSpeak: true, canHear: true },
      { canSpeak: true, canHear: true },
    ])
    expect(session.members).toMatchObject([
      { name: 'Ann', isPhone: false, callId: 'call of Ann' },
      { name: 'sip:caller@carrier.example', isPhone: true, subscriberId: null },
    ])
    expect([session.settings.displayName, rooms.count, rooms.members]).toEqual(['The lounge', 1, 2])
    fixture.clock.advance(3_000)
    phone.leg.ended({ code: 'normal' })
    await settle()
    expect(phone.result).toMatchObject({ kind: 'left', roomId: 'id of lounge', durationMs: 3_000 })
    expect(events.at(-1)).toMatchObject({ kind: 'member.left', reason: 'left' })
    page.leg.ended({ code: 'normal' })
    await settle()
    expect([rooms.count, rooms.members, mixer().isClosed, fixture.clock.running]).toEqual([0, 0, true, 0])
  })

  it('is one for each name and project', async () => {
    const first = await join('Ann')
    const second = await join('Bob')
    const other = await join('Eve', 'q')
    expect(seatOf(first).session).toBe(seatOf(second).session)
    expect(seatOf(other).session).not.toBe(seatOf(first).session)
  })

  it('announces each session once, before its first member, with the status target of the room', async () => {
    fixture.details = { statusCallbackUrl: 'https://app.example/rooms' }
    const sessions: [size: number, target: unknown][] = []
    rooms.onStart(({ size, settings }) => sessions.push([size, settings.statusTarget]))
    await join('Ann')
    await join('Bob')
    expect(sessions).toEqual([[0, { url: 'https://app.example/rooms', method: 'POST' }]])
  })

  it('lists the sessions of a project, and reports each at its start', async () => {
    const started: (readonly [string, number])[] = []
    const stop = rooms.onStart(({ id, size }) => started.push([id, size]))
    const first = await join('Ann')
    await join('Bob')
    const { session } = seatOf(first)
    stop()
    const other = await join('Eve', 'q')
    const { projectId } = session.settings
    expect(started).toEqual([[session.id, 0]])
    expect(rooms.sessions(projectId)).toEqual([session])
    expect([rooms.session(projectId, session.id), rooms.session('q', session.id)]).toEqual([
      session,
      undefined,
    ])
    session.end()
    await settle()
    expect(rooms.sessions(projectId)).toEqual([])
    expect(rooms.sessions('q')).toEqual([seatOf(other).session])
  })

  it('refuses a caller before the answer if it is full, locked or not open', async () => {
    fixture.details = { maxMembers: 1 }
    const first = await join('Ann')
    const late = await join()
    expect([late.result, late.leg.isAnswered]).toMatchObject([{ code: 'room_full' }, false])
    fixture.details = {}
    first.leg.ended({ code: 'normal' })
    await settle()
    const host = await join('Ann')
    seatOf(host).session.setLocked(true)
    expect((await join()).result).toMatchObject({ code: 'room_locked' })
    host.leg.ended({ code: 'normal' })
    await settle()
    fixture.details = { joinFrom: fixture.clock.now() + 1 }
    expect((await join()).result).toMatchObject({ code: 'room_not_open' })
    expect([rooms.count, fixture.mixers.every(({ isClosed }) => isClosed)]).toEqual([0, true])
  })

  it('mutes and deafens a member, sets its volumes, and leaves out a member on hold', async () => {
    const page = await join('Ann')
    const { session, member } = seatOf(page)
    session.change(member.id, { audio_muted: true, deaf: true, input_volume: 10, output_volume: -20 })
    expect(mixer().members.get(page.audio)).toEqual({ canSpeak: false, canHear: false })
    expect(page.audio.volumes).toEqual({ inDb: 10, outDb: -20 })
    page.leg.hold(true)
    expect([mixer().members.has(page.audio), member.isOnHold]).toEqual([false, true])
    page.leg.hold(false)
    expect(mixer().members.has(page.audio)).toBe(true)
  })

  it('gives a member that was removed during its answer no place in the mix', async () => {
    const page = await join('Ann')
    const caller = fixture.caller()
    const answer = Promise.withResolvers<void>()
    Object.assign(caller.far, {
      answer: async () => {
        await answer.promise
        caller.leg.answered()
      },
    })
    const joining = rooms.join(caller.call, { name: 'lounge' })
    await settle()
    const { session } = seatOf(page)
    session.remove(session.members[1]!.id)
    answer.resolve()
    expect(await joining).toMatchObject({ kind: 'removed' })
    expect([caller.leg.isAnswered, mixer().members.has(caller.audio)]).toEqual([true, false])
  })

  it('resets the volumes of a telephone that leaves', async () => {
    await join('Ann')
    const phone = await join()
    const { session } = seatOf(await join('Bob'))
    session.change(session.members[1]!.id, { input_volume: -50 })
    session.remove(session.members[1]!.id)
    await settle()
    expect(phone.audio.volumes).toEqual({ inDb: 0, outDb: 0 })
  })

  it('does not name a telephone that withholds its number', async () => {
    const page = await join('Ann')
    const caller = fixture.caller()
    Object.assign(caller.leg.from, { private: true })
    void rooms.join(caller.call, { name: 'lounge' })
    await settle()
    expect(seatOf(page).session.members[1]).toMatchObject({ name: 'Anonymous' })
  })

  it('reports to a far side that goes on after the end of its leg that it has left', async () => {
    const page = await join('Ann')
    page.leg.ended({ code: 'normal' })
    await settle()
    expect([page.seats.length, page.seats[1]]).toEqual([2, undefined])
  })

  it('reports who talks', async () => {
    const page = await join('Ann')
    mixer().talks(page.audio, 'speaking')
    expect(events.at(-1)).toMatchObject({ kind: 'member.talking', member: { name: 'Ann', isTalking: true } })
  })

  it('removes a member, whose handler goes on', async () => {
    const page = await join('Ann')
    const phone = await join()
    const { session } = seatOf(page)
    session.remove(session.members[1]!.id)
    await settle()
    expect([phone.result, phone.leg.isAnswered, mixer().members.has(phone.audio)]).toMatchObject([
      { kind: 'removed' },
      true,
      false,
    ])
    session.end()
    await settle()
    expect([page.result, page.seats.length, page.seats[1]]).toMatchObject([{ kind: 'ended' }, 2, undefined])
  })

  it('gives the place of a transferred caller to the leg that replaces it', async () => {
    const phone = await join()
    const page = await join('Ann')
    const by = fixture.caller()
    await by.leg.answer()
    expect(phone.leg.replaced(by.leg)).toBe(true)
    expect([mixer().members.has(phone.audio), mixer().members.has(by.audio)]).toEqual([false, true])
    expect(seatOf(page).session.size).toBe(2)
  })

  it('goes on with the leg that replaces its only member, even if it is locked, up to the time limit', async () => {
    fixture.details = { maxMembers: 2, removeAfterSeconds: 10 }
    const page = await join('Ann')
    const { session, member } = seatOf(page)
    const screen = seatOf(page).addSource({
      type: 'screen',
      source: sourceOf({ hasVideo: true }),
      callId: 'screen',
      onRemoved: () => {},
    })
    session.setLocked(true)
    session.change(member.id, { audio_muted: true, handraised: true }, member.id)
    fixture.clock.advance(6_000)
    const by = fixture.caller()
    Object.assign(by.leg.from, { name: 'Bert' })
    await by.leg.answer()
    expect(page.leg.replaced(by.leg)).toBe(true)
    await settle()
    expect(session.members).toMatchObject([
      {
        id: member.id,
        name: 'Bert',
        isPhone: true,
        subscriberId: null,
        callId: by.leg.id,
        state: { audio_muted: true, handraised: false },
      },
    ])
    expect(session.member(screen.id)).toBeUndefined()
    expect(mixer().members.get(by.audio)).toEqual({ canSpeak: false, canHear: true })
    expect(events.some(({ kind }) => kind === 'room.ended')).toBe(false)
    expect(events.slice(-2)).toMatchObject([{ kind: 'member.replaced' }, { kind: 'layout.changed' }])
    // The mute was the former party's own.
    session.change(member.id, { audio_muted: false }, 'another')
    expect(mixer().members.get(by.audio)).toEqual({ canSpeak: true, canHear: true })
    fixture.clock.advance(4_000)
    await settle()
    expect([page.result, rooms.count]).toMatchObject([{ kind: 'expired' }, 0])
  })

  it('ends when the thread of its mixer dies', async () => {
    const page = await join('Ann')
    mixer().die()
    await settle()
    expect([page.result, rooms.count]).toMatchObject([{ kind: 'ended' }, 0])
  })

  it('is recorded if its settings say so, and goes on if the disk is full', async () => {
    fixture.details = { recordOnStart: true }
    const page = await join('Ann')
    await join()
    const { session } = seatOf(page)
    expect(recordings.roomOrders).toEqual([
      { callId: page.call.id, legId: page.leg.id, projectId: 'p', roomSessionId: session.id },
    ])
    expect(session.recordings.isRecording).toBe(true)
    recordings.refusal = new Error('disk full')
    const other = await join('Eve', 'q')
    expect(seatOf(other).session.size).toBe(1)
    expect(fixture.lines).toContainEqual(expect.objectContaining({ event: 'room.recording-failed' }))
  })

  it('reports to the verb that the caller has joined, after the answer', async () => {
    const { call, leg } = fixture.caller()
    const joined: unknown[] = []
    const joining = rooms.join(call, {
      name: 'lounge',
      onJoined: (membership) => {
        joined.push({ ...membership, isAnswered: leg.isAnswered })
        throw new Error('a listener that fails')
      },
    })
    await settle()
    const [session] = rooms.sessions(call.info.projectId)
    const [member] = session!.members
    expect(joined).toEqual([
      { roomId: 'id of lounge', roomSessionId: session!.id, memberId: member!.id, isAnswered: true },
    ])
    leg.ended({ code: 'normal' })
    expect(await joining).toMatchObject({ kind: 'left' })
  })

  it('is recorded with audio alone until a page has video, and ends its recordings with itself', async () => {
    const phone = await join()
    const page = await join('Ann')
    const { session } = seatOf(page)
    session.recordings.start()
    expect(recorder.recordings[0]!.calls).toEqual([])
    seatOf(page).showVideo(Object.assign(new FakeVideo(), { isSending: true, isReceiving: true }))
    await settle()
    session.recordings.start()
    expect(recorder.recordings.map(({ calls }) => calls)).toEqual([['video'], ['video']])
    page.leg.ended({ code: 'normal' })
    phone.leg.ended({ code: 'normal' })
    await settle()
    expect(recorder.recordings.map(({ calls }) => calls.at(-1))).toEqual(['stop', 'stop'])
    expect(events.slice(-4).map(({ kind }) => kind)).toEqual([
      'recording.ended',
      'recording.ended',
      'room.updated',
      'room.ended',
    ])
  })

  it('is left by a signal, and rejects with its reason', async () => {
    const caller = fixture.caller()
    const giveUp = new AbortController()
    const joining = rooms.join(caller.call, { name: 'lounge', signal: giveUp.signal })
    await settle()
    giveUp.abort(new Error('enough'))
    await expect(joining).rejects.toThrow('enough')
    expect(rooms.count).toBe(0)
  })
})

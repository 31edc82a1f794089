import { beforeEach, describe, expect, it } from 'vitest'
import type { RoomResult } from '../../../handlers/verbs.ts'
import type { BrowserSource, RoomPicture } from '../../../media/types.ts'
import type { RoomDetails } from '../../directory/model/resource-types.ts'
import type { RoomEvent } from '../../rooms/room-types.ts'
import type { RoomProfile, RoomSeat } from '../leg/room-seat.ts'
import { settle } from '../testing/calls-fixture.ts'
import { type ConferenceCaller, ConferenceFixture } from '../testing/conference-fixture.ts'
import { FakePort, FakeVideo } from '../testing/fake-legs.ts'
import { FakeRecordingStore } from '../testing/fake-recording-store.ts'
import { FakeRoomRecorder } from '../testing/fake-room-recorder.ts'
import { FakeTracksMedia } from '../testing/fake-room-tracks.ts'
import { ProjectRooms } from './project-rooms.ts'

interface Joined extends ConferenceCaller {
  result: RoomResult | Error | undefined
  /** Seats that the far side was given, and undefined after each of them. */
  readonly seats: (RoomSeat | undefined)[]
}

/** Video of a room that records its sources and its picture. */
class FakeRoomVideo {
  readonly sources = new Set<string>()
  readonly screens = new Set<string>()
  readonly limits = new Map<string, number>()
  picture: RoomPicture | undefined
  isClosed = false
  canCompose = false
  readonly watchTracks: FakeTracksMedia['watchTracks']
  report: (canCompose: boolean, reason: string) => void = () => {}

  constructor({ watchTracks }: FakeTracksMedia) {
    this.watchTracks = watchTracks
  }

  onComposing(listener: (canCompose: boolean, reason: string) => void): void {
    this.report = listener
  }

  add(id: string): void {
    this.sources.add(id)
  }

  addScreen(id: string): void {
    this.sources.add(id)
    this.screens.add(id)
  }

  addCamera(id: string): void {
    this.sources.add(id)
  }

  remove(id: string): void {
    this.sources.delete(id)
  }

  limitCamera(id: string, bitRate: number): boolean {
    this.limits.set(id, bitRate)
    return true
  }

  show(picture: RoomPicture): void {
    this.picture = picture
  }

  watchFrames() {
    const nothing = () => {}
    return { requestKeyFrame: nothing, close: nothing }
  }

  close(): void {
    this.isClosed = true
  }
}

const sourceOf = (source: Pick<BrowserSource, 'hasVideo' | 'port'>): BrowserSource => ({
  sdp: '',
  renegotiate: async () => '',
  onState: () => {},
  close: async () => {},
  ...source,
})

describe('a room', () => {
  let fixture: ConferenceFixture
  let recordings: FakeRecordingStore
  let recorder: FakeRoomRecorder
  let rooms: ProjectRooms
  let videos: FakeRoomVideo[]
  let media: FakeTracksMedia
  let details: Partial<RoomDetails>
  let events: RoomEvent[]

  beforeEach(() => {
    fixture = new ConferenceFixture()
    recordings = new FakeRecordingStore()
    recorder = new FakeRoomRecorder()
    videos = []
    media = new FakeTracksMedia()
    details = {}
    events = []
    const openRoom = () => {
      const video = new FakeRoomVideo(media)
      videos.push(video)
      return video
    }
    const room = (name: string, projectId: string) => ({
      address: `/public/${name}`,
      resource: {
        id: `id of ${name}`,
        projectId,
        type: 'room' as const,
        displayName: 'The lounge',
        address: { id: 'a', context: 'public', name },
        details: { recordOnStart: false, ...details },
        managedByFile: false,
        createdAt: 0,
        updatedAt: 0,
      },
    })
    const { openMixer, clock, log } = fixture
    const directory = { room }
    rooms = new ProjectRooms({
      directory,
      openMixer,
      webrtc: {
        openRoom,
        recordRoom: (mixer, request) => recorder.recordRoom(mixer, request),
        tracks: media.tracks,
      },
      recordings,
      clock,
      log,
    })
  })

  /** Joins; a page has a profile, a telephone none. */
  const join = async (page?: string, projectId?: string): Promise<Joined> => {
    const caller = fixture.caller(projectId)
    const joined: Joined = { ...caller, result: undefined, seats: [] }
    const profile: RoomProfile = {
      callId: `call of ${page}`,
      name: page ?? '',
      subscriberId: 's',
      addressId: 'a',
      meta: {},
      state: {},
    }
    const entered = (seat: RoomSeat | undefined) => {
      joined.seats.push(seat)
      if (joined.seats.length === 1) seat?.session.listen((event) => events.push(event))
    }
    Object.assign(caller.far, page === undefined ? {} : { profile: () => profile, entered })
    rooms.join(caller.call, { name: 'lounge' }).then(
      (result) => {
        joined.result = result
      },
      (error: Error) => {
        joined.result = error
      },
    )
    await settle()
    return joined
  }
  const mixer = (i = 0) => fixture.mixers[i]!
  const seatOf = ({ seats }: Joined) => seats[0]!

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
    details = { statusCallbackUrl: 'https://app.example/rooms' }
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
    details = { maxMembers: 1 }
    const first = await join('Ann')
    const late = await join()
    expect([late.result, late.leg.isAnswered]).toMatchObject([{ code: 'room_full' }, false])
    details = {}
    first.leg.ended({ code: 'normal' })
    await settle()
    const host = await join('Ann')
    seatOf(host).session.setLocked(true)
    expect((await join()).result).toMatchObject({ code: 'room_locked' })
    host.leg.ended({ code: 'normal' })
    await settle()
    details = { joinFrom: fixture.clock.now() + 1 }
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
    mixer().talks(page.audio, 'talking')
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

  it('has a composed picture while its video can compose, and the speaker else', async () => {
    const ann = await join('Ann')
    const camera = new FakeVideo()
    seatOf(ann).showVideo(camera)
    await settle()
    camera.change(true)
    const { session, member } = seatOf(ann)
    const video = videos[0]!
    video.report(true, 'free')
    expect(video.picture).toEqual({
      kind: 'composed',
      layers: [
        { id: member.id, x: 0, y: 0, width: 100, height: 100, z: expect.any(Number), isVisible: true },
      ],
    })
    expect(session.layoutName).toBe('grid-responsive')
    video.report(false, 'killed')
    expect(video.picture).toEqual({ kind: 'speaker', main: member.id })
    expect(session.layoutName).toBe('full-screen')
    const changes = fixture.lines.filter(({ event }) => event === 'room.picture-changed')
    expect(changes).toMatchObject([
      { kind: 'composed', reason: 'free' },
      { kind: 'speaker', reason: 'killed' },
    ])
  })

  it('shows cameras and screens, and the speaker to the others', async () => {
    const ann = await join('Ann')
    const bob = await join('Bob')
    const annsCamera = new FakeVideo()
    const bobsCamera = new FakeVideo()
    seatOf(ann).showVideo(annsCamera)
    seatOf(bob).showVideo(bobsCamera)
    await settle()
    expect(videos).toHaveLength(1)
    const { member: a } = seatOf(ann)
    const { member: b } = seatOf(bob)
    expect(videos[0]!.sources).toEqual(new Set([a.id, b.id]))
    annsCamera.change(true)
    expect(videos[0]!.picture).toEqual({ kind: 'speaker', main: a.id })
    bobsCamera.change(true)
    expect(videos[0]!.picture).toEqual({ kind: 'speaker', main: a.id, other: b.id })
    const ends: string[] = []
    const screen = seatOf(bob).addSource({
      type: 'screen',
      source: sourceOf({ hasVideo: true }),
      callId: 'screen',
      onRemoved: () => ends.push('removed'),
    })
    expect(videos[0]!.picture).toEqual({ kind: 'speaker', main: screen.id })
    bob.leg.ended({ code: 'normal' })
    await settle()
    expect([ends, videos[0]!.picture, videos[0]!.sources]).toEqual([
      ['removed'],
      { kind: 'speaker', main: a.id },
      new Set([a.id]),
    ])
    // A camera that changes after its member has left changes nothing.
    bobsCamera.change(false)
    ann.leg.ended({ code: 'normal' })
    await settle()
    expect(videos[0]!.isClosed).toBe(true)
  })

  it('lets all but its owner hear the sound of a screen, which is no voice', async () => {
    const ann = await join('Ann')
    const bob = await join('Bob')
    const port = new FakePort('screen')
    const screen = seatOf(ann).addSource({
      type: 'screen',
      source: sourceOf({ hasVideo: true, port }),
      callId: 'screen',
      onRemoved: () => {},
    })
    await settle()
    const heard = { canSpeak: true, canHear: false, inaudibleTo: [ann.audio], isVoice: false }
    expect(mixer().members.get(port)).toEqual(heard)
    const { session } = seatOf(bob)
    session.change(screen.id, { audio_muted: true })
    expect(mixer().members.get(port)).toEqual({ ...heard, canSpeak: false })
    session.change(screen.id, { audio_muted: false })
    expect(mixer().members.get(port)).toEqual(heard)
    expect(videos[0]!.screens).toEqual(new Set([screen.id]))
    session.remove(screen.id)
    expect([mixer().members.has(port), videos[0]!.sources.has(screen.id)]).toEqual([false, false])
  })

  it('has a second microphone and a second camera of a page as members of their own', async () => {
    const ann = await join('Ann')
    const port = new FakePort('device')
    const add = (source: Pick<BrowserSource, 'hasVideo' | 'port'>) =>
      seatOf(ann).addSource({ type: 'device', source: sourceOf(source), callId: 'd', onRemoved: () => {} })
    const microphone = add({ hasVideo: false, port })
    const camera = add({ hasVideo: true })
    await settle()
    expect(mixer().members.get(port)).toEqual({
      canSpeak: true,
      canHear: false,
      inaudibleTo: [ann.audio],
    })
    expect([microphone, camera]).toMatchObject([
      { type: 'device', name: 'Ann', isVisible: false, state: { audio_muted: false, video_muted: true } },
      { type: 'device', name: 'Ann', isVisible: true, state: { audio_muted: true, video_muted: false } },
    ])
    expect(videos[0]!.sources).toEqual(new Set([camera.id]))
    expect(videos[0]!.screens.size).toBe(0)
    mixer().talks(port, 'talking')
    expect(events.at(-1)).toMatchObject({ kind: 'member.talking', member: { id: microphone.id } })
    ann.leg.ended({ code: 'normal' })
    await settle()
    expect([mixer().members.size, rooms.count]).toEqual([0, 0])
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
    details = { maxMembers: 2, removeAfterSeconds: 10 }
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

  it('limits cameras by their places in the composed picture, and reports their sizes', async () => {
    const page = await join('Ann')
    const seat = seatOf(page)
    const widths: number[] = []
    seat.onCameraSize(({ width }) => widths.push(width))
    seat.showVideo(new FakeVideo())
    await settle()
    const [video] = videos
    video!.canCompose = true
    video!.report(true, 'free')
    seat.session.setHasVideo(seat.member.id, true)
    seat.session.setLayout('2x2')
    expect([...video!.limits.values()]).toEqual([1_000_000])
    fixture.clock.advance(10_000)
    expect([...video!.limits.values()]).toEqual([600_000])
    expect(widths).toEqual([640])
  })

  it('sends a page the cameras that it shows, speakers first, on lines that end with the membership', async () => {
    const video = () => Object.assign(new FakeVideo(), { isSending: true, isReceiving: true })
    const pages = [await join('Ann'), await join('Bob'), await join('Eve')]
    const [ann, bob, eve] = pages.map(seatOf)
    for (const page of pages) seatOf(page).showVideo(video())
    await settle()
    const ends: string[] = []
    const listener = { changed: () => {}, ended: () => ends.push('ended') }
    const tracks = await ann!.openTracks(2, listener)
    const shown = () => media.opened.at(-1)!.wishes.map(({ id }) => id)
    expect([tracks.sdp, shown()]).toEqual(['offer of 2 lines', [bob!.member.id, eve!.member.id]])
    mixer().talks(pages[2]!.audio, 'talking')
    fixture.clock.advance(2_000)
    expect(shown()).toEqual([eve!.member.id, bob!.member.id])
    tracks.show([{ memberId: bob!.member.id, width: 90 }])
    expect(media.opened[0]!.wishes).toMatchObject([{ id: bob!.member.id, width: 90 }])
    ann!.session.change(bob!.member.id, { video_muted: true })
    expect(shown()).toEqual([])
    // Further lines replace the former ones.
    await ann!.openTracks(1, listener)
    expect(media.opened.map(({ isClosed }) => isClosed)).toEqual([true, false])
    media.opened[1]!.end()
    expect([media.opened[1]!.isClosed, ends]).toEqual([true, ['ended']])
    await ann!.openTracks(1, listener)
    pages[0]!.leg.ended({ code: 'normal' })
    await settle()
    expect([media.opened[2]!.isClosed, ends]).toEqual([true, ['ended']])
  })

  it('is recorded if its settings say so, and goes on if the disk is full', async () => {
    details = { recordOnStart: true }
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

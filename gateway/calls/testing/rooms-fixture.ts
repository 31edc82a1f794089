/** Rooms of projects with fake mixers, video and recordings, and those who join them. */
import type { RoomResult } from '../../../handlers/verbs.ts'
import type { BrowserSource, RoomPicture } from '../../../media/types.ts'
import type { RoomDetails } from '../../directory/model/resource-types.ts'
import type { RoomEvent } from '../../rooms/room-types.ts'
import type { RoomProfile, RoomSeat } from '../leg/room-seat.ts'
import { ProjectRooms } from '../room/project-rooms.ts'
import { settle } from './calls-fixture.ts'
import { type ConferenceCaller, ConferenceFixture, type FakeMixer } from './conference-fixture.ts'
import { FakeRecordingStore } from './fake-recording-store.ts'
import { FakeRoomFiles } from './fake-room-files.ts'
import { FakeRoomRecorder } from './fake-room-recorder.ts'
import { FakeRoomStreams } from './fake-room-streams.ts'
import { FakeTracksMedia } from './fake-room-tracks.ts'

/** A caller that joins a room. */
export interface JoinedCaller extends ConferenceCaller {
  result: RoomResult | Error | undefined
  /** Seats that the far side was given, and undefined after each of them. */
  readonly seats: (RoomSeat | undefined)[]
}

const nothing = () => {}

/** Video of a room that records its sources and its picture. */
export class FakeRoomVideo {
  readonly sources = new Set<string>()
  /** Members whose video was added, in order. */
  readonly added: string[] = []
  readonly screens = new Set<string>()
  /** Sources that may be shown soon, in order. */
  readonly expected: string[] = []
  /** Bit rates of cameras, by the ids of their members. */
  readonly limits = new Map<string, number>()
  picture: RoomPicture | undefined
  isClosed = false
  canCompose = false
  readonly watchTracks: FakeTracksMedia['watchTracks']
  /** Reports whether the video can compose, and why. */
  report: (canCompose: boolean, reason: string) => void = () => {}

  constructor({ watchTracks }: FakeTracksMedia) {
    this.watchTracks = watchTracks
  }

  onComposing(listener: (canCompose: boolean, reason: string) => void): void {
    this.report = listener
  }

  add(id: string): void {
    this.added.push(id)
    this.sources.add(id)
  }

  expect(id: string): void {
    this.expected.push(id)
  }

  addScreen(id: string): void {
    this.sources.add(id)
    this.screens.add(id)
  }

  addCamera(id: string): void {
    this.sources.add(id)
  }

  addFile(id: string): void {
    this.sources.add(id)
  }

  remove(id: string): void {
    this.sources.delete(id)
  }

  limitCamera(id: string, bitRate: number): boolean {
    this.limits.set(id, bitRate)
    return true
  }

  async figures() {
    return {}
  }

  show(picture: RoomPicture): void {
    this.picture = picture
  }

  watchFrames() {
    return { requestKeyFrame: nothing, close: nothing }
  }

  watchMember() {
    return { requestKeyFrame: nothing, setShown: nothing, flush: nothing, close: nothing }
  }

  close(): void {
    this.isClosed = true
  }
}

/** Returns the source of a screen or of a further device of a page. */
export const sourceOf = (source: Pick<BrowserSource, 'hasVideo' | 'port'>): BrowserSource => ({
  sdp: '',
  renegotiate: async () => '',
  onState: () => {},
  close: async () => {},
  ...source,
})

/** Returns the first seat of a caller. */
export const seatOf = ({ seats }: JoinedCaller): RoomSeat => seats[0]!

/** Rooms of projects. Every room that a test names exists. */
export class RoomsFixture extends ConferenceFixture {
  readonly recordings = new FakeRecordingStore()
  readonly recorder = new FakeRoomRecorder()
  readonly files = new FakeRoomFiles()
  readonly streams = new FakeRoomStreams()
  readonly media = new FakeTracksMedia()
  /** Video of all rooms, in the order of their first video. */
  readonly videos: FakeRoomVideo[] = []
  /** Events that the pages have received. */
  readonly events: RoomEvent[] = []
  /** Details of the rooms that open from now on. */
  details: Partial<RoomDetails> = {}
  readonly rooms: ProjectRooms

  constructor() {
    super()
    const { openMixer, recordings, clock, log } = this
    const webrtc = {
      openRoom: () => this.#openVideo(),
      recordRoom: this.recorder.recordRoom,
      recordPicture: this.recorder.recordPicture,
      recordSound: this.recorder.recordSound,
      tracks: this.media.tracks,
      streamRoom: this.streams.streamRoom,
      heard: async () => undefined,
    }
    const directory = { room: (name: string, projectId: string) => this.#room(name, projectId) }
    this.rooms = new ProjectRooms({
      directory,
      openMixer,
      webrtc,
      recordings,
      files: this.files,
      rtmp: this.streams,
      clock,
      log,
    })
  }

  #openVideo(): FakeRoomVideo {
    const video = new FakeRoomVideo(this.media)
    this.videos.push(video)
    return video
  }

  #room(name: string, projectId: string) {
    return {
      address: `/public/${name}`,
      resource: {
        id: `id of ${name}`,
        projectId,
        type: 'room' as const,
        displayName: 'The lounge',
        address: { id: 'a', context: 'public', name },
        details: { recordOnStart: false, ...this.details },
        managedByFile: false,
        createdAt: 0,
        updatedAt: 0,
      },
    }
  }

  /** Joins the lounge of a project. `page`: name of a page, which has a profile; a telephone has none. */
  readonly join = async (page?: string, projectId?: string): Promise<JoinedCaller> => {
    const caller = this.caller(projectId)
    const joined: JoinedCaller = { ...caller, result: undefined, seats: [] }
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
      if (joined.seats.length === 1) seat?.session.listen((event) => this.events.push(event))
    }
    Object.assign(caller.far, page === undefined ? {} : { profile: () => profile, entered })
    this.rooms.join(caller.call, { name: 'lounge' }).then(
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

  /** Returns the mixer of a room. `i`: its number, in the order of opening. */
  readonly mixer = (i = 0): FakeMixer => this.mixers[i]!
}

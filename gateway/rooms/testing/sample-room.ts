import { FakeClock } from '../../core/clock.ts'
import { RoomSession } from '../room-session.ts'
import type {
  JoinOptions,
  Picture,
  PictureKind,
  PlaybackRequest,
  RecordingTerms,
  RoomEvent,
  RoomMediaPlayback,
  RoomMediaRecording,
  RoomMediaStream,
  RoomMember,
  RoomSettings,
} from '../room-types.ts'

const settings: RoomSettings = {
  id: 'R',
  projectId: 'P',
  name: 'room',
  displayName: 'Room',
  maxMembers: 20,
  layout: 'grid-responsive',
  hasTones: true,
  isVideoOffAtJoin: false,
  isHandraisePrioritized: false,
  recordOnStart: false,
  recordMembers: false,
  hasNames: false,
  meta: {},
}

/** Returns an event as one line, such as `member.updated A audio_muted`. */
const lineOf = (event: RoomEvent): string => {
  const { kind } = event
  if (kind === 'member.left') return `${kind} ${event.member.id} ${event.reason}`
  if (kind === 'member.updated') return `${kind} ${event.member.id} ${event.updated.join(' ')}`
  if (kind === 'room.updated') return `${kind} ${event.updated.join(' ')}`
  if ('stream' in event) return `${kind} ${event.stream.id} ${event.stream.state}`
  if ('playback' in event) return `${kind} ${event.playback.id} ${event.playback.state}`
  if ('recording' in event) return `${kind} ${event.recording.id} ${event.recording.state}`
  return 'member' in event ? `${kind} ${event.member.id}` : kind
}

/** Recording of the media that the test completes. */
export class FakeRoomRecording implements RoomMediaRecording {
  readonly id: string
  readonly done: RoomMediaRecording['done']
  /** Calls, in order. */
  readonly calls: string[] = []
  readonly #finish: (result: Awaited<RoomMediaRecording['done']>) => void

  constructor(id: string) {
    this.id = id
    const { promise, resolve } = Promise.withResolvers<Awaited<RoomMediaRecording['done']>>()
    this.done = promise
    this.#finish = resolve
  }

  /** Completes the file. `kind` of its end; default stopped. */
  complete({ durationMs, kind = 'stopped' }: { readonly durationMs: number; readonly kind?: string }): void {
    this.#finish({ durationMs, end: { kind } })
  }

  pause(): void {
    this.calls.push('pause')
  }

  resume(): void {
    this.calls.push('resume')
  }

  stop(): void {
    this.calls.push('stop')
  }
}

/** Playback of the media that the test ends. */
export class FakeRoomPlayback implements RoomMediaPlayback {
  readonly id: string
  readonly url: string
  readonly request: PlaybackRequest
  /** Reports that the file has pictures. */
  readonly showPicture: () => void
  readonly done: Promise<{ readonly failure?: string }>
  /** Ends the file. */
  readonly end: (result: { readonly failure?: string }) => void
  /** Calls, in order. */
  readonly calls: string[] = []
  positionMs: number

  constructor(id: string, request: PlaybackRequest, showPicture: () => void) {
    const { promise, resolve } = Promise.withResolvers<{ readonly failure?: string }>()
    this.id = id
    this.url = request.url
    this.request = request
    this.positionMs = request.fromMs
    this.showPicture = showPicture
    this.done = promise
    this.end = resolve
  }

  pause(): void {
    this.calls.push('pause')
  }

  resume(): void {
    this.calls.push('resume')
  }

  seek(toMs: number): void {
    this.calls.push(`seek ${toMs}`)
    this.positionMs = toMs
  }

  setVolume(volume: number): void {
    this.calls.push(`volume ${volume}`)
  }

  stop(): void {
    this.calls.push('stop')
    this.end({})
  }
}

/** Stream of the media that the test ends. */
export class FakeRoomStream implements RoomMediaStream {
  readonly id: string
  readonly url: string
  readonly done: Promise<{ readonly failure?: string }>
  /** Ends the stream. */
  readonly end: (result: { readonly failure?: string }) => void
  isStopped = false

  constructor(id: string, url: string) {
    const { promise, resolve } = Promise.withResolvers<{ readonly failure?: string }>()
    this.id = id
    this.url = url
    this.done = promise
    this.end = resolve
  }

  stop(): void {
    this.isStopped = true
    this.end({})
  }
}

/** Session of a room with a fake clock, that keeps its events and the calls of its media. */
export class SampleRoom {
  readonly clock: FakeClock
  /** Events as lines, in order. */
  readonly events: string[] = []
  readonly pictures: Picture[] = []
  /** Members that may be the next speaker, in order. */
  readonly expected: string[] = []
  readonly tones: string[] = []
  /** Ids of the members whose audio was set. */
  readonly audioOf: string[] = []
  /** Removals that owners learned, as `id reason`. */
  readonly removals: string[] = []
  readonly errors: unknown[] = []
  readonly recordings: FakeRoomRecording[] = []
  /** Terms of {@link recordings}. */
  readonly terms: RecordingTerms[] = []
  readonly playbacks: FakeRoomPlayback[] = []
  readonly streams: FakeRoomStream[] = []
  readonly session: RoomSession

  constructor(
    changes: Partial<RoomSettings> = {},
    pictureKind: PictureKind = 'speaker',
    { id = 'S', clock = new FakeClock() }: { readonly id?: string; readonly clock?: FakeClock } = {},
  ) {
    this.clock = clock
    this.session = new RoomSession(
      { id, settings: { ...settings, ...changes }, pictureKind },
      {
        clock: this.clock,
        log: { error: (fields: unknown) => this.errors.push(fields) },
        media: {
          show: (picture) => this.pictures.push(picture),
          expect: (memberId) => this.expected.push(memberId),
          playTone: (kind) => this.tones.push(kind),
          setAudio: ({ id }) => this.audioOf.push(id),
          record: (terms) => {
            this.terms.push(terms)
            const recording = new FakeRoomRecording(`recording-${this.recordings.length}`)
            this.recordings.push(recording)
            return recording
          },
          hasFfmpeg: true,
          stream: (url) => {
            const stream = new FakeRoomStream(`stream-${this.streams.length}`, url)
            this.streams.push(stream)
            return stream
          },
          play: (request, onPicture) => {
            const playback = new FakeRoomPlayback(`playback-${this.playbacks.length}`, request, onPicture)
            this.playbacks.push(playback)
            return playback
          },
        },
      },
    )
    this.session.listen((event) => this.events.push(lineOf(event)))
  }

  /** Adds a member with a camera. */
  join(id: string, options: Partial<JoinOptions> = {}): RoomMember {
    return this.session.join({
      id,
      type: 'member',
      callId: `call-${id}`,
      name: id,
      subscriberId: null,
      addressId: null,
      isPhone: false,
      hasVideo: true,
      onRemoved: (reason) => this.removals.push(`${id} ${reason}`),
      ...options,
    })
  }

  /** Adds the screen of a member. */
  share(id: string, parentId: string, options: Partial<JoinOptions> = {}): RoomMember {
    return this.join(id, { type: 'screen', parentId, ...options })
  }

  /** Returns and forgets the events so far. */
  takeEvents(): readonly string[] {
    return this.events.splice(0)
  }

  /** Picture in force. */
  get picture(): Picture | undefined {
    return this.pictures.at(-1)
  }

  /** Layers of a viewer as `position member`, with `-` for an empty slot. */
  layersOf(viewerId?: string): readonly string[] {
    return this.session
      .layoutFor(viewerId)
      .layers.map(({ position, memberId = '-' }) => `${position} ${memberId}`)
  }
}

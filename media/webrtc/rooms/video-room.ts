import { type MediaClock, systemClock } from '../../clock.ts'
import { guard } from '../../guard.ts'
import type { ProgramLayer } from '../../rooms/layer-choice.ts'
import type {
  BrowserSource,
  BrowserTracks,
  BrowserVideo,
  MemberFrames,
  RoomFile,
  RoomFrame,
  RoomFrames,
  RoomLayer,
  RoomPicture,
  RoomTracks,
  RoomVideo,
  RoomVideoFigures,
  TrackLineUse,
} from '../../types.ts'
import { WebRtcError } from '../errors.ts'
import { SharedPipes } from '../tracks/shared-pipes.ts'
import { TrackLines } from '../tracks/track-lines.ts'
import { TracksSession } from '../tracks/tracks-session.ts'
import type { VideoForwarding } from '../video/forward-video.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { sessionVideo } from '../video/session-video.ts'
import type { CompositionLayer } from './composition.ts'
import { Feed, type PacketSource } from './feed.ts'
import { FileSource } from './file-source.ts'
import { Program } from './program.ts'
import { ProgramFrames } from './program-frames.ts'
import { type ComposingService, RoomComposing } from './room-composing.ts'
import { receivedFigures, sentFigures } from './video-figures.ts'
import { cameraOf, capCamera, isSimulcast, type Member, newMember, rateOf } from './video-member.ts'
import { consumerLayersOf, ViewerLayer } from './viewer-layer.ts'

/** Maximum number of viewers with a program of their own. */
const maxOwnPrograms = 8

/** Options of a {@link VideoRoom}. */
export interface VideoRoomOptions {
  /** Called once per member whose video has another codec than VP8, and for each error of mediasoup. */
  readonly onFault?: ((fault: Error) => void) | undefined
  /** Default {@link systemClock}. */
  readonly clock?: MediaClock
  /** Processes for composed pictures, and the decision on who uses them; default none. */
  readonly composing?: ComposingService | undefined
}

/** Frames of one source. */
interface WatchedMember {
  readonly id: string
  readonly frames: ProgramFrames
  isShown: boolean
}

/** A member with the m-line over which it watches. */
interface Viewing {
  readonly member: Member
  readonly line: VideoSource['line']
}

/**
 * Video of a room, see {@link RoomVideo}.
 *
 * Viewers of one router share a program, which shows `main`. Viewers that may become `main` have a program of
 * their own: the first members with cameras, and those that were `main` last. A change of the picture then
 * changes only the sources of programs, and no viewer changes its stream.
 *
 * The numbers of a program live in the gateway, and its packets enter mediasoup in the router of its viewers.
 * So no pipes are needed, and the death of a worker ends only the video of the worker's own browsers.
 */
export class VideoRoom implements RoomVideo {
  readonly #clock: MediaClock
  readonly #onFault: (fault: Error) => void
  readonly #members = new Map<string, Member>()
  readonly #shared = new Map<Program['router'], Program>()
  /** Viewers' own programs by member; the member that was `main` last is the last one. */
  readonly #own = new Map<string, Program>()
  /** Programs without viewers. */
  readonly #frames = new Set<ProgramFrames>()
  /** Programs of single sources, without viewers. */
  readonly #ofMembers = new Set<WatchedMember>()
  readonly #pipes = new SharedPipes()
  /** Viewers whose paths are tried now. */
  readonly #trials = new Set<ViewerLayer>()
  #picture: RoomPicture = { kind: 'speaker' }
  /** Layers of the latest composed picture, which another one shows after a failure of the composer. */
  #composed: readonly RoomLayer[] = []
  readonly #composing: RoomComposing | undefined
  #onComposing: (canCompose: boolean, reason: string) => void = () => {}

  constructor({ onFault = () => {}, clock = systemClock, composing }: VideoRoomOptions = {}) {
    this.#clock = clock
    this.#onFault = guard(onFault)
    this.#composing =
      composing && composing.composers.unavailable === undefined
        ? new RoomComposing(composing, {
            clock,
            onFault: this.#onFault,
            onComposing: (canCompose, reason) => this.#onComposing(canCompose, reason),
            onUpdate: () => this.#update(),
          })
        : undefined
  }

  get canCompose(): boolean {
    return this.#composing?.canCompose ?? false
  }

  onComposing(listener: (canCompose: boolean, reason: string) => void): void {
    this.#onComposing = guard(listener)
  }

  add(id: string, video: BrowserVideo): void {
    const session = sessionVideo(video)
    this.#join({ ...newMember(id, session.camera), session })
  }

  addScreen(id: string, screen: BrowserSource): void {
    this.#join({ ...newMember(id, cameraOf(screen)), isScreen: true })
  }

  addCamera(id: string, camera: BrowserSource): void {
    this.#join(newMember(id, cameraOf(camera)))
  }

  addFile(id: string, file: RoomFile): void {
    if (!(file instanceof FileSource)) throw new TypeError('a file of this WebRtc expected')
    this.#join({ ...newMember(id, file), isScreen: true })
  }

  remove(id: string): void {
    const member = this.#members.get(id)
    if (!member) return
    this.#members.delete(id)
    member.leave()
    this.#update()
  }

  limitCamera(id: string, bitRate: number): boolean {
    const member = this.#members.get(id)
    if (!member?.session || isSimulcast(member.stream)) return false
    if (member.cameraRate !== bitRate) capCamera(member.stream, bitRate)
    member.cameraRate = bitRate
    return true
  }

  async figures(id: string): Promise<RoomVideoFigures> {
    const { stream, layer, tracks, program } = this.#members.get(id) ?? {}
    const shown = program && layer && !layer.consumer.closed ? layer.figures() : undefined
    const [sent, received] = await Promise.all([
      stream && sentFigures(stream.producer),
      tracks ? receivedFigures(tracks.consumers) : shown,
    ])
    return { ...(sent && { sent }), ...(received && { received }) }
  }

  show(picture: RoomPicture): void {
    this.#picture = picture
    if (picture.kind === 'composed') this.#composed = picture.layers
    this.#update()
  }

  expect(id: string): void {
    const feed = this.#members.get(id)?.feed
    feed?.prepare()
    const programs = [...this.#shared.values(), ...this.#own.values()]
    if (programs.some(({ needsLow }) => needsLow)) feed?.low?.prepare()
  }

  watchFrames(onFrame: (frame: RoomFrame) => void): RoomFrames {
    const frames = new ProgramFrames(this.#clock, onFrame)
    this.#frames.add(frames)
    this.#update()
    return {
      requestKeyFrame: () => frames.requestKeyFrame(),
      close: () => {
        frames.close()
        if (this.#frames.delete(frames)) this.#update()
      },
    }
  }

  watchMember(id: string, onFrame: (frame: RoomFrame) => void): MemberFrames {
    const frames = new ProgramFrames(this.#clock, onFrame, 'by sender')
    const watched: WatchedMember = { id, frames, isShown: true }
    this.#ofMembers.add(watched)
    this.#showMember(watched)
    return {
      requestKeyFrame: () => frames.requestKeyFrame(),
      flush: () => frames.flush(),
      setShown: (isShown) => {
        watched.isShown = isShown
        if (this.#ofMembers.has(watched)) this.#showMember(watched)
      },
      close: () => {
        frames.close()
        this.#ofMembers.delete(watched)
      },
    }
  }

  watchTracks(
    id: string,
    tracks: BrowserTracks,
    onChange: (lines: readonly TrackLineUse[]) => void,
  ): RoomTracks {
    const member = this.#members.get(id)
    if (!member?.session) throw new Error(`room member ${id} is not a viewer`)
    if (!(tracks instanceof TracksSession)) throw new TypeError('tracks of this WebRtc expected')
    member.tracks?.close()
    const lines: TrackLines = new TrackLines({
      session: tracks,
      pipes: this.#pipes,
      clock: this.#clock,
      sourceOf: (sourceId) => this.#sourceOf(sourceId),
      onChange,
      onFault: this.#onFault,
      onClosed: () => {
        if (member.tracks !== lines) return
        member.tracks = undefined
        this.#update()
      },
    })
    member.tracks = lines
    this.#update()
    return lines
  }

  close(): void {
    for (const frames of this.#frames) frames.close()
    this.#frames.clear()
    for (const { frames } of this.#ofMembers) frames.close()
    this.#ofMembers.clear()
    const members = [...this.#members.values()]
    this.#members.clear()
    for (const { leave } of members) leave()
    this.#composing?.close()
    this.#update()
  }

  #join(member: Member): void {
    // The program of a session that is replaced stays, so that its viewer continues with it.
    this.#members.get(member.id)?.leave()
    this.#members.set(member.id, member)
    const { camera, session } = member
    const ends = [camera.watch(() => this.#cameraChanged(member))]
    if (session) {
      const layerOf = (viewer: Member) => this.#layerOf(viewer)
      const provider = {
        get source() {
          return member.program?.source
        },
        get preferredLayers() {
          return consumerLayersOf(layerOf(member))
        },
        viewed: (forwarding: VideoForwarding) => this.#viewed(member, forwarding),
      }
      const view = session.view(provider, this.#onFault)
      member.updateView = view.update
      ends.push(
        session.watchSink(() => this.#update()),
        view.close,
        () => member.layer?.close(),
        () => capCamera(camera.current, 0),
      )
    }
    member.leave = () => {
      member.tracks?.close()
      for (const end of ends) end()
    }
    this.#cameraChanged(member)
  }

  #cameraChanged(member: Member): void {
    const stream = member.camera.current
    if (stream !== member.stream) {
      member.stream = stream
      member.feed =
        stream && this.#canShow(member, stream) ? new Feed(stream, this.#clock, this.#onFault) : undefined
      if (!member.isScreen) capCamera(stream, rateOf(member))
    }
    this.#update()
  }

  /** Chooses the layer of a new stream towards a member. */
  #viewed(member: Member, forwarding: VideoForwarding): void {
    member.layer?.close()
    const { program } = member
    if (!program) return
    const onChange = () => this.#updateLayers()
    member.layer = new ViewerLayer(
      { forwarding, program, trials: this.#trials, clock: this.#clock, onChange },
      this.#layerOf(member),
    )
    this.#updateLayers()
  }

  /** Returns the layer of a member: the first one of a composed picture is low until it is known to pass. */
  #layerOf({ layer }: Member): ProgramLayer {
    return layer?.layer ?? (this.#picture.kind === 'composed' ? 'low' : 'high')
  }

  /** Sends the layers of the programs that viewers need. */
  #updateLayers(): void {
    const needed = new Map<Program, Set<ProgramLayer>>()
    for (const member of this.#members.values()) {
      if (!member.program) continue
      const layers = needed.get(member.program) ?? new Set()
      needed.set(member.program, layers.add(this.#layerOf(member)))
      if (member.layer?.needsLow) layers.add('low')
    }
    for (const program of [...this.#shared.values(), ...this.#own.values()])
      program.setNeeded(needed.get(program) ?? new Set())
  }

  /** Whether the format is VP8. Reports another one, once per member. */
  #canShow(member: Member, { format }: Pick<VideoSource, 'format'>): boolean {
    if (format.name === 'VP8') return true
    if (!member.isReported)
      this.#onFault(new WebRtcError('no_common_codec', `video of ${member.id}: ${format.name}, VP8 expected`))
    member.isReported = true
    return false
  }

  /** Gives each viewer its program, and each program its source. Closes the other programs. */
  #update(): void {
    const members = [...this.#members.values()]
    const viewers = members.flatMap((member) => {
      const sink = member.tracks ? undefined : member.session?.sink
      return sink && this.#canShow(member, sink) ? [{ member, line: sink.line }] : []
    })
    this.#chooseOwn(viewers)
    for (const { member, line } of viewers) member.program = this.#programOf(member, line)
    const viewing = new Set(viewers.map(({ member }) => member))
    for (const member of members) if (!viewing.has(member)) this.#endView(member)
    const used = new Set(viewers.map(({ member }) => member.program))
    for (const [router, program] of this.#shared) {
      if (used.has(program)) continue
      this.#shared.delete(router)
      program.close()
    }
    this.#composing?.show(viewers.length + this.#frames.size > 0 ? this.#layers() : [])
    this.#showAll()
    for (const { member } of viewers) member.layer?.update()
    this.#updateLayers()
    for (const { member } of viewers) member.updateView()
    for (const { tracks } of members) tracks?.update()
  }

  /** Ends the program of a member that receives no video, or separate cameras. */
  #endView(member: Member): void {
    member.layer?.close()
    member.layer = undefined
    if (!member.program) return
    member.program = undefined
    member.updateView()
  }

  /** Opens and closes viewers' own programs. */
  #chooseOwn(viewers: readonly Viewing[]): void {
    const own = this.#own
    const { main = '' } = this.#speakers
    const routers = new Map(viewers.map(({ member, line }) => [member.id, line.router]))
    for (const [id, { router }] of own) if (routers.get(id) !== router) this.#closeOwn(id)
    for (const { member, line } of viewers) {
      const isWanted = member.id === main || (member.feed !== undefined && own.size < maxOwnPrograms)
      if (isWanted && !own.has(member.id)) own.set(member.id, this.#open(line))
    }
    const program = own.get(main)
    if (program) {
      own.delete(main)
      own.set(main, program)
    }
    for (const id of own.keys()) if (own.size > maxOwnPrograms) this.#closeOwn(id)
  }

  #closeOwn(id: string): void {
    this.#own.get(id)?.close()
    this.#own.delete(id)
  }

  #programOf({ id, program }: Member, line: VideoSource['line']): Program {
    const own = this.#own.get(id)
    // A viewer keeps its stream until its own program is open.
    if (own) return own.source || program?.router !== line.router ? own : program
    const shared = this.#shared.get(line.router) ?? this.#open(line)
    this.#shared.set(line.router, shared)
    return shared
  }

  #open(line: VideoSource['line']): Program {
    return new Program(line, { clock: this.#clock, onReady: () => this.#update(), onFault: this.#onFault })
  }

  /** Ids of the speaker picture; none for a composed picture, which is the same for all viewers. */
  get #speakers(): { readonly main?: string; readonly other?: string } {
    return this.#picture.kind === 'speaker' ? this.#picture : {}
  }

  /** Returns the layers of the composed picture that is wanted, or wanted after a failure; else none. */
  #layers(): readonly CompositionLayer[] {
    const isWanted = this.canCompose ? this.#picture.kind === 'composed' : this.#composing?.isAdmitted
    return (isWanted ? this.#composed : []).map(({ id, ...layer }): CompositionLayer => {
      const member = this.#members.get(id)
      const source = this.#sourceOf(id)
      return {
        ...layer,
        memberId: id,
        ...(source && { source }),
        ...(member?.isScreen && { fit: 'contain' }),
      }
    })
  }

  #showAll(): void {
    const { main, other } = this.#speakers
    const feed: PacketSource | undefined =
      this.#picture.kind === 'composed' ? this.#composing?.feed : this.#feedOf(main)
    for (const program of [...this.#shared.values(), ...this.#frames]) program.show(feed)
    for (const watched of this.#ofMembers) this.#showMember(watched)
    for (const [id, program] of this.#own) program.show(id === main ? (this.#feedOf(other) ?? feed) : feed)
  }

  #showMember({ id, frames, isShown }: WatchedMember): void {
    frames.show(isShown ? this.#feedOf(id) : undefined)
  }

  /** Returns the stream of a member; undefined if it sends none that can be shown. */
  #sourceOf(id: string): VideoSource | undefined {
    const member = this.#members.get(id)
    return member?.feed && member.stream
  }

  #feedOf(id: string | undefined): Feed | undefined {
    return id === undefined ? undefined : this.#members.get(id)?.feed
  }
}

import type { SteadyClock, Timer } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { guardListener } from '../core/guard.ts'
import type { Log } from '../core/log.ts'
import { type LayoutName, layoutNamed, layoutNames } from './layouts/layout-names.ts'
import { positionNamed } from './layouts/read-position.ts'
import { MemberList } from './member-list.ts'
import { checkEntry, shorterOf } from './open-times.ts'
import { RoomEventQueue } from './room-event-queue.ts'
import { changedMeta, checkedMeta, type MetaChange } from './room-meta.ts'
import { RoomRoles } from './room-roles.ts'
import type {
  JoinOptions,
  Layout,
  LeaveReason,
  Meta,
  PictureKind,
  PlaybackRequest,
  Position,
  RemovalReason,
  RoleChange,
  RoomEvent,
  RoomMedia,
  RoomMember,
  RoomMemberState,
  RoomParty,
  RoomPlayback,
  RoomSettings,
} from './room-types.ts'
import { RoomView } from './room-view.ts'
import { SessionMember } from './session-member.ts'
import { SessionPlaybacks } from './session-playbacks.ts'
import { SessionRecordings } from './session-recordings.ts'
import { SessionStreams } from './session-streams.ts'

/** Facts of a {@link RoomSession}. */
export interface RoomSessionOptions {
  readonly id: string
  readonly settings: RoomSettings
  readonly pictureKind: PictureKind
}

/** Options of {@link RoomSession.play}. */
export interface PlayOptions extends PlaybackRequest {
  /** Default the present one. */
  readonly layout?: string | undefined
  /** Positions by the ids of members; default unchanged. */
  readonly positions?: Readonly<Record<string, string>>
}

/** Collaborators of a {@link RoomSession}. */
export interface RoomSessionDeps {
  readonly media: RoomMedia
  readonly clock: SteadyClock
  readonly log: Pick<Log, 'error'>
}

/**
 * Life of a room from its first member to its last. Errors are of type TrunklineError. Methods that name a
 * member throw `room_member_unknown` if it is not present, unless they say otherwise. After the end, all
 * methods but reads have no effect, and no member can join.
 */
export class RoomSession {
  readonly id: string
  readonly settings: RoomSettings
  /** ms since the epoch. */
  readonly startedAt: number
  /** Recordings of the session. */
  readonly recordings: SessionRecordings
  /** Playbacks of the session; {@link play} starts one. */
  readonly playbacks: SessionPlaybacks
  /** Roles of members with room tokens; {@link promote} and {@link demote} change them. */
  readonly roles = new RoomRoles()
  /** Streams of the session to servers. */
  readonly streams: SessionStreams
  readonly #media: RoomMedia
  readonly #clock: SteadyClock
  readonly #log: Pick<Log, 'error'>
  readonly #view: RoomView
  readonly #members = new MemberList()
  readonly #events: RoomEventQueue
  #meta: Meta
  #isLocked = false
  #isVideoMutedHidden = false
  #isHandraisePrioritized: boolean
  #state: 'open' | 'ending' | 'ended' = 'open'
  /** Layout name of the last event. */
  #announcedLayout: LayoutName
  readonly #expiry: Timer | undefined

  constructor(options: RoomSessionOptions, { media, clock, log }: RoomSessionDeps) {
    this.id = options.id
    this.settings = options.settings
    this.startedAt = clock.now()
    this.#media = media
    this.#clock = clock
    this.#log = log
    this.#events = new RoomEventQueue(log)
    const emit = (...events: readonly RoomEvent[]) => this.#emit(...events)
    this.recordings = new SessionRecordings({
      record: this.#whileOpen(({ hasMembers = this.settings.recordMembers }) => media.record({ hasMembers })),
      clock,
      emit,
    })
    this.playbacks = new SessionPlaybacks({
      play: this.#whileOpen((request, onPicture) => media.play(request, onPicture)),
      clock,
      emit: (event) => this.#playbackChanged(event),
      onPicture: () => this.#update(),
    })
    this.streams = new SessionStreams({ stream: this.#whileOpen((url) => media.stream(url)), clock, emit })
    this.#meta = options.settings.meta
    this.#isHandraisePrioritized = options.settings.isHandraisePrioritized
    const { layout, removeAt, hasNames } = options.settings
    this.#view = new RoomView(
      () => ({
        members: this.#members.all,
        isVideoMutedHidden: this.#isVideoMutedHidden,
        isHandraisePrioritized: this.#isHandraisePrioritized,
        playbackId: this.playbacks.pictureId,
      }),
      { layout, kind: options.pictureKind, hasNames },
      { media, clock, onSpeaker: () => this.#update({ kind: 'speaker.changed' }) },
    )
    this.#announcedLayout = this.layoutName
    if (removeAt !== undefined)
      this.#expiry = clock.after(removeAt - this.startedAt, () => this.end('expired'))
  }

  /** Members, screens and devices in order of joining, without the audience. */
  get members(): readonly RoomMember[] {
    return this.present.filter(({ isAudience }) => !isAudience)
  }

  /** Members, screens and devices in order of joining, with the audience. */
  get present(): readonly RoomMember[] {
    return this.#members.all
  }

  /** Number of members of the audience. */
  get audienceCount(): number {
    return this.size - this.members.length
  }

  /** Number of members, screens and devices, with the audience. */
  get size(): number {
    return this.#members.size
  }

  get isLocked(): boolean {
    return this.#isLocked
  }

  get isVideoMutedHidden(): boolean {
    return this.#isVideoMutedHidden
  }

  get isHandraisePrioritized(): boolean {
    return this.#isHandraisePrioritized
  }

  get meta(): Meta {
    return this.#meta
  }

  /** Whether the last member has left. */
  get isEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Whether files can be played. */
  get hasFfmpeg(): boolean {
    return this.#media.hasFfmpeg
  }

  /** Layout in force. */
  get layoutName(): LayoutName {
    return this.#view.layoutName
  }

  /** Ids of the present speaker and of those before it, the latest first. */
  get speakers(): readonly string[] {
    return this.#view.speakers
  }

  /** Names of the layouts that can be set at present. */
  get layouts(): readonly LayoutName[] {
    return this.#view.layouts
  }

  /** Returns a member; undefined if it is not present. */
  member(id: string): RoomMember | undefined {
    return this.#members.get(id)
  }

  /**
   * Adds a listener of events. Returns a function that removes it. Errors of a listener are logged. Events
   * that a listener causes follow after the present one.
   */
  listen(listener: (event: RoomEvent) => void): () => void {
    return this.#events.listen(listener)
  }

  /**
   * Checks whether a member can join. `at`: ms since the epoch. A screen or a device of a present member may
   * come while the room is locked. Throws `room_ended`, `room_not_open`, `room_locked` or `room_full`.
   */
  check(at: number, type: RoomMember['type'] = 'member'): void {
    this.#checkOpen()
    checkEntry(this.settings, { at, type, isLocked: this.#isLocked, size: this.size })
  }

  /**
   * Adds a member. Throws the errors of {@link check}, `room_member_unknown` for a screen or device without a
   * present parent, and the errors of a position, a layout or metadata. The caller reports its voice and its
   * video afterwards.
   */
  join(options: JoinOptions): RoomMember {
    const { id, type, parentId, holder } = options
    const now = this.#clock.now()
    this.check(now, type)
    if (this.#members.has(id)) throw new Error(`room member ${id} joins twice`)
    if (type !== 'member' && this.#members.find(parentId ?? '').type !== 'member')
      throw new TrunklineError('room_member_unknown', undefined, { member: parentId })
    const isVideoOff = type === 'member' && this.settings.isVideoOffAtJoin
    const isDemoted = holder !== undefined && this.roles.demotionOf(holder.tokenId) !== undefined
    const member = new SessionMember({
      ...options,
      isAudience: options.isAudience === true || isDemoted,
      joinedAt: now,
      meta: checkedMeta(options.meta ?? {}),
      state: { ...(isVideoOff && { video_muted: true }), ...options.state },
      requestedPosition: positionNamed(options.requestedPosition ?? 'auto'),
      requestOrder: this.#members.nextRequest(),
    })
    if (options.layout !== undefined) this.#view.bringLayout(id, layoutNamed(options.layout, layoutNames))
    if (this.size > 0) this.#playTone('join', member)
    if (type === 'member') {
      const removeAfterMs = shorterOf(this.settings.removeAfterMs, options.removeAfterMs)
      if (removeAfterMs !== undefined)
        member.expiry = this.#clock.after(removeAfterMs, () => this.#expel(member, 'expired'))
    }
    this.#members.set(id, member)
    this.#update({ kind: 'member.joined', member })
    return member
  }

  /** Removes a member that left, with its screens and devices. Has no effect if it is not present. */
  leave(memberId: string, reason: LeaveReason): void {
    const member = this.#members.get(memberId)
    if (!member) return
    this.#removeSourcesOf(memberId, reason === 'left' ? 'removed' : reason)
    // The owner of a screen may have removed the member meanwhile.
    if (!this.#members.delete(memberId)) return
    member.expiry?.cancel()
    this.#view.forget(memberId)
    const isLast = this.size === 0
    if (isLast) this.#state = 'ending'
    else this.#playTone('leave', member)
    this.#update({ kind: 'member.left', member, reason })
    if (isLast) this.#close()
    else if (member.endsSessionOnLeave) this.end('ended')
  }

  /**
   * Gives the place of a member to another party. The member keeps its id, its position, its mutes and its
   * time limits. A lock, a full room and the times of joining do not matter. Its screens and devices are
   * removed, unless the party is the same. Has no effect if the member is not present.
   */
  replace(memberId: string, party: RoomParty): void {
    const member = this.#members.get(memberId)
    if (!member) return
    if (party.isRenewal) {
      member.callId = party.callId
      return
    }
    this.#removeSourcesOf(memberId, 'removed')
    if (!this.#members.has(memberId)) return
    this.setTalking(memberId, false)
    member.replace(party)
    this.#update({ kind: 'member.replaced', member })
  }

  /**
   * Makes a member of the audience a member that others see, which keeps its place. Throws
   * `room_member_unknown` if the audience has no such member, and `room_meta_too_large`.
   */
  promote(memberId: string, change: RoleChange = {}): void {
    this.#setRole(memberId, false, change)
  }

  /**
   * Makes a member a member of the audience, which sends nothing from now on. Its screens and devices are
   * removed. Throws `room_member_unknown` unless it is such a member, and `not_permitted` without a room
   * token.
   */
  demote(memberId: string, change: RoleChange = {}): void {
    this.#setRole(memberId, true, change)
  }

  /**
   * Changes the state of a member. `by`: member that wants the change; default the application. A mute by a
   * member itself stays if another member wants to undo it. Returns the names in the event: all given ones,
   * and `visible` if the visibility changed.
   */
  change(memberId: string, changes: Partial<RoomMemberState>, by?: string): readonly string[] {
    const member = this.#members.find(memberId)
    const isOwn = by === memberId || by === member.parentId
    const source = by === undefined ? 'application' : isOwn ? 'self' : 'other'
    const { updated, isAudioChanged } = member.change(changes, source)
    if (isAudioChanged) this.#media.setAudio(member)
    if (updated.length > 0) this.#update({ kind: 'member.updated', member, updated })
    return updated
  }

  /** Reports whether a member sends video. Has no effect if it is not present. */
  setHasVideo(memberId: string, hasVideo: boolean): void {
    const member = this.#members.get(memberId)
    if (!member?.canShow || member.hasVideo === hasVideo) return
    this.#changeVisibility(member, () => {
      member.hasVideo = hasVideo
    })
  }

  /** Reports whether a member is on hold: unheard and unseen. Has no effect if it is not present. */
  setHeld(memberId: string, isOnHold: boolean): void {
    const member = this.#members.get(memberId)
    if (!member || member.isOnHold === isOnHold) return
    this.#changeVisibility(member, () => {
      member.isOnHold = isOnHold
    })
    this.#media.setAudio(member)
  }

  /**
   * Reports whether a member talks. Has no effect if it is not present. `hasVoice`: false in a short word and
   * in a pause that has not ended the talking yet, which do not change the picture. Default as `isTalking`. A
   * microphone without a camera speaks for its owner in the choice of the picture.
   */
  setTalking(memberId: string, isTalking: boolean, hasVoice = isTalking): void {
    const member = this.#members.get(memberId)
    if (!member) return
    if (member.isTalking !== isTalking) {
      member.isTalking = isTalking
      this.#emit({ kind: 'member.talking', member })
    }
    member.hasVoice = hasVoice
    const voice = this.#members.voiceOf(member)
    this.#view.setTalking(voice.owner.id, voice.isTalking, voice.hasVoice)
  }

  /** Removes a member, and calls its `onRemoved`. */
  remove(memberId: string): void {
    this.#expel(this.#members.find(memberId), 'removed')
  }

  /** Ends the session: removes its members for this reason, and lets no more join. Idempotent. */
  end(reason: RemovalReason = 'ended'): void {
    if (this.#state !== 'open') return
    this.#state = 'ending'
    for (const member of this.#members.all) this.#expel(member, reason)
    this.#close()
  }

  /** Locks the room for further members, or unlocks it. */
  setLocked(isLocked: boolean): void {
    this.#isLocked = isLocked
    this.#emit({ kind: 'room.updated', updated: ['locked'] })
  }

  /** Sets whether members with a muted video have no place in the layout. */
  setVideoMutedHidden(isHidden: boolean): void {
    this.#isVideoMutedHidden = isHidden
    this.#update({ kind: 'room.updated', updated: ['hide_video_muted'] })
  }

  /** Sets whether raised hands come before speakers if the places are too few. */
  setHandraisePrioritized(isPrioritized: boolean): void {
    this.#isHandraisePrioritized = isPrioritized
    this.#update({ kind: 'room.updated', updated: ['prioritize_handraise'] })
  }

  /** Changes the metadata of the room. Throws `room_meta_too_large`. */
  changeMeta(change: MetaChange): void {
    this.#meta = changedMeta(this.#meta, change)
    this.#emit({ kind: 'room.updated', updated: ['meta'] })
  }

  /** Changes the metadata of a member. Throws `room_meta_too_large`. */
  changeMemberMeta(memberId: string, change: MetaChange): void {
    const member = this.#members.find(memberId)
    member.meta = changedMeta(member.meta, change)
    this.#emit({ kind: 'member.updated', member, updated: ['meta'] })
  }

  /**
   * Sets the layout, and positions by the ids of members. Throws `room_layout_unknown` if {@link layouts}
   * does not have the name, and the errors of {@link setPositions}. Nothing changes then.
   */
  setLayout(name: string, positions: Readonly<Record<string, string>> = {}): void {
    const layout = layoutNamed(name, this.layouts)
    const request = this.#members.positionsRequest(positions)
    this.#view.setLayout(layout)
    request()
    this.#update()
  }

  /** Requests positions by the ids of members. Throws `room_position_unknown`; nothing changes then. */
  setPositions(positions: Readonly<Record<string, string>>): void {
    this.#members.positionsRequest(positions)()
    this.#update()
  }

  /** Changes the kind of the picture. */
  setPictureKind(kind: PictureKind): void {
    this.#view.setKind(kind)
    this.#update()
  }

  /**
   * Returns the layout as a viewer sees it. Without a viewer, or if it is not present: as a member without a
   * camera sees it.
   */
  layoutFor(viewerId?: string): Layout {
    return this.#view.layoutFor(viewerId === undefined ? undefined : this.#members.get(viewerId))
  }

  /** Returns the position of a member in the layout of a viewer; `off-canvas` if it has none. */
  positionOf(memberId: string, viewerId?: string): Position {
    const layer = this.layoutFor(viewerId).layers.find((each) => each.memberId === memberId)
    return layer?.position ?? 'off-canvas'
  }

  /**
   * Plays a file to all members. `layout` and `positions` are those of {@link setLayout}; the layout is in
   * force until the end of the playback. Throws the errors of {@link setLayout} and of {@link
   * SessionPlaybacks.start}.
   */
  play({ layout, positions = {}, ...request }: PlayOptions): RoomPlayback {
    const brought = layout === undefined ? undefined : layoutNamed(layout, this.layouts)
    const setPositions = this.#members.positionsRequest(positions)
    const playback = this.playbacks.start(request)
    if (brought) this.#view.bringLayout(playback.id, brought)
    setPositions()
    this.#update()
    return playback
  }

  #playbackChanged(event: RoomEvent & { readonly kind: `playback.${string}` }): void {
    if (event.kind === 'playback.ended') this.#view.forget(event.playback.id)
    this.#emit(event)
    this.#update()
  }

  #checkOpen(): void {
    if (this.#state !== 'open')
      throw new TrunklineError('room_ended', undefined, { room: this.settings.name })
  }

  /** Returns a function that throws `room_ended` after the end. */
  #whileOpen<A extends readonly unknown[], R>(start: (...args: A) => R): (...args: A) => R {
    return (...args) => {
      this.#checkOpen()
      return start(...args)
    }
  }

  #setRole(memberId: string, isAudience: boolean, change: RoleChange): void {
    const member = this.#members.find(memberId)
    const setRole = this.roles.changing(member, isAudience, change)
    this.#removeSourcesOf(memberId, 'removed')
    this.setTalking(memberId, false)
    setRole()
    this.#media.setAudio(member)
    this.#update({ kind: isAudience ? 'member.demoted' : 'member.promoted', member, change })
  }

  #playTone(kind: 'join' | 'leave', { type, isAudience }: RoomMember): void {
    const isMember = type === 'member' && !isAudience
    if (isMember && this.settings.hasTones && this.#state === 'open') this.#media.playTone(kind)
  }

  /** Removes the screens and the devices of a member. */
  #removeSourcesOf(memberId: string, reason: RemovalReason): void {
    for (const each of this.#members.sourcesOf(memberId)) this.#expel(each, reason)
  }

  #changeVisibility(member: SessionMember, change: () => void): void {
    const wasVisible = member.isVisible
    change()
    if (member.isVisible === wasVisible) this.#update()
    else this.#update({ kind: 'member.updated', member, updated: ['visible'] })
  }

  /** Lets the owner of a member end its call, then removes the member. */
  #expel(member: SessionMember, reason: RemovalReason): void {
    // The owner of another member may have removed this one, or is just doing so.
    if (member.removal || !this.#members.has(member.id)) return
    member.removal = reason
    guardListener(member.onRemoved, this.#log)(reason)
    this.leave(member.id, reason)
  }

  /** Ends the session without members. */
  #close(): void {
    if (this.isEnded) return
    for (const each of [this.playbacks, this.streams, this.recordings]) each.close()
    this.#state = 'ended'
    this.#expiry?.cancel()
    this.#view.close()
    this.#events.emit([{ kind: 'room.ended' }])
  }

  #emit(...events: readonly RoomEvent[]): void {
    if (!this.isEnded) this.#events.emit(events)
  }

  /** Updates the picture and the layouts after any change, then reports the change and its effects. */
  #update(change?: RoomEvent): void {
    if (this.isEnded) return
    const events: RoomEvent[] = change ? [change] : []
    const isLayoutChanged = this.#view.update()
    if (this.layoutName !== this.#announcedLayout) {
      this.#announcedLayout = this.layoutName
      events.push({ kind: 'room.updated', updated: ['layout_name'] })
    }
    // A page that adds the party anew needs its place again.
    if (isLayoutChanged || change?.kind === 'member.replaced') events.push({ kind: 'layout.changed' })
    this.#events.emit(events)
  }
}

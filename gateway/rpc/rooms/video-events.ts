import type { RoomSession } from '../../rooms/room-session.ts'
import type { RoomEvent, RoomMember } from '../../rooms/room-types.ts'
import { layoutBody, roomIds } from './layout-body.ts'
import { playbackBody } from './playback-body.ts'
import { recordingBody } from './recording-body.ts'
import { streamBody } from './stream-body.ts'
import { type VideoRoomBodiesOptions, videoMemberBody, videoRoomBodies } from './video-bodies.ts'

/** Event of the `video.*` dialect. */
export interface VideoEvent {
  /** Such as `video.member.joined`. */
  readonly type: string
  /** Returns the params, which are made when a client wants the event. */
  readonly params: () => object
}

/** Client that receives the events. */
type VideoViewer = Pick<VideoRoomBodiesOptions, 'viewerId' | 'isGuest'>

type MemberEvent = RoomEvent & { readonly kind: `member.${string}` }

/** Makes the events of a room for its clients: pages with room tokens, and applications. */
export class VideoRoomEvents {
  readonly #session: RoomSession
  readonly #viewer: VideoViewer

  constructor(session: RoomSession, viewer: VideoViewer = {}) {
    this.#session = session
    this.#viewer = viewer
  }

  /** Returns the event of the beginning of the session. */
  started(): VideoEvent {
    return this.#event('room.started', () => this.#bodies())
  }

  /** Returns the event with the state of the room. `ids`: further params. */
  subscribed(ids: object = {}): VideoEvent {
    return this.#event('room.subscribed', () => ({ ...ids, ...this.#bodies() }))
  }

  layoutChanged(): VideoEvent {
    const session = this.#session
    return this.#event('layout.changed', () => ({
      layout: layoutBody(session, session.layoutFor(this.#viewer.viewerId)),
    }))
  }

  /** Returns the event of a changed member, which may be a member of the audience. */
  memberUpdated(member: RoomMember, updated: readonly string[]): VideoEvent {
    return this.#event('member.updated', () => ({ member: { ...this.#body(member), updated } }))
  }

  /**
   * Returns the events for an event of the session. Members of the audience are counted alone: their other
   * events have no equivalent.
   */
  of(event: RoomEvent): readonly VideoEvent[] {
    switch (event.kind) {
      case 'room.updated':
        return [this.#event(event.kind, () => this.#bodies(event.updated))]
      case 'room.ended':
        return [this.#event(event.kind, () => this.#bodies())]
      case 'layout.changed':
        return [this.layoutChanged()]
      case 'speaker.changed':
        return []
      case 'recording.started':
      case 'recording.updated':
      case 'recording.ended':
        return [this.#event(event.kind, () => ({ recording: recordingBody(event.recording) }))]
      case 'playback.started':
      case 'playback.updated':
      case 'playback.ended':
        return [this.#event(event.kind, () => ({ playback: playbackBody(event.playback) }))]
      case 'stream.started':
      case 'stream.ended':
        return [this.#event(event.kind, () => ({ stream: streamBody(event.stream) }))]
      // The others see a member that joins or leaves.
      case 'member.promoted':
        return [this.#about('member.joined', event.member), this.audienceCount()]
      case 'member.demoted':
        return [this.#about('member.left', event.member), this.audienceCount()]
      default:
        return event.member.isAudience ? this.#ofAudience(event) : this.#ofMember(event)
    }
  }

  /** Returns the event with the number of members of the audience. */
  audienceCount(): VideoEvent {
    return this.#event('room.audience_count', () => ({ total: this.#session.audienceCount }))
  }

  /** Returns the event of a member's new role, for this member alone. `authorization`: its new rights. */
  roleChanged(
    kind: 'member.promoted' | 'member.demoted',
    memberId: string,
    authorization: object,
  ): VideoEvent {
    return this.#event(kind, () => ({ member_id: memberId, authorization }))
  }

  #ofMember(event: MemberEvent): readonly VideoEvent[] {
    const { kind, member } = event
    if (kind === 'member.updated') return [this.memberUpdated(member, event.updated)]
    if (kind === 'member.talking')
      return [this.#event(kind, () => ({ member: { id: member.id, talking: member.isTalking } }))]
    // Published clients know no other way to learn a new name.
    const kinds = kind === 'member.replaced' ? (['member.left', 'member.joined'] as const) : [kind]
    return kinds.map((each) => this.#about(each, member))
  }

  #ofAudience({ kind }: MemberEvent): readonly VideoEvent[] {
    if (kind !== 'member.joined' && kind !== 'member.left') return []
    return [this.audienceCount()]
  }

  #about(name: string, member: RoomMember): VideoEvent {
    return this.#event(name, () => ({ member: this.#body(member) }))
  }

  #body(member: RoomMember) {
    return videoMemberBody(this.#session, member, this.#viewer.isGuest)
  }

  #bodies(updated?: readonly string[]) {
    return videoRoomBodies(this.#session, { ...this.#viewer, updated })
  }

  #event(name: string, params: () => object): VideoEvent {
    return { type: `video.${name}`, params: () => ({ ...roomIds(this.#session), ...params() }) }
  }
}

import type { PermissionScope, RoomAction } from '../../../rooms/permissions.ts'
import type { RoomEvent, RoomMember } from '../../../rooms/room-types.ts'
import { layoutBody, roomIds } from '../../rooms/layout-body.ts'
import { BrowserRoom } from './browser-room.ts'
import { memberBody, type RoomViewer, roomBody } from './room-bodies.ts'

/** Actions that only holders of room tokens are permitted. */
const ofTokens: ReadonlySet<RoomAction> = new Set([
  'recording',
  'promote',
  'demote',
  'playback',
  'playback_seek',
  'stream',
])

/** Events of a room for one browser of a subscriber, a guest or an invited user. */
export class SubscriberRoom extends BrowserRoom {
  /**
   * A guest changes itself alone, and may read the layouts. Recordings, playbacks and roles need a room
   * token.
   */
  may(action: RoomAction, scope: PermissionScope): boolean {
    if (ofTokens.has(action)) return false
    return this.viewer.seesSubscribers || scope === 'self' || action === 'list_available_layouts'
  }

  protected sendJoined(): void {
    this.#emit('call.joined', {
      room_session: roomBody(this.session, this.viewer),
      ...this.#segment,
      capabilities: roomCapabilities(this.viewer),
    })
  }

  protected sendLeft(reason: string): void {
    this.#emit('call.left', { ...this.#segment, reason })
  }

  protected sendLayout(): void {
    const layout = layoutBody(this.session, this.session.layoutFor(this.member.id))
    this.#emit('layout.changed', { ...roomIds(this.session), layout })
  }

  protected report(event: RoomEvent): void {
    const isOfAudience = 'member' in event && event.member.isAudience
    if (!isOfAudience || event.kind === 'member.demoted') this.#report(event)
    this.handleCommon(event)
  }

  #report(event: RoomEvent): void {
    switch (event.kind) {
      case 'member.joined':
      case 'member.left':
        if (event.member.id !== this.member.id) this.#emit(event.kind, this.#about(event.member))
        break
      case 'member.promoted':
        this.#emit('member.joined', this.#about(event.member))
        break
      case 'member.demoted':
        this.#emit('member.left', this.#about(event.member))
        break
      case 'member.updated': {
        // Without `updated`, the event worker of the SDK fails and stops.
        const about = this.#about(event.member)
        const member = { ...about.member, updated: event.updated }
        this.#emit('member.updated', { ...about, member })
        break
      }
      // Published clients know no other way to learn a new name.
      case 'member.replaced':
        if (event.member.id === this.member.id) break
        this.#emit('member.left', this.#about(event.member))
        this.#emit('member.joined', this.#about(event.member))
        break
      case 'member.talking': {
        const { id: member_id, callId: call_id, isTalking: talking } = event.member
        const member = { member_id, call_id, node_id: this.viewer.nodeId, talking }
        this.#emit('member.talking', { ...roomIds(this.session), member })
        break
      }
      case 'room.updated':
        this.#emit('call.updated', {
          ...roomIds(this.session),
          call_id: this.member.callId,
          node_id: this.viewer.nodeId,
          room_session: { ...roomBody(this.session, this.viewer), updated: event.updated },
        })
        break
      case 'layout.changed':
      case 'recording.started':
      case 'recording.updated':
      case 'recording.ended':
      case 'playback.started':
      case 'playback.updated':
      case 'playback.ended':
      case 'stream.started':
      case 'stream.ended':
      case 'speaker.changed':
      case 'room.ended':
        break
    }
  }

  get #segment() {
    return {
      ...roomIds(this.session),
      call_id: this.member.callId,
      member_id: this.member.id,
      node_id: this.browser.nodeId,
      origin_call_id: this.callId,
    }
  }

  #about(member: RoomMember) {
    return { ...roomIds(this.session), member: memberBody(this.session, member, this.viewer) }
  }

  #emit(type: string, params: unknown): void {
    this.browser.emit(type, params)
  }
}

/**
 * Returns the capabilities in a room that `call.joined` grants to the SDK. Only subscribers may change other
 * members or the room.
 */
const roomCapabilities = ({ seesSubscribers }: RoomViewer): readonly string[] => {
  const own = ['self', 'screenshare', 'device', 'digit']
  return seesSubscribers ? [...own, 'member', 'layout', 'vmuted', 'lock', 'end'] : own
}

import type { BrowserVideo } from '../../../../media/types.ts'
import type { RoomScreen, RoomSeat } from '../../../calls/leg/room-seat.ts'
import type { RoomSession } from '../../../rooms/room-session.ts'
import type { RoomEvent, RoomMember } from '../../../rooms/room-types.ts'
import type { BrowserSession } from '../browser-session.ts'
import { layoutBody, memberBodies, memberBody, type RoomViewer, roomBody, roomIds } from './room-bodies.ts'

/** Facts of {@link RoomEvents}. */
export interface RoomEventsOptions {
  readonly browser: BrowserSession
  /** Id of the browser's call, which is its first segment. */
  readonly callId: string
  readonly seat: RoomSeat
  readonly video: BrowserVideo
}

/** Events of a room for one browser that is a member of it. */
export class RoomEvents {
  readonly #options: RoomEventsOptions
  readonly #stop: () => void
  #hasJoined = false

  constructor(options: RoomEventsOptions) {
    this.#options = options
    this.#stop = options.seat.session.listen((event) => this.#report(event))
  }

  get session(): RoomSession {
    return this.#options.seat.session
  }

  /** The browser's own member. */
  get member(): RoomMember {
    return this.#options.seat.member
  }

  /** The browser as a viewer of the room. */
  get viewer(): RoomViewer {
    const { browser } = this.#options
    const { nodeId, identity } = browser
    return { memberId: this.member.id, nodeId, seesSubscribers: identity.kind === 'subscriber' }
  }

  /** All members, for lists. */
  get members() {
    return memberBodies(this.session, this.viewer)
  }

  /** Sends `call.joined`, upon which `start()` of the SDK resolves, and the layout. */
  joined(): void {
    this.#hasJoined = true
    const { browser, callId } = this.#options
    this.#emit('call.joined', {
      room_session: roomBody(this.session, this.viewer),
      ...roomIds(this.session),
      call_id: this.member.callId,
      member_id: this.member.id,
      node_id: browser.nodeId,
      origin_call_id: callId,
      capabilities: roomCapabilities(this.viewer),
    })
    this.sendLayout()
  }

  /** Sends `call.left` if the browser had joined, and no further event. */
  left(reason: string): void {
    this.#stop()
    if (!this.#hasJoined) return
    this.#hasJoined = false
    const { browser, callId } = this.#options
    this.#emit('call.left', {
      ...roomIds(this.session),
      call_id: this.member.callId,
      member_id: this.member.id,
      node_id: browser.nodeId,
      origin_call_id: callId,
      reason,
    })
  }

  /** Adds a shared screen of the browser. Throws as `RoomSession.join` does. */
  addScreen(screen: RoomScreen): RoomMember {
    return this.#options.seat.addScreen(screen)
  }

  /** Removes a shared screen of the browser. */
  removeScreen(screen: RoomMember): void {
    this.#options.seat.removeScreen(screen)
  }

  /** Sends the layout, if the browser receives video. */
  sendLayout(): void {
    if (!this.#hasJoined || !this.#options.video.isReceiving) return
    const layout = layoutBody(this.session, this.session.layoutFor(this.member.id))
    this.#emit('layout.changed', { ...roomIds(this.session), layout })
  }

  #report(event: RoomEvent): void {
    if (!this.#hasJoined) return
    switch (event.kind) {
      case 'member.joined':
      case 'member.left':
        if (event.member.id !== this.member.id) this.#emit(event.kind, this.#about(event.member))
        break
      case 'member.updated':
        this.#updated(event.member, event.updated)
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
        this.sendLayout()
        break
      case 'room.ended':
        break
    }
  }

  #updated(member: RoomMember, updated: readonly string[]): void {
    // Without `updated`, the event worker of the SDK fails and stops.
    const about = this.#about(member)
    this.#emit('member.updated', { ...about, member: { ...about.member, updated } })
    if (member.id === this.member.id && updated.some((name) => name in audioConstraints))
      this.#constrain(member)
  }

  /** Sets the audio processing of the browser's microphone. */
  #constrain({ state }: RoomMember): void {
    const { browser, callId: callID } = this.#options
    const audio = Object.fromEntries(
      Object.entries(audioConstraints).map(([name, constraint]) => [
        constraint,
        state[name as keyof typeof audioConstraints],
      ]),
    )
    browser.sendVerto('verto.mediaParams', { callID, mediaParams: { audio } })
  }

  #about(member: RoomMember) {
    return { ...roomIds(this.session), member: memberBody(this.session, member, this.viewer) }
  }

  #emit(type: string, params: unknown): void {
    this.#options.browser.emit(type, params)
  }
}

/** Constraints of a microphone by the names of a member's state. */
const audioConstraints = {
  echo_cancellation: 'echoCancellation',
  auto_gain: 'autoGainControl',
  noise_suppression: 'noiseSuppression',
} as const

/**
 * Returns the capabilities in a room that `call.joined` grants to the SDK. Only subscribers may change other
 * members or the room.
 */
const roomCapabilities = ({ seesSubscribers }: RoomViewer): readonly string[] => {
  const own = ['self', 'screenshare', 'digit']
  return seesSubscribers ? [...own, 'member', 'layout', 'vmuted', 'lock', 'end'] : own
}

import { isPermitted, type PermissionScope, type RoomAction } from '../../rooms/permissions.ts'
import type { RoomEvent } from '../../rooms/room-types.ts'
import { type VideoEvent, VideoRoomEvents } from '../rooms/video-events.ts'
import { BrowserRoom, type BrowserRoomOptions } from '../subscriber/rooms/browser-room.ts'

/** Events of a room for one browser with a room token: `Video.RoomSession` of the published SDK. */
export class VideoRoom extends BrowserRoom {
  /** Whether the browser began the session, and does not know it yet. */
  #isNew: boolean
  readonly #events: VideoRoomEvents

  constructor(options: BrowserRoomOptions) {
    super(options)
    this.#events = new VideoRoomEvents(this.session, this.member.id)
    this.#isNew = this.session.size === 1
  }

  may(action: RoomAction, scope: PermissionScope): boolean {
    return isPermitted(this.browser.identity.room?.permissions ?? [], action, scope)
  }

  protected sendJoined(): void {
    if (this.#isNew) this.#send(this.#events.started())
    this.#isNew = false
    // The SDK's `join()` resolves on this event.
    this.#send(this.#events.subscribed({ call_id: this.callId, member_id: this.member.id }))
  }

  /** Sends nothing: the SDK learns by `verto.bye` that it has left. */
  protected sendLeft(): void {}

  protected sendLayout(): void {
    this.#send(this.#events.layoutChanged())
  }

  protected report(event: RoomEvent): void {
    if ('member' in event && event.member.id === this.member.id) this.#reportOwn(event)
    // A new layout is among the events that all dialects handle alike.
    else if (event.kind !== 'layout.changed') this.#send(...this.#events.of(event))
    this.handleCommon(event)
  }

  /** The page learns the changes of its own state, also as a member of the audience. */
  #reportOwn(event: RoomEvent & { readonly kind: `member.${string}` }): void {
    if (event.kind === 'member.updated') this.#send(this.#events.memberUpdated(event.member, event.updated))
    if (event.kind === 'member.talking') this.#send(...this.#events.of(event))
  }

  #send(...events: readonly VideoEvent[]): void {
    for (const { type, params } of events) this.browser.emit(type, params())
  }
}

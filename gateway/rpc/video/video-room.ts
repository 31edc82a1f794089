import { isPermitted, type PermissionScope, type RoomAction } from '../../rooms/permissions.ts'
import type { RoomEvent } from '../../rooms/room-types.ts'
import { layoutBody, roomIds } from '../rooms/layout-body.ts'
import { videoMemberBody, videoRoomBodies } from '../rooms/video-bodies.ts'
import { BrowserRoom, type BrowserRoomOptions } from '../subscriber/rooms/browser-room.ts'

/** Events of a room for one browser with a room token: `Video.RoomSession` of the published SDK. */
export class VideoRoom extends BrowserRoom {
  /** Whether the browser began the session, and does not know it yet. */
  #isNew: boolean

  constructor(options: BrowserRoomOptions) {
    super(options)
    this.#isNew = this.session.size === 1
  }

  may(action: RoomAction, scope: PermissionScope): boolean {
    return isPermitted(this.browser.identity.room?.permissions ?? [], action, scope)
  }

  protected sendJoined(): void {
    if (this.#isNew) this.#emit('room.started', this.#bodies())
    this.#isNew = false
    // The SDK's `join()` resolves on this event.
    this.#emit('room.subscribed', { call_id: this.callId, member_id: this.member.id, ...this.#bodies() })
  }

  /** Sends nothing: the SDK learns by `verto.bye` that it has left. */
  protected sendLeft(): void {}

  protected sendLayout(): void {
    this.#emit('layout.changed', { layout: layoutBody(this.session, this.session.layoutFor(this.member.id)) })
  }

  protected report(event: RoomEvent): void {
    if ('member' in event && event.member.isAudience) this.#reportAudience(event)
    else this.#report(event)
    this.handleCommon(event)
  }

  #report(event: RoomEvent): void {
    switch (event.kind) {
      case 'member.joined':
      case 'member.left':
        if (event.member.id !== this.member.id)
          this.#emit(event.kind, { member: videoMemberBody(this.session, event.member) })
        break
      case 'member.updated':
        this.#emit(event.kind, {
          member: { ...videoMemberBody(this.session, event.member), updated: event.updated },
        })
        break
      case 'member.talking': {
        const { id, isTalking: talking } = event.member
        this.#emit(event.kind, { member: { id, talking } })
        break
      }
      case 'room.updated':
        this.#emit(event.kind, this.#bodies(event.updated))
        break
      case 'room.ended':
        this.#emit(event.kind, this.#bodies())
        break
      case 'layout.changed':
        break
    }
  }

  /** The audience has a number alone, and each of its members learns the changes of its own state. */
  #reportAudience(event: RoomEvent & { readonly kind: `member.${string}` }): void {
    if (event.kind === 'member.joined' || event.kind === 'member.left')
      this.#emit('room.audience_count', { total: this.session.audienceCount })
    if (event.kind === 'member.updated' && event.member.id === this.member.id) this.#report(event)
  }

  #bodies(updated?: readonly string[]) {
    return videoRoomBodies(this.session, this.member.id, updated)
  }

  #emit(type: string, params: object): void {
    this.browser.emit(`video.${type}`, { ...roomIds(this.session), ...params })
  }
}

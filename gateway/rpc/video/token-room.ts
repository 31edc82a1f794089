import {
  grantedPermissions,
  isPermitted,
  type PermissionScope,
  type RoomAction,
} from '../../rooms/permissions.ts'
import type { RoleChange, RoomEvent } from '../../rooms/room-types.ts'
import { type VideoEvent, VideoRoomEvents } from '../rooms/video-events.ts'
import { BrowserRoom, type BrowserRoomOptions } from '../subscriber/rooms/browser-room.ts'
import { videoAuthorization } from './video-authorization.ts'

type OwnEvent = RoomEvent & { readonly kind: `member.${string}` }
type RoleEvent = RoomEvent & { readonly kind: 'member.promoted' | 'member.demoted' }

/** Events of a room for one browser with a room token: `Video.RoomSession` of the published SDK. */
export class TokenRoom extends BrowserRoom {
  /** Whether the browser began the session, and does not know it yet. */
  #isNew: boolean
  readonly #events: VideoRoomEvents

  constructor(options: BrowserRoomOptions) {
    super(options)
    this.#events = new VideoRoomEvents(this.session, { viewerId: this.member.id, isGuest: this.isGuest })
    this.#isNew = this.session.size === 1 && !options.isRenewal
  }

  may(action: RoomAction, scope: PermissionScope): boolean {
    return isPermitted(this.browser.identity.room?.permissions ?? [], action, scope)
  }

  protected sendJoined(): void {
    if (this.#isNew) this.#send(this.#events.started())
    this.#isNew = false
    // The SDK's `join()` resolves on this event.
    this.#send(this.#events.subscribed({ call_id: this.callId, member_id: this.member.id }))
    // The room remembers that it has demoted the holder of the token.
    const { room } = this.browser.identity
    if (!this.member.isAudience || room?.role !== 'member') return
    this.#changeRole('member.demoted', this.session.roles.demotionOf(this.member.holder?.tokenId ?? '') ?? {})
  }

  /** Sends nothing: the SDK learns by `verto.bye` that it has left. */
  protected sendLeft(): void {
    // The role belongs to the membership, which another connection may continue.
    if (this.renewal !== 'replaced') this.browser.changeGrant()
  }

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
  #reportOwn(event: OwnEvent): void {
    if (event.kind === 'member.updated') this.#send(this.#events.memberUpdated(event.member, event.updated))
    if (event.kind === 'member.talking') this.#send(...this.#events.of(event))
    if (event.kind !== 'member.promoted' && event.kind !== 'member.demoted') return
    this.#changeRole(event.kind, event.change)
    this.#send(this.#events.audienceCount())
  }

  /** Changes the rights of the browser. The SDK then connects anew, with another call id. */
  #changeRole(kind: RoleEvent['kind'], { permissions, meta }: RoleChange): void {
    const { browser } = this
    const { holder } = this.member
    browser.changeGrant({
      role: kind === 'member.promoted' ? 'member' : 'audience',
      ...(holder && { media: holder.mediaAllowed }),
      ...(permissions && { permissions: grantedPermissions(permissions, this.session.hasFfmpeg) }),
      ...(meta && { meta }),
    })
    this.renewal = 'awaited'
    const { room } = browser.identity
    if (room) this.#send(this.#events.roleChanged(kind, this.member.id, videoAuthorization(browser, room)))
  }

  #send(...events: readonly VideoEvent[]): void {
    for (const { type, params } of events) this.browser.emit(type, params())
  }
}

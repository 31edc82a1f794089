import type { BrowserVideo } from '../../../../media/types.ts'
import type { RoomSeat, RoomSource, SeatTracks, TrackListener } from '../../../calls/leg/room-seat.ts'
import { type CameraSize, fullCamera } from '../../../rooms/camera-sizes.ts'
import type { PermissionScope, RoomAction } from '../../../rooms/permissions.ts'
import type { RoomSession } from '../../../rooms/room-session.ts'
import type { RoomEvent, RoomMember } from '../../../rooms/room-types.ts'
import type { RoomActor } from '../../rooms/room-actor.ts'
import type { BrowserSession } from '../browser-session.ts'
import type { RoomViewer } from './room-bodies.ts'

/** Facts of a {@link BrowserRoom}. */
export interface BrowserRoomOptions {
  readonly browser: BrowserSession
  /** Id of the browser's call, which is its first segment. */
  readonly callId: string
  readonly seat: RoomSeat
  readonly video: BrowserVideo
  /** Whether the browser is a member already, over another connection. */
  readonly isRenewal: boolean
}

/** Opens the events of a room for one browser. */
export type OpenBrowserRoom = (options: BrowserRoomOptions) => BrowserRoom

/** Room that a browser is a member of. Each dialect has an implementation, which sends the events. */
export abstract class BrowserRoom implements RoomActor {
  readonly browser: BrowserSession
  /**
   * Connection of the browser. `awaited`: its role has changed, and it connects anew. `replaced`: another
   * connection has the place of this one.
   */
  renewal: 'none' | 'awaited' | 'replaced' = 'none'
  protected readonly callId: string
  readonly #seat: RoomSeat
  readonly #video: BrowserVideo
  readonly #stop: () => void
  #hasJoined = false
  /** Size that the camera shall have, and the one that was sent. */
  #camera = fullCamera
  #sentCamera = fullCamera
  #tracks: SeatTracks | undefined

  constructor({ browser, callId, seat, video }: BrowserRoomOptions) {
    this.browser = browser
    this.callId = callId
    this.#seat = seat
    this.#video = video
    this.#stop = seat.session.listen((event) => {
      if (this.#hasJoined) this.report(event)
    })
    seat.onCameraSize((size) => {
      this.#camera = size
      this.#sendCamera()
    })
  }

  get session(): RoomSession {
    return this.#seat.session
  }

  /** The browser's own member. */
  get member(): RoomMember {
    return this.#seat.member
  }

  /** Whether the browser sees telephone numbers masked. */
  get isGuest(): boolean {
    return !this.viewer.seesSubscribers
  }

  /** The browser as a viewer of the room. */
  get viewer(): RoomViewer {
    const { nodeId, identity } = this.browser
    return { memberId: this.member.id, nodeId, seesSubscribers: identity.kind === 'subscriber' }
  }

  /** Reports that the browser has joined, upon which the SDK's promise resolves, and sends the layout. */
  joined(): void {
    this.#hasJoined = true
    this.sendJoined()
    this.#sendLayout()
    this.#sendCamera()
  }

  /**
   * Reports that the browser has left if it had joined, and sends no further event. `reason`: of the call, if
   * the room has not removed the member.
   */
  left(reason: string): void {
    this.#stop()
    this.closeTracks()
    if (!this.#hasJoined) return
    this.#hasJoined = false
    this.sendLeft(this.member.removal ?? reason)
  }

  /** Gives the camera its full size before a browser that has joined continues its call elsewhere. */
  restoreCamera(): void {
    this.#camera = fullCamera
    this.#sendCamera()
  }

  /**
   * Adds a further source of the browser. Its layout is ignored unless the browser may set layouts. Throws as
   * `RoomSeat.addSource` does.
   */
  addSource({ layout, ...source }: RoomSource): RoomMember {
    const isSet = layout !== undefined && this.may('set_layout', 'room')
    return this.#seat.addSource({ ...source, ...(isSet && { layout }) })
  }

  /** Separate cameras that the browser receives; undefined without. */
  get tracks(): SeatTracks | undefined {
    return this.#tracks
  }

  /** Opens lines for separate cameras, see {@link RoomSeat.openTracks}. */
  async openTracks(lines: number, listener: TrackListener): Promise<SeatTracks> {
    const ended = () => {
      if (this.#tracks === tracks) this.#tracks = undefined
      listener.ended()
    }
    const tracks: SeatTracks = await this.#seat.openTracks(lines, { ...listener, ended })
    this.#tracks = tracks
    return tracks
  }

  /** Ends the lines for separate cameras, if any. */
  closeTracks(): void {
    this.#tracks?.close()
    this.#tracks = undefined
  }

  /** Removes a further source of the browser. */
  removeSource(source: RoomMember): void {
    this.#seat.removeSource(source)
  }

  abstract may(action: RoomAction, scope: PermissionScope): boolean
  protected abstract sendJoined(): void
  protected abstract sendLeft(reason: string): void
  protected abstract sendLayout(): void
  /** Sends an event of a room that the browser has joined. */
  protected abstract report(event: RoomEvent): void

  /** Handles events that are equal in all dialects: a new layout, and audio flags of the own member. */
  protected handleCommon(event: RoomEvent): void {
    if (event.kind === 'layout.changed') this.#sendLayout()
    if (event.kind !== 'member.updated' || event.member.id !== this.member.id) return
    if (event.updated.some((name) => name in audioConstraints)) this.#constrain(event.member)
  }

  #sendLayout(): void {
    if (this.#video.isReceiving) this.sendLayout()
  }

  /** Sets the audio processing of the browser's microphone. */
  #constrain({ state }: RoomMember): void {
    const audio = Object.fromEntries(
      Object.entries(audioConstraints).map(([name, constraint]) => [
        constraint,
        state[name as keyof typeof audioConstraints],
      ]),
    )
    this.#sendParams({ audio })
  }

  /** Sets the size of the browser's camera if it has changed. A browser may ignore that. */
  #sendCamera(): void {
    if (!this.#hasJoined || this.#camera === this.#sentCamera) return
    this.#sentCamera = this.#camera
    this.#sendParams({ video: constraintsOf(this.#camera) })
  }

  #sendParams(mediaParams: object): void {
    this.browser.sendVerto('verto.mediaParams', { callID: this.callId, mediaParams })
  }
}

/** Returns the constraints of a camera. None is exact, so that a camera without the size is not refused. */
const constraintsOf = ({ width, height, frameRate }: CameraSize) => ({
  width: { ideal: width, max: width },
  height: { ideal: height, max: height },
  frameRate: { ideal: frameRate, max: frameRate },
})

/** Constraints of a microphone by the names of a member's state. */
const audioConstraints = {
  echo_cancellation: 'echoCancellation',
  auto_gain: 'autoGainControl',
  noise_suppression: 'noiseSuppression',
} as const

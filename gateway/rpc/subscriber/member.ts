import { randomUUID } from 'node:crypto'
import type { UserVariables } from '../../../handlers/verbs.ts'

/** Changeable state of a member, by the names in events. */
export interface MemberState {
  handraised: boolean
  audio_muted: boolean
  video_muted: boolean
  deaf: boolean
  /** −50 … 50. */
  input_volume: number
  output_volume: number
  /** 0 … 100. */
  input_sensitivity: number
  echo_cancellation: boolean
  auto_gain: boolean
  noise_suppression: boolean
}

/** Facts of a {@link Member}. */
export interface MemberOptions {
  readonly type: 'member' | 'screen'
  /** Id of the call in browsers. */
  readonly callId: string
  readonly nodeId: string
  /** The member that a screen belongs to. */
  readonly parentId?: string
  /** Variables that other members see; default none. */
  readonly meta?: UserVariables
  /** State that differs from the default. */
  readonly state?: Partial<MemberState>
}

/** Display of a member in one browser. */
export interface MemberDisplay {
  /** Room of the browser. */
  readonly roomId: string
  readonly name: string
  /** Position in the layout. */
  readonly position: 'auto' | 'standard-1' | 'off-canvas'
  readonly visible: boolean
  /** Null for telephones and undisclosed subscribers. */
  readonly subscriberId: string | null
  readonly addressId: string | null
  /** Whether the browser may remove the member, as it has added the person. */
  readonly removable: boolean
  /** Whether the member has put the call on hold. */
  readonly isOnHold: boolean
}

/** Member of a call, or its shared screen. Its id is the same in every browser. */
export class Member {
  readonly id = randomUUID()
  readonly #options: MemberOptions
  readonly #state: MemberState

  constructor(options: MemberOptions) {
    this.#options = options
    this.#state = {
      handraised: false,
      audio_muted: false,
      video_muted: false,
      deaf: false,
      input_volume: 0,
      output_volume: 0,
      input_sensitivity: 50,
      echo_cancellation: true,
      auto_gain: true,
      noise_suppression: true,
      ...options.state,
    }
  }

  get callId(): string {
    return this.#options.callId
  }

  get state(): Readonly<MemberState> {
    return this.#state
  }

  /**
   * Changes the state. Returns the names of all given properties, even unchanged ones, so that repeated
   * requests are reported again.
   */
  set(changes: Partial<MemberState>): string[] {
    Object.assign(this.#state, changes)
    return Object.keys(changes)
  }

  /** Returns the member for events and lists. */
  view(display: MemberDisplay) {
    const { roomId, name, position, visible, subscriberId, addressId, removable, isOnHold } = display
    const { type, callId, nodeId, parentId, meta = {} } = this.#options
    return {
      type,
      call_id: callId,
      member_id: this.id,
      node_id: nodeId,
      name,
      room_id: roomId,
      room_session_id: roomId,
      visible,
      removable,
      on_hold: isOnHold,
      ...this.#state,
      lowbitrate: false,
      denoise: false,
      talking: false,
      meta,
      subscriber_id: subscriberId,
      address_id: addressId,
      parent_id: parentId ?? null,
      requested_position: 'auto',
      current_position: position,
    }
  }
}

/** Member as events and lists contain it. */
export type MemberView = ReturnType<Member['view']>

import { randomUUID } from 'node:crypto'
import type { UserVariables } from '../../../handlers/verbs.ts'

/** What of a member can change, by its name on the wire. */
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

/** What a member is. */
export interface MemberOptions {
  readonly type: 'member' | 'screen'
  /** The id by which pages know its call. */
  readonly callId: string
  readonly nodeId: string
  /** The member that a screen belongs to. */
  readonly parentId?: string
  /** Variables that it shows to the others; default none. */
  readonly meta?: UserVariables
  /** What is not as it mostly is. */
  readonly state?: Partial<MemberState>
}

/** A member as one page is shown it. */
export interface MemberDisplay {
  /** The room of that page. */
  readonly roomId: string
  readonly name: string
  /** Where it is in that page's picture. */
  readonly position: 'auto' | 'standard-1' | 'off-canvas'
  readonly visible: boolean
  /** Null: it is nobody's, or the page is not told whose. */
  readonly subscriberId: string | null
  readonly addressId: string | null
}

/** One who takes part in a call, or a screen that one shares. Its id is the same for every page. */
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
   * Changes the state; returns the names of what was given, changed or not, so that a repeated request is
   * told again.
   */
  set(changes: Partial<MemberState>): string[] {
    Object.assign(this.#state, changes)
    return Object.keys(changes)
  }

  /** The member as events and lists carry it. */
  view({ roomId, name, position, visible, subscriberId, addressId }: MemberDisplay) {
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

/** A {@link Member} as it goes over the wire. */
export type MemberView = ReturnType<Member['view']>

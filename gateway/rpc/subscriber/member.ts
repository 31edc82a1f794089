import { randomUUID } from 'node:crypto'
import type { TokenHolder } from '../../auth/holders.ts'

/** Where a member is. */
export interface MemberPlace {
  readonly callId: string
  readonly nodeId: string
  readonly roomId: string
}

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

/** A browser's place in its call, as the SDK shows it. */
export class Member {
  readonly id = randomUUID()
  readonly #place: MemberPlace
  readonly #holder: TokenHolder
  readonly #state: MemberState = {
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
  }

  constructor(place: MemberPlace, holder: TokenHolder) {
    this.#place = place
    this.#holder = holder
  }

  /** Changes the state; returns the names of what was given, changed or not, so that a repeated request is told again. */
  set(changes: Partial<MemberState>): string[] {
    Object.assign(this.#state, changes)
    return Object.keys(changes)
  }

  /** The member as events and lists carry it. */
  view() {
    const { callId, nodeId, roomId } = this.#place
    return {
      type: 'member',
      call_id: callId,
      member_id: this.id,
      node_id: nodeId,
      name: this.#holder.displayName,
      room_id: roomId,
      room_session_id: roomId,
      visible: false,
      ...this.#state,
      lowbitrate: false,
      denoise: false,
      talking: false,
      meta: {},
      subscriber_id: this.#holder.id,
      address_id: this.#holder.subscriber?.addressId ?? null,
      parent_id: null,
      requested_position: 'auto',
      current_position: 'auto',
    }
  }
}

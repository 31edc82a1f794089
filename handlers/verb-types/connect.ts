import type { AgentTranscriptEvent } from './agent.ts'
import type { CallControl } from './call-control.ts'
import type { Cancellable } from './cancel.ts'
import type { Header, UserVariables } from './info.ts'
import type { Sound } from './play.ts'
import type { QueuePosition } from './queue.ts'

/** Codec, by its encoding name in SDP. */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus' | 'L16'

/** Destination to call. */
export interface Destination {
  /**
   * SIP URI (`sip:`, `sips:`), address `/context/name`, E.164 number for the default carrier, or
   * `queue:<name>` for the caller who has waited longest in a queue. For a queue, the ring time is the
   * maximum wait for a caller to arrive.
   */
  readonly to: string
  /** Caller id to present; default the caller's own. */
  readonly from?: string
  /** Display name to present. */
  readonly fromName?: string
  /** Additional headers of the INVITE, with decoded values. */
  readonly headers?: readonly Header[]
  /** Returns further headers of the INVITE for the id of the callee's call. */
  readonly headersFor?: (callId: string) => readonly Header[]
  /**
   * Variables for a browser, sent with the invite, and for the handler of an address. At most 2,048
   * characters of JSON. Other destinations ignore them.
   */
  readonly userVariables?: UserVariables
  /** Digest user name for the carrier. */
  readonly username?: string
  /** Digest password for the carrier. */
  readonly password?: string
  /** Ring time, in milliseconds; default {@link ConnectOptions.timeoutMs}. */
  readonly timeoutMs?: number
  /** Codecs to offer over SIP, in order of preference; default all that the configuration permits. */
  readonly codecs?: readonly CodecName[]
  /**
   * SRTP policy of a SIP leg; default the carrier's. It can be stricter than the carrier's configuration, not
   * weaker.
   */
  readonly encryption?: 'optional' | 'mandatory' | 'forbidden'
  /** Session-Expires to request (RFC 4028), 90 to 86,400 seconds; default as configured. */
  readonly sessionTimerSeconds?: number
  /** DTMF digits to send after the answer and before the bridge; see {@link CallControl.sendDigits}. */
  readonly sendDigits?: string
  /**
   * Function that runs on the callee's leg after its answer and before the bridge. The callee is accepted if
   * the function resolves and the leg still exists; otherwise the destination counts as declined. Other
   * destinations keep ringing meanwhile, and the first one accepted wins. `place` is the final queue position
   * of a callee from a queue.
   */
  readonly confirm?: (callee: CallControl, place?: QueuePosition) => Promise<void>
  /** Receives the states of this destination in order. An error that it throws is logged. */
  readonly onState?: (state: CalleeState) => void
  /**
   * Receives the live transcripts of the voice agents that the handler of an address runs, until the leg
   * ends. An error that it throws is logged.
   */
  readonly onTranscript?: (event: AgentTranscriptEvent) => void
  /**
   * Status callback that {@link onState} sends. If the gateway dies during the call, its next run or another
   * gateway reports the end of the call.
   */
  readonly statusTarget?: CalleeStatusTarget
}

/** Status callback for the states of a call, sent as a form. */
export interface CalleeStatusTarget {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** States that the URL receives. */
  readonly states: readonly ('initiated' | 'ringing' | 'answered' | 'completed')[]
}

/** Leg to a destination. */
export interface Callee {
  readonly callId: string
  /** Destination as it was dialled. */
  readonly to: string
  readonly from: string
  readonly type: 'sip' | 'webrtc'
  /** Call-ID of a SIP leg, and the status and `X-…` headers of its last response. */
  readonly sip?: { readonly callId: string; readonly status?: number; readonly headers: readonly Header[] }
}

/** State of a destination. `ended` occurs exactly once, also for a destination that could not be dialled. */
export type CalleeState =
  | { readonly kind: 'initiated' | 'ringing' | 'answered'; readonly callee: Callee }
  | {
      readonly kind: 'ended'
      /** Leg of the destination; absent if it could not be dialled. */
      readonly callee?: Callee
      readonly outcome: 'completed' | 'busy' | 'no-answer' | 'declined' | 'canceled' | 'failed'
      /** Time from the answer to the end, in milliseconds; 0 without an answer. */
      readonly durationMs: number
      /** Code of the gateway's error catalogue. */
      readonly code: string
    }

/** Callee that is bridged to the caller. */
export interface ConnectedCallee {
  readonly callee: Callee
  /** Hangs up the callee's leg only. */
  hangup(): void
  /** Sends DTMF digits to the callee. */
  sendDigits(digits: string): Promise<void>
}

/**
 * Options of {@link CallControl.connect}. A signal before the answer of a callee makes the verb fail as
 * `canceled`; a later signal ends the callee's leg.
 */
export interface ConnectOptions extends Cancellable {
  /**
   * Groups of destinations, tried in order. The destinations of a group ring together and the first answer
   * wins.
   */
  readonly steps: readonly (readonly Destination[])[]
  /** Ring time of a destination, in milliseconds; default 60 s. */
  readonly timeoutMs?: number
  /** Maximum duration of the bridge, in milliseconds; default 4 hours. */
  readonly maxDurationMs?: number
  /** Whether the caller is answered only when the callee answers; default false. */
  readonly answerOnBridge?: boolean
  /** Sounds for the caller until the callee sends early media or answers; default a ringing tone. */
  readonly ringback?: readonly Sound[]
  /**
   * Maximum duration of {@link Destination.confirm}, in milliseconds; default 60 s. After that the callee
   * counts as not answering.
   */
  readonly confirmTimeoutMs?: number
  /** Whether the caller ends the bridge by pressing `*`; default false. */
  readonly hangupOnStar?: boolean
  /** Called when the caller and the callee are bridged. */
  readonly onConnected?: (connected: ConnectedCallee) => void
}

/**
 * Result of {@link CallControl.connect}. It settles when the bridge has ended or when no destination
 * answered.
 */
export type ConnectResult =
  | {
      readonly kind: 'connected'
      /**
       * Party or limit that ended the bridge. After `caller` the call has ended too. `star`: the caller
       * pressed `*`. `stopped`: the signal, or {@link ConnectedCallee.hangup}.
       */
      readonly endedBy: 'caller' | 'callee' | 'limit' | 'star' | 'stopped'
      /** Duration of the bridge, in milliseconds. */
      readonly durationMs: number
      readonly callee: Callee
    }
  | {
      readonly kind: 'failed'
      readonly reason: 'busy' | 'no-answer' | 'declined' | 'unreachable' | 'canceled' | 'error'
      /** Status of the last SIP rejection; absent without one. */
      readonly sipStatus?: number
      /** Code of the gateway's error catalogue. */
      readonly code: string
      /** Callee that rejected the call; absent if no leg was created. */
      readonly callee?: Callee
    }

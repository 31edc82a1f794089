import type { CallControl } from '../verbs.ts'
import type { Cancellable } from './cancel.ts'
import type { Header, UserVariables } from './info.ts'
import type { Sound } from './play.ts'
import type { QueuePlace } from './queue.ts'

/** A codec, by its name in SDP. */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus' | 'L16'

/** One place to call. */
export interface Destination {
  /**
   * A SIP URI (`sip:`, `sips:`), an address `/context/name`, an E.164 number for the default carrier, or `queue:<name>` for who has waited
   * longest there. With `queue:`, the ring time is the wait for somebody to arrive.
   */
  readonly to: string
  /** Caller id to present; default the caller's own. */
  readonly from?: string
  readonly fromName?: string
  /** Further headers of the INVITE. Values are already decoded. */
  readonly headers?: readonly Header[]
  /** Headers besides, which tell who is called by the id of its own call. */
  readonly headersFor?: (callId: string) => readonly Header[]
  /** Told to a browser, with the invite to its pages, and to the handler of an address; 2,048 characters of JSON at most. No other destination has them. */
  readonly userVariables?: UserVariables
  /** Digest credentials for the carrier. */
  readonly username?: string
  readonly password?: string
  /** Ring time; default that of {@link ConnectOptions}. */
  readonly timeoutMs?: number
  /** Codecs to offer by SIP, in this order, as far as the configuration permits them; default all that it does. */
  readonly codecs?: readonly CodecName[]
  /** SRTP of a SIP leg; default the carrier's policy. What the carrier's configuration demands is never loosened. */
  readonly encryption?: 'optional' | 'mandatory' | 'forbidden'
  /** Session-Expires that is asked for, in seconds (RFC 4028), 90 to 86,400; default the configuration's. */
  readonly sessionTimerSeconds?: number
  /** Pressed after the answer and before the two are joined; see {@link CallControl.sendDigits}. */
  readonly sendDigits?: string
  /**
   * Run on the callee's leg after its answer and before the two are joined. The callee is taken when it resolves while the callee is still
   * there; otherwise the destination counts as declined. Whoever else rings goes on ringing meanwhile, and the first one taken wins.
   * `place`: of a callee who waited in a queue, as it was when its wait was over.
   */
  readonly confirm?: (callee: CallControl, place?: QueuePlace) => Promise<void>
  /** Told how this destination goes, in order; a listener that throws is logged. */
  readonly onState?: (state: CalleeState) => void
  /** Who is told by {@link onState}, in the XML family's words: where the gateway dies during the call, its end is told there all the same. */
  readonly statusTo?: StatusForm
}

/** Whom the states of a call are told to by forms. */
export interface StatusForm {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly states: readonly ('initiated' | 'ringing' | 'answered' | 'completed')[]
}

/** What is known of a leg to a destination. */
export interface Callee {
  readonly callId: string
  /** As it was dialled. */
  readonly to: string
  readonly from: string
  readonly type: 'sip' | 'webrtc'
  /** Of a SIP leg: its Call-ID, and the last response with its `X-…` headers. */
  readonly sip?: { readonly callId: string; readonly status?: number; readonly headers: readonly Header[] }
}

/** How a destination goes. `ended` comes exactly once, also where nothing could be dialled. */
export type CalleeState =
  | { readonly kind: 'initiated' | 'ringing' | 'answered'; readonly callee: Callee }
  | {
      readonly kind: 'ended'
      /** Absent where nothing could be dialled. */
      readonly callee?: Callee
      readonly outcome: 'completed' | 'busy' | 'no-answer' | 'declined' | 'canceled' | 'failed'
      /** From its answer to its end; 0 where it was not answered. */
      readonly durationMs: number
      /** Code of the gateway's error catalogue. */
      readonly code: string
    }

/** The other party, while the two are joined. */
export interface Connected {
  readonly callee: Callee
  /** Ends the callee's leg alone. */
  hangup(): void
  /** Presses keys on the callee's leg. */
  sendDigits(digits: string): Promise<void>
}

/** How to connect. A signal that fires before somebody was found makes it fail as `canceled`; later it ends the callee's leg. */
export interface ConnectOptions extends Cancellable {
  /** Tried one after the other; the destinations inside a step ring together, and the first answer wins. */
  readonly steps: readonly (readonly Destination[])[]
  /** Ring time of a destination; default 60 s. */
  readonly timeoutMs?: number
  /** Longest time together; default 4 hours. */
  readonly maxDurationMs?: number
  /** Leave the caller unanswered until the callee answers; default false. */
  readonly answerOnBridge?: boolean
  /** What the caller hears until the callee sends early media or answers; default a ringing tone. */
  readonly ringback?: readonly Sound[]
  /** Longest {@link Destination.confirm}; default 60 s. Over it the callee counts as not answering. */
  readonly confirmTimeoutMs?: number
  /** The caller leaves the callee by pressing `*`; default false. */
  readonly hangupOnStar?: boolean
  /** Told when the two are joined. */
  readonly onConnected?: (connected: Connected) => void
}

/** Outcome of `connect`. It settles when the two were parted again, or when nobody could be had. */
export type ConnectResult =
  | {
      readonly kind: 'connected'
      /**
       * Whose hang-up ended it; after `caller` the call is over too. `star`: the caller pressed it. `stopped`: the signal, or
       * {@link Connected.hangup}.
       */
      readonly endedBy: 'caller' | 'callee' | 'limit' | 'star' | 'stopped'
      /** Time together in milliseconds. */
      readonly durationMs: number
      readonly callee: Callee
    }
  | {
      readonly kind: 'failed'
      readonly reason: 'busy' | 'no-answer' | 'declined' | 'unreachable' | 'canceled' | 'error'
      /** SIP status of the last refusal, where there was one. */
      readonly sipStatus?: number
      /** Code of the gateway's error catalogue. */
      readonly code: string
      /** Whoever refused it, where a leg was made. */
      readonly callee?: Callee
    }

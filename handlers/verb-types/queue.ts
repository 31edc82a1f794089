import type { CallControl } from './call-control.ts'
import type { Cancellable } from './cancel.ts'

/** Position of a caller in a queue. */
export interface QueuePosition {
  readonly queueId: string
  readonly name: string
  /** Position from 1, which is next. */
  readonly position: number
  /** Number of waiting callers. */
  readonly size: number
  readonly waitedMs: number
  /** Mean wait of recently served callers, in milliseconds; 0 before the first one. */
  readonly averageWaitMs: number
}

/** Options of {@link CallControl.enterQueue}. The first caller creates the queue of the project. */
export interface QueueOptions extends Cancellable {
  /** Name of the queue, 1 to 128 characters. */
  readonly name: string
  /** Maximum wait, in milliseconds; default 1 hour. */
  readonly maxWaitMs?: number
  /** Maximum number of waiting callers; default 100. The value of the caller who created the queue counts. */
  readonly maxSize?: number
  /**
   * Function that runs on the waiting caller; default hold music. It repeats at most once a second. Its verbs
   * reject as soon as another call takes the caller. The result `leave` removes the caller from the queue.
   */
  readonly wait?: (call: CallControl, place: () => QueuePosition) => Promise<'leave' | undefined>
  /**
   * Function that runs on the caller before the bridge, for instance to announce that the call is recorded.
   */
  readonly beforeBridge?: (call: CallControl, place: QueuePosition) => Promise<void>
  /** Receives the caller's queue events. */
  readonly onEvent?: (kind: 'enqueue' | 'leave' | 'dequeue', place: QueuePosition) => void
}

/** Result of {@link CallControl.enterQueue}. */
export interface QueueResult {
  /** Reason for the end of the wait. `bridged`: another call took the caller, and that bridge has ended. */
  readonly kind: 'bridged' | 'left' | 'timeout' | 'full' | 'hangup'
  readonly queueId: string
  readonly waitedMs: number
  /** Position at the start of the wait. */
  readonly position: number
  /** Number of waiting callers at the start of the wait. */
  readonly size: number
  /** Duration of the bridge, in milliseconds; present with `bridged`. */
  readonly durationMs?: number
  /** Id of the call that took the caller; present with `bridged`. */
  readonly by?: string
}

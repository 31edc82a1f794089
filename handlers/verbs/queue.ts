import type { CallControl } from '../verbs.ts'
import type { Cancellable } from './cancel.ts'

/** One's place in a queue. */
export interface QueuePlace {
  readonly queueId: string
  readonly name: string
  /** 1: the next. */
  readonly position: number
  /** Callers who wait. */
  readonly size: number
  readonly waitedMs: number
  /** Mean wait of those who were served lately; 0 while nobody was. */
  readonly averageWaitMs: number
}

/** How to wait in a queue of the project. It is made by the first who enters. */
export interface QueueOptions extends Cancellable {
  /** 1 to 128 characters. */
  readonly name: string
  /** Longest wait; default 1 hour. */
  readonly maxWaitMs?: number
  /** Callers at once; default 100. Those of who made it hold. */
  readonly maxSize?: number
  /**
   * Run on who waits, again and again, at most once a second; its verbs reject as soon as somebody is found. `leave`: leaves the queue. Default: hold music.
   */
  readonly wait?: (call: CallControl, place: () => QueuePlace) => Promise<'leave' | undefined>
  /** Run on the caller before the two are joined (a notice that the call is recorded, for instance). */
  readonly beforeBridge?: (call: CallControl, place: QueuePlace) => Promise<void>
  /** Told of `enqueue`, `leave` and `dequeue`. */
  readonly onEvent?: (kind: 'enqueue' | 'leave' | 'dequeue', place: QueuePlace) => void
}

/** How waiting ended. `bridged`: somebody was found, and the two were parted again. */
export interface QueueResult {
  readonly kind: 'bridged' | 'left' | 'timeout' | 'full' | 'hangup'
  readonly queueId: string
  readonly waitedMs: number
  /** At the beginning. */
  readonly position: number
  readonly size: number
  /** With `bridged`: time together, and the call that took the caller. */
  readonly durationMs?: number
  readonly by?: string
}

import type { QueuePosition } from '../../../handlers/verbs.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'

/**
 * Caller who was taken from a queue. After the connection the caller goes on with its own document. A caller
 * who was not joined returns to the head of the queue.
 */
export interface QueuedCaller {
  /**
   * Call of the caller. Until {@link release} the consumer has the caller's audio, and listens to the call
   * ({@link Call.listen}).
   */
  readonly call: Call
  /** Verbs of the caller, and its place in the queue, for a {@link Destination.confirm}. */
  readonly control: ScopableControl
  readonly place: QueuePosition
  /** Fires when the call ends or leaves the queue. The consumer must release the caller then. */
  readonly over: AbortSignal
  /** Reports that the two are joined. Call it at most once. */
  join(): void
  /** Releases the caller. Must be called once, also if the two were never joined. */
  release(): void
}

/** Callers in queues, for a fork that calls them; implemented by the queues. */
export interface QueuedCallers {
  /**
   * Takes the caller who has waited longest, or waits for one. Resolves after the notice that the caller
   * hears before it is joined. Resolves with undefined if `signal` fires first. {@link QueuedCaller.release}
   * releases the caller.
   */
  take(
    queue: { readonly projectId: string; readonly name: string; readonly by: CallId },
    signal: AbortSignal,
  ): Promise<QueuedCaller | undefined>
}

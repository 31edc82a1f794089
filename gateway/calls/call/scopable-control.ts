import type { CallControl } from '../../../handlers/verbs.ts'

/** Verbs of a call that can be limited to a scope. */
export interface ScopableControl extends CallControl {
  /**
   * Returns the same verbs for a limited time, such as for a waiting caller's document. When `signal` fires,
   * pending verbs are cancelled, and every verb rejects with `CallEnded`. Verbs that resolve at the end of
   * the call resolve then, too.
   */
  scoped(signal: AbortSignal): CallControl
}

/** Queue with a waiting caller or consumer. */
export interface OpenQueue {
  readonly id: string
  readonly name: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** Maximum number of callers; undefined before the first one. */
  readonly maxSize: number | undefined
  /** Mean wait of recently served callers; 0 before the first one. */
  readonly averageWaitMs: number
  /** Waiting callers, the next one first. `since` in ms since the epoch. */
  readonly members: readonly { readonly callId: string; readonly since: number }[]
}

/** Queues of all projects, for control from outside their calls; implemented by `ProjectQueues`. */
export interface OpenQueues {
  of(projectId: string): readonly OpenQueue[]
}

/** Option of every verb that takes time. */
export interface Cancellable {
  /**
   * Signal that cancels the verb: its activity stops and the call continues in its present state. The verb
   * rejects with the signal's reason unless its own description differs.
   */
  readonly signal?: AbortSignal
}

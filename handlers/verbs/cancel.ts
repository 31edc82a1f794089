/** What every verb that takes time can be given. */
export interface Cancellable {
  /**
   * Gives the verb up: what it was doing ends, and the call goes on in the state it had. The verb rejects with the signal's reason, unless its
   * own description says otherwise.
   */
  readonly signal?: AbortSignal
}

/** States of a call that a customer's server may be told of. */
export type CallProgress = 'initiated' | 'ringing' | 'answered' | 'completed'

/** Where the states of a call are told, in the words of which API. */
export interface StatusTarget {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly states: readonly CallProgress[]
  /** `form`: the XML family's parameters; `json`: the script family's events. */
  readonly dialect: 'form' | 'json'
}

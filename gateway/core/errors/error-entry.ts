/** Log level of a catalogue entry. */
export type Level = 'info' | 'warn' | 'error'

/** Entry of the error catalogue. */
export interface Entry {
  /** One sentence for a person. */
  readonly text: string
  /** SIP status that rejects an unanswered call. */
  readonly sip: number
  /** HTTP status of an API reply that carries the code. */
  readonly http: number
  /** Q.850 cause value: in the Reason header of a BYE, and the `causeCode` that browsers receive. */
  readonly q850: number
  /** Usual name of the Q.850 cause: the `cause` that browsers receive. */
  readonly cause: string
  readonly level: Level
}

/** Makes an entry. The page of error codes lists entries in the order of the source. */
export const entry = (
  text: string,
  sip: number,
  http: number,
  q850: number,
  cause: string,
  level: Level,
): Entry => ({
  text,
  sip,
  http,
  q850,
  cause,
  level,
})

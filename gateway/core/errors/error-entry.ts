/** How loudly an entry of the catalogue is logged. */
export type Level = 'info' | 'warn' | 'error'

/** What is known of a code. */
export interface Entry {
  /** One sentence for a person. */
  readonly text: string
  /** SIP status with which a call that was not answered yet is refused. */
  readonly sip: number
  /** HTTP status of an API reply that carries the code. */
  readonly http: number
  /** Q.850 cause value: the Reason header of a BYE, and the causeCode a browser is told. */
  readonly q850: number
  /** The Q.850 cause by its usual name: the `cause` a browser is told. */
  readonly cause: string
  readonly level: Level
}

/** Makes one; the order is that of the page of codes. */
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

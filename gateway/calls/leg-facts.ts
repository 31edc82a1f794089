/** What is known of a leg's signalling, for the record of its call and for the legs that it is joined to. */
export interface LegFacts {
  /** The carrier that it came from, or goes by. */
  readonly carrier?: string
  /** SIP's own Call-ID. */
  readonly sipCallId?: string
  /** Max-Forwards of the INVITE that it came by. */
  readonly maxForwards?: number
}

/** When a leg reached its states, in milliseconds; undefined where it never did. */
export interface LegTimes {
  readonly startedAt: number
  readonly ringAt?: number
  readonly answeredAt?: number
  readonly endedAt?: number
}

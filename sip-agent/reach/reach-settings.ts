/** Addresses of one carrier, for the rules on destinations. */
export interface SipReachCarrier {
  readonly name: string
  /** Project of the carrier; default every project. */
  readonly project?: string
  /**
   * Whether a customer created the carrier by the API: its settings must not open an address of another
   * carrier.
   */
  readonly isGuarded: boolean
  /**
   * Whether the carrier requires no credentials: any call from the gateway's address is at the project's
   * expense.
   */
  readonly isByAddress: boolean
  /**
   * Whether the carrier takes certain telephone numbers only: a direct call must not bypass its lists.
   * Default false.
   */
  readonly hasNumberLists?: boolean
  /** SIP URIs of its targets. */
  readonly targets: readonly string[]
  /** Networks (CIDR) of its inbound calls. */
  readonly networks: readonly string[]
}

/**
 * Rules on the destinations of requests for which a far end or a customer chooses the destination. Public
 * addresses and the private networks listed here are permitted. The addresses of a carrier are permitted only
 * for its own dialogs. Requests outside dialogs are judged if the application names their far end by
 * `reachHeader`.
 */
export interface SipReach {
  /** Private networks (CIDR). */
  readonly networks: readonly string[]
  readonly carriers: readonly SipReachCarrier[]
  /**
   * Sites that the operator vouches for, each a list of networks (CIDR). A dialog that began in a site may
   * continue within it. Default none.
   */
  readonly sites?: readonly (readonly string[])[]
}

/** The far side of a leg wants the other party to talk to somebody else (RFC 3515). */
export interface Referral {
  /** Whom: a SIP URI, a number, or an address. */
  readonly to: string
  /** Who says so (RFC 3892): the value of Referred-By, which whoever is called is told, too. */
  readonly referredBy?: string
  /** Told how it goes: provisional SIP statuses, and then one final one. */
  progress(status: number): void
}

/** How a far side is asked to talk to somebody else. */
export interface ReferOptions {
  /** Who asks (RFC 3892): a SIP URI; default: nobody is named. */
  readonly referredBy?: string
  /** Longest wait for the outcome, in ms; default 60 s. */
  readonly timeoutMs?: number
}

/** What became of it: the last SIP status that the far side told; 408 where it told none in time. */
export interface ReferOutcome {
  readonly status: number
}

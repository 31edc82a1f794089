/** Options of a `proxy` frame (drachtio protocol, section 10). */
export interface ProxyOrder {
  readonly txnId: string
  /**
   * Whether later requests of the dialog must pass through the agent (Record-Route, or Path for REGISTER).
   */
  readonly staysInPath: boolean
  /**
   * Whether the final response of each branch and the end are reported to the application; otherwise only the
   * start.
   */
  readonly reportsResponses: boolean
  /** Whether the contacts of a 3xx become targets. */
  readonly followsRedirects: boolean
  /** Whether all targets are tried at once. */
  readonly isParallel: boolean
  /**
   * Maximum wait in ms for the first response of a branch, and for its final one. Undefined: the lifetime of
   * the transaction.
   */
  readonly provisionalMs: number | undefined
  readonly finalMs: number | undefined
  readonly targets: readonly string[]
}

const durationOf = (text: string): number | undefined => {
  const match = /^(\d{1,7})(ms|s)$/.exec(text.trim())
  return match ? Number(match[1]) * (match[2] === 's' ? 1_000 : 1) : undefined
}

/** Reads the fields after the verb. */
export const readOrder = (fields: readonly string[]): ProxyOrder => {
  const [txnId = '', remain, full, follow, forking, provisional = '', final = '', ...targets] = fields
  return {
    txnId,
    staysInPath: remain === 'remainInDialog',
    reportsResponses: full === 'fullResponse',
    followsRedirects: follow === 'followRedirects',
    isParallel: forking === 'simultaneous',
    provisionalMs: durationOf(provisional),
    finalMs: durationOf(final),
    targets: targets.filter((target) => target !== ''),
  }
}

/** What a `proxy` frame asks for (drachtio protocol, section 10). */
export interface ProxyOrder {
  readonly txnId: string
  /** Later requests of the dialog are to come by here too (Record-Route, or Path for REGISTER). */
  readonly staysInPath: boolean
  /** Each final response of a branch is told, and the end; else only that it has begun. */
  readonly reportsResponses: boolean
  /** The contacts of a 3xx become targets. */
  readonly followsRedirects: boolean
  /** All targets at once, and not one after the other. */
  readonly isParallel: boolean
  /** Longest wait of a branch for its first response, and for its final one, in ms; undefined: as long as the transaction lasts. */
  readonly provisionalMs: number | undefined
  readonly finalMs: number | undefined
  readonly targets: readonly string[]
}

const durationOf = (text: string): number | undefined => {
  const match = /^(\d{1,7})(ms|s)$/.exec(text.trim())
  return match ? Number(match[1]) * (match[2] === 's' ? 1_000 : 1) : undefined
}

/** Reads the fields that follow the verb. */
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

import type { Code } from '../../errors.ts'
import type { CallId, Leg } from '../leg.ts'

/** Limits of the calls that one call may bring about by calling addresses. */
export interface AddressLimits {
  /** Maximum number of addresses in a chain, each called by the one before. */
  readonly maxDepth: number
  /** Maximum number of calls to addresses in progress at once that one first call has brought about. */
  readonly maxCalls: number
}

/** Calls to addresses in all that one first call may bring about, as a multiple of {@link AddressLimits.maxCalls}. */
const totalFactor = 20

/** Calls to addresses that one first call has brought about, directly or through other addresses. */
interface Family {
  inProgress: number
  total: number
  /** Codes with which a further address was refused. */
  readonly refused: Set<Code>
}

/** Addresses that led to a leg, the first one first; empty for a call from outside. Every leg of a call has that of its caller's leg. */
export interface Lineage {
  /** The first call: whoever began it accounts for what all these calls do. */
  readonly origin: CallId
  readonly chain: readonly string[]
  readonly family: Family
}

/** Refusal of a further address. `facts` are for the log. */
export interface TooFar {
  readonly code: Extract<Code, 'too_many_hops' | 'too_many_branches'>
  readonly facts: Readonly<Record<string, unknown>>
  /** No address was refused so before: later refusals of one first call are not worth a line of the log each. */
  readonly isFirst: boolean
}

/** Lineage of a leg's call; a call without one begins a family, which its further legs share. */
const lineageOf = (leg: Leg | undefined, callId: CallId): Lineage => {
  const known = leg?.facts.lineage
  if (known) return known
  const lineage: Lineage = {
    origin: callId,
    chain: [],
    family: { inProgress: 0, total: 0, refused: new Set() },
  }
  leg?.note({ lineage })
  return lineage
}

/**
 * Lineage of a call to `address` that the call `callId` makes for its caller, or why the call is not permitted. Counts it, if it is: see
 * {@link left}.
 */
export const entered = (
  { caller, callId }: { readonly caller?: Leg; readonly callId: CallId },
  address: string,
  { maxDepth, maxCalls }: AddressLimits,
): Lineage | TooFar => {
  const { origin, chain, family } = lineageOf(caller, callId)
  const longer = [...chain, address]
  if (longer.length > maxDepth)
    return refusal(family, 'too_many_hops', { chain: longer, depth: longer.length, limit: maxDepth })
  const { inProgress, total } = family
  const maxTotal = maxCalls * totalFactor
  if (inProgress >= maxCalls || total >= maxTotal)
    return refusal(family, 'too_many_branches', {
      chain: longer,
      inProgress,
      limit: maxCalls,
      total,
      maxTotal,
    })
  family.inProgress++
  family.total++
  return { origin, chain: longer, family }
}

const refusal = ({ refused }: Family, code: TooFar['code'], facts: TooFar['facts']): TooFar => {
  const isFirst = !refused.has(code)
  refused.add(code)
  return { code, facts, isFirst }
}

/** Counts the end of a call that {@link entered} has counted. */
export const left = ({ family }: Lineage): void => {
  family.inProgress--
}

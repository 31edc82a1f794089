import type { Code } from '../../core/errors/catalogue.ts'
import type { CallId } from '../../model.ts'
import type { Leg } from './leg.ts'

/** Limits of the calls that one call may bring about by calling addresses. */
export interface AddressLimits {
  /**
   * Maximum number of addresses in a chain. Each address is called by the handler of the address before it.
   */
  readonly maxDepth: number
  /** Maximum number of calls to addresses that may be in progress at once because of one first call. */
  readonly maxCalls: number
}

/** Maximum number of calls to addresses that one first call may make in all, as a multiple of `maxCalls`. */
const totalFactor = 20

/** Counts of the calls to addresses that one first call has made, directly or through other addresses. */
interface Family {
  inProgress: number
  total: number
  /** Codes with which a further address was rejected. */
  readonly refused: Set<Code>
}

/**
 * Path of addresses that led to a leg. All legs of a call share the lineage of its caller's leg. For a leg
 * that calls an address, that address is added to the path.
 */
export interface Lineage {
  /** First call of the path. Its caller is charged for all calls that follow from it. */
  readonly origin: CallId
  /** Addresses in the order in which they were called; empty for a call from outside. */
  readonly chain: readonly string[]
  readonly family: Family
}

/** Rejection of a further address. `facts` are for the log. */
export interface AddressRefusal {
  readonly code: Extract<Code, 'too_many_hops' | 'too_many_branches'>
  readonly facts: Readonly<Record<string, unknown>>
  /**
   * Whether the first call has led to no rejection with this code before; later ones are not logged as
   * warnings.
   */
  readonly isFirst: boolean
}

/** Returns the lineage of a leg's call. A call without one begins a family, which its further legs share. */
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
 * Returns the lineage of a call to `address` that the call `callId` makes for its caller, or a rejection. A
 * permitted call is counted until {@link leaveAddress}.
 */
export const enterAddress = (
  { caller, callId }: { readonly caller?: Leg; readonly callId: CallId },
  address: string,
  { maxDepth, maxCalls }: AddressLimits,
): Lineage | AddressRefusal => {
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

const refusal = (
  { refused }: Family,
  code: AddressRefusal['code'],
  facts: AddressRefusal['facts'],
): AddressRefusal => {
  const isFirst = !refused.has(code)
  refused.add(code)
  return { code, facts, isFirst }
}

/** Removes a call that {@link enterAddress} has counted from the calls in progress. */
export const leaveAddress = ({ family }: Lineage): void => {
  family.inProgress--
}

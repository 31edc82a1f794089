import { isIP } from 'node:net'
import {
  canonicalAddress,
  isLinkLocal,
  isLoopback,
  isPrivate,
  isUnusable,
} from '@trunkline/sip-agent/networks'

/** Verdict on the media address of a description, by the source of its signalling. */
export type AddressVerdict =
  /** Audio is sent to the address, and accepted from that address only. */
  | 'take'
  /**
   * Private address of a peer behind NAT. The real address is learnt from audio that comes from the source of
   * the signalling.
   */
  | 'learn'
  /** Audio to this address would reach the gateway, its network, or many hosts. */
  | 'refuse'

/**
 * Decides whether a media address of a description is accepted. No other code decides this. `source`: address
 * that the description came from; undefined if the agent did not report it. Both are IP literals; other text
 * is rejected.
 */
export const judgeAddress = (written: string, source: string | undefined): AddressVerdict => {
  // An IPv4 address within IPv6, mapped or of NAT64, is judged as that address.
  const address = isIP(written) === 6 && !written.includes('%') ? canonicalAddress(written) : written
  if (isIP(address) === 0 || isUnusable(address)) return 'refuse'
  if (source === undefined || source === written) return 'take'
  if (isLoopback(address)) return isLoopback(source) ? 'take' : 'refuse'
  if (isLinkLocal(address)) return isPrivate(source) ? 'take' : 'refuse'
  return isPrivate(address) && !isPrivate(source) ? 'learn' : 'take'
}

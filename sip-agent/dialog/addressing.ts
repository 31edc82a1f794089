import { parseNameAddr } from '../message/name-addr.ts'
import { isSipUri } from '../message/uri.ts'

/** How a request that has a way to go is addressed. */
export interface Addressing {
  /** The request-uri. */
  readonly uri: string
  /** Route values, in their order. */
  readonly routes: readonly string[]
  /** What names the next hop. */
  readonly nextHop: string
}

/**
 * Addresses a request to `target` by way of `routes` (RFC 3261 12.2.1.1, 16.6). A first route without `lr` is a strict router: it becomes the
 * request-uri, and the target the last route. Throws {@link SipParseError} where the first route is broken.
 */
export const addressing = (target: string, routes: readonly string[]): Addressing => {
  const [first, ...rest] = routes
  if (first === undefined) return { uri: target, routes, nextHop: target }
  const { uri, target: hop } = parseNameAddr(first, 'Route')
  const strict = isSipUri(hop) && !hop.params.has('lr')
  return strict
    ? { uri, routes: [...rest, `<${target}>`], nextHop: uri }
    : { uri: target, routes, nextHop: uri }
}

import { parseNameAddr } from '../message/name-addr.ts'
import { isSipUri } from '../message/uri.ts'

/** Addressing of a request: request-URI, Route values and next hop. */
export interface Addressing {
  /** The request-URI. */
  readonly uri: string
  /** Route values, in order. */
  readonly routes: readonly string[]
  /** URI of the next hop. */
  readonly nextHop: string
}

/**
 * Returns the addressing of a request to `target` over `routes` (RFC 3261 12.2.1.1, 16.6). A first route
 * without `lr` is a strict router: it becomes the request-URI, and the target the last route. Throws {@link
 * SipParseError} if the first route is malformed.
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

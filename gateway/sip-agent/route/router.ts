import { isIP } from 'node:net'
import { isSipUri, parseUri } from '../message/uri.ts'
import type { Resolver } from '../transport/resolver.ts'
import type { Protocol } from '../transport/types.ts'
import type { Hop, Router } from './types.ts'

/** Which transports are bound; implemented by `Transports`. */
export interface Reach {
  reaches(protocol: Protocol, address: string): boolean
  readonly addresses: readonly { readonly protocol: Protocol }[]
}

/** Finds out where requests go (RFC 3263). */
export class SipRouter implements Router {
  readonly #reach: Reach
  readonly #resolver: Resolver

  constructor(reach: Reach, resolver: Resolver) {
    this.#reach = reach
    this.#resolver = resolver
  }

  find(uri: string, done: (hops: readonly Hop[]) => void): boolean {
    const parsed = parseUri(uri.replace(/^<|>$/g, ''), 'next hop')
    if (!isSipUri(parsed) || parsed.scheme === 'sips') return false
    const bound = new Set(this.#reach.addresses.map((each) => each.protocol))
    const protocol = parsed.params.get('transport')?.toLowerCase() ?? (bound.has('udp') ? 'udp' : 'tcp')
    if (protocol !== 'udp' && protocol !== 'tcp') return false
    // Port 0 names nothing, and a system refuses to send there.
    if (!bound.has(protocol) || parsed.port === 0) return false
    const host = parsed.params.get('maddr')?.replace(/^\[|\]$/g, '') || parsed.host
    const port = parsed.port ?? 5060
    if (isIP(host) && !this.#reach.reaches(protocol, host)) return false
    this.#resolver.resolve(host, (address) => {
      const found = address !== undefined && this.#reach.reaches(protocol, address)
      done(found ? [{ protocol, address, port, host }] : [])
    })
    return true
  }

  fit(hops: readonly Hop[], _bytes: number): readonly Hop[] {
    return hops
  }

  failed(_hop: Hop): void {}
}

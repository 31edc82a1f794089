import { isIP, isIPv6 } from 'node:net'
import { isSipUri, parseUri, type SipUri } from '../message/uri.ts'
import type { Protocol } from '../transport/types.ts'

/** Which transports are bound; implemented by `Transports`. */
export interface BoundTransports {
  /** True where one of this protocol is bound; of this family too, where one is given. */
  reaches(protocol: Protocol, family?: 4 | 6): boolean
}

/** What a SIP URI says about where a request goes (RFC 3263 4), before anything is looked up. */
export interface Target {
  /** The name or address to go to: `maddr`, else the host. */
  readonly address: string
  /** The host of the URI: what TLS checks. */
  readonly host: string
  /** Not given: the one of SRV, or the protocol's own. */
  readonly port?: number
  /** The transport that the URI asks for, or that has to be where DNS says nothing. */
  readonly protocol: Protocol
  /** True where the URI asks for it: NAPTR is not looked at. */
  readonly isTransportFixed: boolean
  /** A `sips:` URI: nothing but TLS. */
  readonly isSecure: boolean
}

const defaults: readonly Protocol[] = ['udp', 'tcp', 'tls']
const plain: Readonly<Record<string, Protocol>> = { udp: 'udp', tcp: 'tcp', tls: 'tls', ws: 'ws', wss: 'wss' }
/** RFC 3261 26.2.2, RFC 7118 5.2: the transport of a `sips:` URI is what is under the TLS. */
const secured: Readonly<Record<string, Protocol>> = { tcp: 'tls', tls: 'tls', ws: 'wss', wss: 'wss' }

/** The port of a protocol where nothing gives one (RFC 3261 19.1.2, RFC 7118 5.3). */
export const defaultPort = (protocol: Protocol): number =>
  ({ udp: 5060, tcp: 5060, tls: 5061, ws: 80, wss: 443 })[protocol]

/** 4 or 6, for an address. */
export const familyOf = (address: string): 4 | 6 => (isIPv6(address) ? 6 : 4)

const protocolOf = ({ scheme, params }: SipUri, reach: BoundTransports): Protocol | undefined => {
  const asked = params.get('transport')?.toLowerCase()
  if (asked !== undefined) return (scheme === 'sips' ? secured : plain)[asked]
  return scheme === 'sips' ? 'tls' : defaults.find((each) => reach.reaches(each))
}

/**
 * Reads a URI, with or without angle brackets. Undefined where it cannot be reached by what is bound. Throws {@link SipParseError}
 * for what is no URI.
 */
export const readTarget = (uri: string, reach: BoundTransports): Target | undefined => {
  const parsed = parseUri(uri.replace(/^<|>$/g, ''), 'next hop')
  // Port 0 names nothing, and a system refuses to send there.
  if (!isSipUri(parsed) || parsed.port === 0) return undefined
  const protocol = protocolOf(parsed, reach)
  if (!protocol) return undefined
  const at = parsed.params.get('maddr')?.replace(/^\[|\]$/g, '') || parsed.host
  if (!reach.reaches(protocol, isIP(at) ? familyOf(at) : undefined)) return undefined
  const { host, port } = parsed
  const fixed = parsed.params.has('transport')
  return { address: at, host, port, protocol, isTransportFixed: fixed, isSecure: parsed.scheme === 'sips' }
}

import { isIP, isIPv6 } from 'node:net'
import { isSipUri, parseUri, type SipUri } from '../message/uri.ts'
import type { Protocol } from '../transport/types.ts'

/** Bound transports; implemented by `Transports`. */
export interface BoundTransports {
  /** Returns whether a transport of this protocol, and of this family if given, is bound. */
  reaches(protocol: Protocol, family?: 4 | 6): boolean
}

/** Destination of a request according to its SIP URI (RFC 3263 4), before any DNS query. */
export interface Target {
  /** Name or address of the destination: `maddr`, else the host. */
  readonly address: string
  /** Host of the URI, which TLS checks. */
  readonly host: string
  /** Port of the URI. Default: the port of the SRV record, or the default of the protocol. */
  readonly port?: number
  /** Transport that the URI names, or the default if DNS has no record. */
  readonly protocol: Protocol
  /** Whether the URI names the transport, so that NAPTR is not used. */
  readonly isTransportFixed: boolean
  /** Whether it is a `sips:` URI, which requires TLS. */
  readonly isSecure: boolean
}

const defaults: readonly Protocol[] = ['udp', 'tcp', 'tls']
const plain: Readonly<Record<string, Protocol>> = { udp: 'udp', tcp: 'tcp', tls: 'tls', ws: 'ws', wss: 'wss' }
/**
 * Transports of a `sips:` URI: the parameter names the transport below TLS (RFC 3261 26.2.2, RFC 7118 5.2).
 */
const secured: Readonly<Record<string, Protocol>> = { tcp: 'tls', tls: 'tls', ws: 'wss', wss: 'wss' }

/** Returns the family of an address. */
export const familyOf = (address: string): 4 | 6 => (isIPv6(address) ? 6 : 4)

const protocolOf = ({ scheme, params }: SipUri, reach: BoundTransports): Protocol | undefined => {
  const asked = params.get('transport')?.toLowerCase()
  if (asked !== undefined) return (scheme === 'sips' ? secured : plain)[asked]
  return scheme === 'sips' ? 'tls' : defaults.find((each) => reach.reaches(each))
}

/**
 * Reads a URI, with or without angle brackets. Returns undefined if no bound transport can reach it. Throws
 * {@link SipParseError} for a malformed URI.
 */
export const readTarget = (uri: string, reach: BoundTransports): Target | undefined => {
  const parsed = parseUri(uri.replace(/^<|>$/g, ''), 'next hop')
  // Port 0 is no destination, and the system refuses to send to it.
  if (!isSipUri(parsed) || parsed.port === 0) return undefined
  const protocol = protocolOf(parsed, reach)
  if (!protocol) return undefined
  const at = parsed.params.get('maddr')?.replace(/^\[|\]$/g, '') || parsed.host
  if (!reach.reaches(protocol, isIP(at) ? familyOf(at) : undefined)) return undefined
  const { host, port } = parsed
  const fixed = parsed.params.has('transport')
  return { address: at, host, port, protocol, isTransportFixed: fixed, isSecure: parsed.scheme === 'sips' }
}

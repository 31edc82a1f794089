import { parseSipUri } from '../../core/sip-uri.ts'
import type { FarResponse } from '../srf.ts'

/**
 * Returns the next hop to the server that sent the challenge, if the request-URI has a host name. Another
 * address of the name would not know the nonce. With TLS the connection exists already, and a next hop
 * without the name could not be verified.
 */
export const challengerHop = (uri: string, response: FarResponse): string | undefined => {
  const parsed = parseSipUri(uri)
  const transport = parsed?.params.get('transport')?.toLowerCase() ?? 'udp'
  const { source_address: address, source_port: port } = response
  const literal = !parsed || /^[\d.]+$/.test(parsed.host) || parsed.host.includes(':')
  if (literal || parsed.scheme === 'sips' || !/^(udp|tcp)$/.test(transport) || !address || !port)
    return undefined
  const host = address.includes(':') ? `[${address}]` : address
  return `sip:${host}:${port};transport=${transport}`
}

import { parseVia, withoutFault } from '@trunkline/sip-agent/message'
import { printable, splitList } from './headers.ts'
import type { SipRequest } from './srf.ts'

/** Source of a request: transport, address and port at which the sender can be reached. */
export interface SignallingSource {
  readonly transport: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss'
  readonly address: string
  readonly port: number
}

const transports = ['udp', 'tcp', 'tls', 'ws', 'wss'] as const

/**
 * Returns the source of a request. A drachtio-server reports WebSockets as `tcp`, so the transport is then
 * read from the client's own Via.
 */
export const sourceOf = (request: SipRequest): SignallingSource => {
  const reported = known(request.protocol)
  const via = known(withoutFault(() => parseVia(viasOf(request)[0] ?? '').transport))
  const webSocket = reported === 'tcp' && (via === 'ws' || via === 'wss') ? via : undefined
  return {
    transport: webSocket ?? reported ?? 'udp',
    address: printable(request.source_address, 64),
    port: Number(request.source_port),
  }
}

const known = (text: string | undefined): SignallingSource['transport'] | undefined =>
  transports.find((each) => each === text?.toLowerCase())

/**
 * Returns the number of proxies between the sender and the gateway. Each proxy has added a Via to the Via of
 * the sender.
 */
export const proxiesOf = (request: SipRequest): number => Math.max(0, viasOf(request).length - 1)

const viasOf = (request: SipRequest): readonly string[] => splitList(request.get('Via') ?? '')

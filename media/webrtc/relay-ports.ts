import type { types } from 'mediasoup'
import { WebRtcError } from './errors.ts'
import type { WorkerSettings } from './worker.ts'

/** Where mediasoup and the edge, and parts of mediasoup, meet. */
export const loopback = '127.0.0.1'

/** Opens a transport of the router on one of the ports for that. Rejects with `no_ports` where none is left. */
export const openOnRelayPort = async <T>(
  { from, to }: WorkerSettings['relayPorts'],
  router: types.Router,
  open: (listenInfo: types.TransportListenInfo) => Promise<T>,
): Promise<T> => {
  try {
    return await open({ protocol: 'udp', ip: loopback, portRange: { min: from, max: to } })
  } catch (error) {
    if (router.closed) throw error
    throw new WebRtcError('no_ports', `a port from ${from} to ${to} on ${loopback} expected`, error)
  }
}

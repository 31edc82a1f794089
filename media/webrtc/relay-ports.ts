import type { types } from 'mediasoup'
import { WebRtcError } from './errors.ts'
import type { WorkerSettings } from './worker-supervisor.ts'

/** Address of the ports between mediasoup and the edge, and between mediasoup routers. */
export const loopback = '127.0.0.1'

/** Opens a transport of the router on a relay port. Rejects with `no_ports` if none is left. */
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

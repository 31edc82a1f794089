import type { types } from 'mediasoup'

/** Transport between the gateway and a router, with what was opened over it. */
export interface DirectLink<T> {
  readonly transport: types.DirectTransport
  readonly end: T
}

/**
 * Opens a transport between the gateway and the router, and its producer or consumer, in the background. Then
 * calls `onOpen`, or `onFault` if that fails. A closed router is no fault, because its worker has ended.
 * Returns a function that closes the transport, also one that is still opening; no call follows then.
 */
export const openLink = <T extends Pick<types.Consumer, 'close'>>(
  router: types.Router,
  open: (transport: types.DirectTransport) => Promise<T>,
  onOpen: (link: DirectLink<T>) => void,
  onFault: (fault: Error) => void,
): (() => void) => {
  let isClosed = false
  let transport: types.DirectTransport | undefined
  const run = async (): Promise<void> => {
    transport = await router.createDirectTransport()
    if (isClosed) return transport.close()
    const end = await open(transport)
    // mediasoup knows no consumer that was still opening when its transport closed, and would keep it.
    if (isClosed) end.close()
    else onOpen({ transport, end })
  }
  run().catch((error: Error) => {
    transport?.close()
    if (!isClosed && !router.closed) onFault(error)
  })
  return () => {
    isClosed = true
    transport?.close()
  }
}

import type { Client } from '@trunkline/client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { Incoming, type IncomingCalls } from './incoming.ts'

/**
 * Is online while the component is mounted, and tells which calls wait for a decision: each leaves the list when it is accepted, rejected or
 * given up by its caller. It puts handlers of its own in place of `incomingCallHandlers`; one component per client uses it. Without a client,
 * as before the connection, nothing rings.
 */
export const useIncomingCalls = (client: Client | undefined): IncomingCalls => {
  const incoming = useMemo(() => new Incoming(client), [client])
  useEffect(() => incoming.hold(), [incoming])
  return useSyncExternalStore(incoming.subscribe, incoming.view, incoming.view)
}

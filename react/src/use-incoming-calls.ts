import type { Client } from '@trunkline/client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { Incoming, type IncomingCalls } from './incoming.ts'

/**
 * Goes online while the component is mounted, and returns the pending invites.
 * An invite leaves the list when it is accepted, rejected or cancelled.
 * The hook replaces `incomingCallHandlers` of the client; one component per client may use it. Without a
 * client nothing happens.
 */
export const useIncomingCalls = (client: Client | undefined): IncomingCalls => {
  const incoming = useMemo(() => new Incoming(client), [client])
  useEffect(() => incoming.hold(), [incoming])
  return useSyncExternalStore(incoming.subscribe, incoming.view, incoming.view)
}

import type { Client, PresenceState } from '@trunkline/client'
import { useEffect, useState } from 'react'

/** Presence by the id of the address; undefined for addresses without a state. */
export type PresenceView = Readonly<Record<string, PresenceState | undefined>>

/** Addresses that components watch, with the number of components, by client. */
const watched = new WeakMap<Client, Map<string, number>>()

const change = (client: Client, ids: readonly string[], by: 1 | -1): Promise<void> => {
  const counts = watched.get(client) ?? new Map<string, number>()
  watched.set(client, counts)
  for (const id of ids) {
    const count = (counts.get(id) ?? 0) + by
    if (count > 0) counts.set(id, count)
    else counts.delete(id)
  }
  return client.presence.watch([...counts.keys()])
}

const read = (client: Client, ids: readonly string[]): PresenceView =>
  Object.fromEntries(ids.map((id) => [id, client.presence.of(id)]))

/**
 * Watches the subscribers behind addresses while the component is mounted, and returns their presence.
 * Several components may watch addresses of one client, at most 200 together. Replaces the list of
 * `client.presence.watch()`.
 */
export const usePresence = (client: Client | undefined, addressIds: readonly string[]): PresenceView => {
  const [view, setView] = useState<PresenceView>({})
  // Compared by content: applications often create the list anew in each render.
  const key = JSON.stringify(addressIds)
  useEffect(() => {
    const ids = JSON.parse(key) as string[]
    if (!client) return
    let isCurrent = true
    const show = () => {
      if (isCurrent) setView(read(client, ids))
    }
    const changes = client.presence.subscribe(({ address_id }) => {
      if (ids.includes(address_id)) show()
    })
    // A failed request leaves the states unknown until the next connection.
    change(client, ids, 1).then(show, () => {})
    return () => {
      isCurrent = false
      changes.unsubscribe()
      setView({})
      change(client, ids, -1).catch(() => {})
    }
  }, [client, key])
  return view
}

import type { CallRecord, Client, Subscription } from '@trunkline/client'
import { plainAddress } from './format.ts'
import type { RecentCall, RecentCalls } from './memory.ts'

/** Collaborators of {@link History}. */
export interface HistoryDeps {
  readonly client: Pick<Client, 'history'>
  readonly recents: RecentCalls
  readonly changed: () => void
}

const pageSize = 100

/** Largest difference between the clocks of browser and gateway for one call, in milliseconds. */
const sameCallMs = 5000

/** Copies the calls of all devices from the gateway to the list of this browser. */
export class History {
  readonly #deps: HistoryDeps
  #subscription: Subscription | undefined

  constructor(deps: HistoryDeps) {
    this.#deps = deps
  }

  /** Fetches the calls, and follows their changes. Never rejects: the list of this browser remains. */
  async load(): Promise<void> {
    const { client, recents, changed } = this.#deps
    this.#subscription ??= client.history.subscribe(() => void this.load())
    try {
      const { data } = await client.history.getCalls({ pageSize })
      recents.replace(merged(recents.list, data.map(recentOf)))
      changed()
    } catch {}
  }

  close(): void {
    this.#subscription?.unsubscribe()
  }
}

const recentOf = ({ direction, result, name, number, ...times }: CallRecord): RecentCall => ({
  to: number,
  name,
  direction: direction === 'inbound' && (result === 'missed' || result === 'declined') ? 'missed' : direction,
  at: Date.parse(times.started_at),
  result,
  ...(times.answered_at !== null && { durationMs: times.duration_ms }),
})

/** Returns the ended calls of the gateway, after the running calls of this browser. */
const merged = (own: readonly RecentCall[], calls: readonly RecentCall[]): readonly RecentCall[] => {
  const newest = calls[0]?.at ?? 0
  const running = own.filter(({ result, at }) => result === undefined && at > newest)
  // The gateway does not tell a lost connection from another failure.
  const lost = own.filter(({ result }) => result === 'lost')
  const known = calls.map((call) => {
    const same = lost.find(
      ({ to, at }) => plainAddress(to) === plainAddress(call.to) && Math.abs(at - call.at) < sameCallMs,
    )
    return same ? { ...call, result: same.result } : call
  })
  return [...running, ...known]
}

import type { ClientError } from '@trunkline/client'
import type { Account } from './api.ts'

/** Used part of `Storage`. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Returns the value stored under a name; undefined or null if it cannot be read. */
export const read = (store: Store, key: string): unknown => {
  try {
    return JSON.parse(store.getItem(key) ?? 'null')
  } catch {
    return undefined
  }
}

/** Stores a value. Storage may be full or disabled; the page works without. */
export const write = (store: Store, key: string, value: unknown): void => {
  try {
    store.setItem(key, JSON.stringify(value))
  } catch {}
}

const accountKey = 'trunkline.account'
const onlineKey = 'trunkline.online'

/** Signed-in subscriber: stored for the browser if the user wants that, otherwise for the browser tab. */
export class SignedIn {
  readonly #tab: Store
  readonly #browser: Store

  constructor(tab: Store, browser: Store = tab) {
    this.#tab = tab
    this.#browser = browser
  }

  get account(): Account | undefined {
    return accountOf(read(this.#tab, accountKey)) ?? accountOf(read(this.#browser, accountKey))
  }

  /** Stores the subscriber in this tab; with `remember` also for later visits. */
  keep(account: Account, remember = false): void {
    write(this.#tab, accountKey, account)
    if (remember) write(this.#browser, accountKey, account)
  }

  /** Whether the user wants to be online; survives a reload. */
  get wantsOnline(): boolean {
    return (read(this.#tab, onlineKey) ?? read(this.#browser, onlineKey)) === true
  }

  set wantsOnline(wanted: boolean) {
    write(this.#tab, onlineKey, wanted)
    if (accountOf(read(this.#browser, accountKey))) write(this.#browser, onlineKey, wanted)
  }

  /** Removes the subscriber from this tab, and from the browser unless another tab has a newer token. */
  forget(token: string): void {
    for (const store of [this.#tab, this.#browser]) {
      const kept = accountOf(read(store, accountKey))
      if (!kept || kept.token === token) for (const key of [accountKey, onlineKey]) store.removeItem(key)
    }
  }
}

/** Returns a stored or received account; undefined if it is none. */
export const accountOf = (value: unknown): Account | undefined => {
  const { token, address, email, name } = (value ?? {}) as Record<string, unknown>
  if (typeof token !== 'string' || typeof address !== 'string') return undefined
  const text = (found: unknown, otherwise: string) => (typeof found === 'string' ? found : otherwise)
  return { token, address, email: text(email, ''), name: text(name, address) }
}

/** Running call, stored for the next page load. */
export interface KeptCall {
  readonly id: string
  readonly name: string
  readonly number: string
  readonly answeredAt: number
  readonly video: boolean
  /** Whether the call receives the picture of a room. */
  readonly watches?: boolean
}

const storageKey = 'trunkline.party'

/** Data of the running call that the SDK does not store; kept for the life of the browser tab. */
export class CallMemory {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  get call(): KeptCall | undefined {
    const found = read(this.#store, storageKey) as Partial<KeptCall> | null | undefined
    const { id, name, number, answeredAt } = found ?? {}
    const fits = typeof id === 'string' && typeof name === 'string' && typeof number === 'string'
    return fits && typeof answeredAt === 'number' ? (found as KeptCall) : undefined
  }

  /** Stores a call; undefined removes it. */
  keep(call: KeptCall | undefined): void {
    if (call) write(this.#store, storageKey, call)
    else this.#store.removeItem(storageKey)
  }
}

/** Result of a past call; undefined while it runs, and for calls of earlier versions. */
export type CallResult =
  | 'answered'
  | 'missed'
  | 'declined'
  | 'busy'
  | 'no_answer'
  | 'canceled'
  | 'answered_elsewhere'
  | 'failed'
  | 'lost'

/** Returns the result for the end of a call. */
export const resultOf = (reason: ClientError | undefined, wasAnswered: boolean): CallResult => {
  const code = reason?.code
  if (code === 'session_lost' || code === 'media_lost' || code === 'disconnected') return 'lost'
  if (wasAnswered) return 'answered'
  // The caller who hangs up a ringing call ends it normally.
  if (code === 'normal' || code === 'canceled') return 'canceled'
  if (code === 'busy' || code === 'declined' || code === 'no_answer') return code
  return 'failed'
}

/** Past call. */
export interface RecentCall {
  /** Destination to call back. */
  readonly to: string
  readonly name: string
  readonly direction: 'inbound' | 'outbound' | 'missed'
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly result?: CallResult
  /** Time from answer to end, in milliseconds. */
  readonly durationMs?: number
}

const maxCalls = 100

/** Latest calls of one subscriber, newest first. */
export class RecentCalls {
  readonly #store: Store
  readonly #key: string
  readonly #seenKey: string
  #calls: readonly RecentCall[]
  #seenAt: number

  constructor(store: Store, address: string) {
    this.#store = store
    this.#key = `trunkline.recent ${address}`
    this.#seenKey = `trunkline.seen ${address}`
    this.#calls = this.#kept()
    const seen = read(store, this.#seenKey)
    this.#seenAt = typeof seen === 'number' ? seen : 0
  }

  get list(): readonly RecentCall[] {
    return this.#calls
  }

  /** Number of missed calls since the list was last shown. */
  get missed(): number {
    return this.#calls.filter(
      ({ direction, result, at }) => direction === 'missed' && result !== 'declined' && at > this.#seenAt,
    ).length
  }

  /** Marks all missed calls as seen. */
  see(now: number): void {
    if (this.missed === 0) return
    this.#seenAt = now
    write(this.#store, this.#seenKey, now)
  }

  add(call: RecentCall): void {
    this.#keep([call, ...this.#calls])
  }

  /** Adds the result to the latest call with this party. */
  finish(to: string, result: CallResult, durationMs: number | undefined): void {
    const at = this.#calls.findIndex((call) => call.to === to)
    const call = this.#calls[at]
    if (!call || call.result) return
    this.#keep(this.#calls.with(at, { ...call, result, ...(durationMs !== undefined && { durationMs }) }))
  }

  /** Replaces the list. */
  replace(calls: readonly RecentCall[]): void {
    this.#keep(calls)
  }

  /** Reads the list again after another tab changed it. */
  reload(): void {
    this.#calls = this.#kept()
  }

  #kept(): readonly RecentCall[] {
    const found = read(this.#store, this.#key)
    return Array.isArray(found) ? found.filter(isRecent).slice(0, maxCalls) : []
  }

  #keep(calls: readonly RecentCall[]): void {
    this.#calls = calls.slice(0, maxCalls)
    write(this.#store, this.#key, this.#calls)
  }
}

const isRecent = (value: unknown): value is RecentCall => {
  const { to, name, direction, at } = (value ?? {}) as Record<string, unknown>
  return (
    typeof to === 'string' &&
    typeof name === 'string' &&
    typeof direction === 'string' &&
    typeof at === 'number'
  )
}

import type { Account } from './api.ts'

/** Used part of `Storage`. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Past call. */
export interface RecentCall {
  /** Destination to call back. */
  readonly to: string
  readonly name: string
  readonly direction: 'inbound' | 'outbound' | 'missed'
  /** Milliseconds since the epoch. */
  readonly at: number
}

const maxCalls = 30

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

/** Signed-in subscriber, stored for the life of the browser tab. */
export class SignedIn {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  get account(): Account | undefined {
    const found = read(this.#store, 'trunkline.account') as Partial<Account> | null | undefined
    return typeof found?.token === 'string' && typeof found.address === 'string'
      ? (found as Account)
      : undefined
  }

  keep(account: Account): void {
    write(this.#store, 'trunkline.account', account)
  }

  /** Whether the user wants to be online; survives a reload. */
  get wantsOnline(): boolean {
    return read(this.#store, 'trunkline.online') === true
  }

  set wantsOnline(wanted: boolean) {
    write(this.#store, 'trunkline.online', wanted)
  }

  forget(): void {
    this.#store.removeItem('trunkline.account')
    this.#store.removeItem('trunkline.online')
  }
}

/** Running call, stored for the next page load. */
export interface KeptCall {
  readonly id: string
  readonly name: string
  readonly number: string
  readonly answeredAt: number
  readonly video: boolean
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

/** Latest calls of one subscriber, newest first. */
export class RecentCalls {
  readonly #store: Store
  readonly #key: string
  #calls: readonly RecentCall[]

  constructor(store: Store, address: string) {
    this.#store = store
    this.#key = `trunkline.recent ${address}`
    const found = read(store, this.#key)
    this.#calls = Array.isArray(found) ? found.filter(isRecent).slice(0, maxCalls) : []
  }

  get list(): readonly RecentCall[] {
    return this.#calls
  }

  /** Adds a call; it replaces an earlier one with the same party in the same direction. */
  add(call: RecentCall): void {
    const others = this.#calls.filter(({ to, direction }) => to !== call.to || direction !== call.direction)
    this.#calls = [call, ...others].slice(0, maxCalls)
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

import { type Json, record, text } from './frames.ts'

/** Call that an earlier page of this tab did not hang up. */
export interface KeptCall {
  readonly id: string
  readonly to: string
  /** Session of the call: the server knows the call in that session only. */
  readonly protocol: string
}

/** Used part of `sessionStorage`. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const key = 'trunkline.call'

/** Call to return to after a reload, stored in the tab. Without storage nothing is kept. */
export class LastCall {
  readonly #storage: TabStorage | undefined

  constructor(storage: TabStorage | undefined) {
    this.#storage = storage
  }

  /** The stored call; undefined if none. */
  get value(): KeptCall | undefined {
    const { id, to, protocol } = parsed(this.#storage?.getItem(key))
    const call = { id: text(id), to: text(to), protocol: text(protocol) }
    return call.id && call.to && call.protocol ? (call as KeptCall) : undefined
  }

  keep(call: KeptCall): void {
    try {
      this.#storage?.setItem(key, JSON.stringify(call))
    } catch {
      // The tab's storage is full or not accessible. The call itself continues.
    }
  }

  /** Removes the stored call; with an id, only if it is that call. */
  forget(id?: string): void {
    if (id === undefined || this.value?.id === id) this.#storage?.removeItem(key)
  }
}

const parsed = (kept: string | null | undefined): Json => {
  try {
    return record(JSON.parse(kept ?? '{}'))
  } catch {
    return {}
  }
}

import { type Json, record, text } from './frames.ts'

/** A call that an earlier page of this tab did not hang up. */
export interface KeptCall {
  readonly id: string
  readonly to: string
  /** The session in which it was made: the server knows the call in that one alone. */
  readonly protocol: string
}

/** The part of `sessionStorage` that is used. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const key = 'trunkline.call'

/** The call to come back to after a reload, kept in the tab. Without storage nothing is kept. */
export class LastCall {
  readonly #storage: TabStorage | undefined

  constructor(storage: TabStorage | undefined) {
    this.#storage = storage
  }

  /** The call that was kept; undefined when there is none. */
  get value(): KeptCall | undefined {
    const { id, to, protocol } = parsed(this.#storage?.getItem(key))
    const call = { id: text(id), to: text(to), protocol: text(protocol) }
    return call.id && call.to && call.protocol ? (call as KeptCall) : undefined
  }

  keep(call: KeptCall): void {
    try {
      this.#storage?.setItem(key, JSON.stringify(call))
    } catch {
      // The tab's storage is full, or the browser lets nothing be kept. The call itself goes on.
    }
  }

  /** Forgets the call, or whichever is kept when no id is given. */
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

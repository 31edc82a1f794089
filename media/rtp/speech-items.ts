import type { ItemPosition } from '../types.ts'

/** Maximum number of open items. Beyond it, the oldest one without waiting samples is forgotten. */
const maxItems = 1000

/** Called when the first sample of an item is sent, and when the last one of a finished item was. */
export type ItemListener = (kind: 'began' | 'ended', item: number) => void

/** Item from its first sample to its end. Counts in samples. */
interface Item {
  readonly id: number
  waiting: number
  heard: number
  hasBegun: boolean
  isFinished: boolean
}

/** Consecutive samples of one item, or without one. */
interface Run {
  readonly item: Item | undefined
  length: number
}

/** Division of queued speech into items, and the number of samples that were heard of each. */
export class SpeechItems {
  #perMs: number
  #listener: ItemListener
  /** Open items in the order of their first samples. */
  #items = new Map<number, Item>()
  #runs: Run[] = []

  /** `perMs`: samples per millisecond. */
  constructor(perMs: number, listener: ItemListener) {
    this.#perMs = perMs
    this.#listener = listener
  }

  /** Appends `count` samples of an item; undefined: of none. */
  add(id: number | undefined, count: number): void {
    const item = id === undefined ? undefined : this.#open(id)
    if (item) item.waiting += count
    const last = this.#runs.at(-1)
    if (last && last.item === item) last.length += count
    else this.#runs.push({ item, length: count })
  }

  /**
   * Marks an item as complete. Reports its end at once if none of its samples is waiting. Returns whether its
   * samples are the last of all.
   */
  finish(id: number): boolean {
    const item = this.#items.get(id)
    if (item) item.isFinished = true
    if (item && item.waiting > 0) return this.#runs.at(-1)?.item === item
    this.#items.delete(id)
    this.#listener('ended', id)
    return false
  }

  /** Removes the first `count` samples. `isHeard`: they were sent. */
  pass(count: number, isHeard: boolean): void {
    let left = count
    while (left > 0) {
      const run = this.#runs[0]!
      const part = Math.min(left, run.length)
      run.length -= part
      left -= part
      if (run.length === 0) this.#runs.shift()
      if (run.item) this.#advance(run.item, part, isHeard)
    }
  }

  /** Positions of the open items, in order. */
  get positions(): readonly ItemPosition[] {
    return Array.from(this.#items.values(), ({ id, heard }) => ({ item: id, heardMs: heard / this.#perMs }))
  }

  /** Forgets all items without a report. */
  clear(): void {
    this.#items.clear()
    this.#runs = []
  }

  #open(id: number): Item {
    const known = this.#items.get(id)
    if (known) return known
    if (this.#items.size >= maxItems)
      for (const item of this.#items.values()) {
        if (item.waiting > 0) continue
        this.#items.delete(item.id)
        break
      }
    const item = { id, waiting: 0, heard: 0, hasBegun: false, isFinished: false }
    this.#items.set(id, item)
    return item
  }

  #advance(item: Item, count: number, isHeard: boolean): void {
    item.waiting -= count
    if (isHeard) item.heard += count
    if (!item.hasBegun) {
      item.hasBegun = true
      this.#listener('began', item.id)
    }
    if (item.waiting > 0 || !item.isFinished) return
    this.#items.delete(item.id)
    this.#listener('ended', item.id)
  }
}

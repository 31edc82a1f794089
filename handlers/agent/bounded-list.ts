/** Limits of a {@link BoundedList}. */
export interface ListLimits {
  readonly maxItems: number
  /** Maximum length of all items as JSON, in characters. */
  readonly maxCharacters: number
}

/** Item with its length as JSON. */
interface Sized<T> {
  readonly item: T
  readonly characters: number
}

/**
 * List whose oldest items make room for newer ones, by their number and by their length. The newest item
 * always stays.
 */
export class BoundedList<T> {
  readonly #limits: ListLimits
  #all: Sized<T>[] = []
  #characters = 0
  #dropped = 0

  constructor(limits: ListLimits) {
    this.#limits = limits
  }

  get items(): readonly T[] {
    return this.#all.map(({ item }) => item)
  }

  get length(): number {
    return this.#all.length
  }

  /** Length of all items as JSON, in characters. */
  get characters(): number {
    return this.#characters
  }

  /** Number of items that made room for newer ones. */
  get dropped(): number {
    return this.#dropped
  }

  /** Adds an item. `characters`: its length if the caller knows it. */
  push(item: T, characters = lengthOf(item)): void {
    this.#insert(this.#all.length, { item, characters })
  }

  /** Adds an item before the first one that matches; without a match, at the end. */
  insertBefore(matches: (item: T) => boolean, item: T): void {
    const at = this.#all.findIndex((each) => matches(each.item))
    this.#insert(at < 0 ? this.#all.length : at, { item, characters: lengthOf(item) })
  }

  /** Changes the last item that matches. */
  replaceLast(matches: (item: T) => boolean, change: (item: T) => T): void {
    const at = this.#all.findLastIndex((each) => matches(each.item))
    const found = this.#all[at]
    if (!found) return
    const item = change(found.item)
    this.#all.splice(at, 1)
    this.#characters -= found.characters
    this.#insert(at, { item, characters: lengthOf(item) })
  }

  /** Removes items. Those that `isKept` accepts stay. */
  filter(isKept: (item: T, index: number) => boolean): void {
    this.#all = this.#all.filter(({ item }, index) => isKept(item, index))
    this.#characters = this.#all.reduce((sum, { characters }) => sum + characters, 0)
  }

  #insert(at: number, sized: Sized<T>): void {
    this.#all.splice(at, 0, sized)
    this.#characters += sized.characters
    const { maxItems, maxCharacters } = this.#limits
    while (this.#all.length > 1 && (this.#all.length > maxItems || this.#characters > maxCharacters)) {
      this.#characters -= this.#all.shift()?.characters ?? 0
      this.#dropped++
    }
  }
}

const lengthOf = (item: unknown): number => JSON.stringify(item)?.length ?? 0

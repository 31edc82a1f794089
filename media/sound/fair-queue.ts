/** Queue with fair scheduling: first in, first out per customer, and customers take turns. */
export class FairQueue<T> {
  readonly #most: number
  /** Items by customer, in the order of turns; no list is empty. */
  readonly #lists = new Map<string, T[]>()
  #size = 0

  /** `most` is the maximum total number of items, at least 1. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Adds an item. If the queue is over its limit, removes and returns the last item of the customer with the
   * most items, possibly the added one. So a customer with many items takes no room from others.
   */
  push(customer: string, item: T): T | undefined {
    const list = this.#lists.get(customer) ?? []
    this.#lists.set(customer, list)
    list.push(item)
    this.#size++
    return this.#size > this.#most ? this.#giveWay(customer) : undefined
  }

  /** Removes the next item; its customer moves to the end of the turn order. */
  shift(): T | undefined {
    const [customer, list] = this.#lists.entries().next().value ?? []
    if (customer === undefined) return undefined
    const item = list?.shift()
    this.#lists.delete(customer)
    if (list && list.length > 0) this.#lists.set(customer, list)
    this.#size--
    return item
  }

  /** Removes an item; no effect if it is not queued. */
  remove(customer: string, item: T): void {
    const list = this.#lists.get(customer)
    const index = list?.indexOf(item) ?? -1
    if (!list || index < 0) return
    list.splice(index, 1)
    if (list.length === 0) this.#lists.delete(customer)
    this.#size--
  }

  #giveWay(newest: string): T | undefined {
    let longest = newest
    for (const [customer, { length }] of this.#lists) {
      if (length > (this.#lists.get(longest)?.length ?? 0)) longest = customer
    }
    const item = this.#lists.get(longest)?.at(-1)
    if (item !== undefined) this.remove(longest, item)
    return item
  }
}

/** What waits, customer by customer: in order for each of them, and the customers take turns. */
export class FairQueue<T> {
  readonly #most: number
  /** The customer whose turn is next stands first; none has an empty list. */
  readonly #lists = new Map<string, T[]>()
  #size = 0

  /** `most` is what may wait in all, at least 1. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Adds an item. Where there are too many then, the last one of the customer with the most gives way and comes back; it may be the one
   * that was added. So a customer who floods the queue takes no room from the others.
   */
  push(customer: string, item: T): T | undefined {
    const list = this.#lists.get(customer) ?? []
    this.#lists.set(customer, list)
    list.push(item)
    this.#size++
    return this.#size > this.#most ? this.#giveWay(customer) : undefined
  }

  /** Takes the next item; its customer is the last in turn afterwards. */
  shift(): T | undefined {
    const [customer, list] = this.#lists.entries().next().value ?? []
    if (customer === undefined) return undefined
    const item = list?.shift()
    this.#lists.delete(customer)
    if (list && list.length > 0) this.#lists.set(customer, list)
    this.#size--
    return item
  }

  /** Takes an item away; harmless where it does not wait. */
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

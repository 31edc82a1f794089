import { Recent } from './recent.ts'

/** Offences are counted within this time, in ms. */
const windowMs = 60_000
/** Most senders whose offences are remembered, and most that are banned at once. */
const mostSenders = 10_000

/** Senders that are banned, and the offences of those that are not yet. Both are bounded; a ban ends by itself. */
export class Bans {
  /** In the order of their ends. */
  readonly #until = new Map<string, number>()
  readonly #offences = new Recent<{ since: number; count: number }>(mostSenders)

  /** Senders that are banned. */
  size(now: number): number {
    this.#sweep(now)
    return this.#until.size
  }

  has(sender: string, now: number): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(sender)
    if (until === undefined || until > now) return until !== undefined
    this.#until.delete(sender)
    return false
  }

  /** Counts one offence; with the last one of `after` within a minute the sender is banned for `forMs`. */
  offend(sender: string, now: number, { after, forMs }: { after: number; forMs: number }): void {
    let known = this.#offences.get(sender)
    if (!known || now - known.since >= windowMs || now < known.since) {
      known = { since: now, count: 0 }
      this.#offences.set(sender, known)
    }
    known.count++
    if (known.count < after) return
    this.#offences.delete(sender)
    this.#sweep(now)
    // Whoever would be forgotten earliest anyway makes room.
    if (this.#until.size >= mostSenders) this.#until.delete(this.#until.keys().next().value ?? '')
    this.#until.delete(sender)
    this.#until.set(sender, now + forMs)
  }

  #sweep(now: number): void {
    for (const [sender, until] of this.#until) {
      if (until > now) return
      this.#until.delete(sender)
    }
  }
}

import { RecentMap } from './recent-map.ts'

/** Offenses are counted within this time, in ms. */
const windowMs = 60_000
/** Most senders whose offenses are remembered, and most that are banned at once. */
const maxSenders = 10_000

/** Senders that are banned, and the offenses of those that are not yet. Both are bounded; a ban ends by itself. */
export class Bans {
  /** In the order of their ends. */
  readonly #until = new Map<string, number>()
  readonly #offenses = new RecentMap<{ since: number; count: number }>(maxSenders)

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

  /** Counts one offense; with the last one of `after` within a minute the sender is banned for `forMs`. */
  recordOffense(sender: string, now: number, { after, forMs }: { after: number; forMs: number }): void {
    let known = this.#offenses.get(sender)
    if (!known || now - known.since >= windowMs || now < known.since) {
      known = { since: now, count: 0 }
      this.#offenses.set(sender, known)
    }
    known.count++
    if (known.count < after) return
    this.#offenses.delete(sender)
    this.#sweep(now)
    // Whoever would be forgotten earliest anyway makes room.
    if (this.#until.size >= maxSenders) this.#until.delete(this.#until.keys().next().value ?? '')
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

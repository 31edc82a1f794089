/** Even RTP ports of one range, each with the following odd port for RTCP (RFC 3550 section 11). */
export class PortPool {
  #free: number[]
  #used = new Set<number>()
  /** Closed pairs in the order of their release: the first becomes free next. */
  #quarantine: { readonly port: number; readonly until: number }[] = []
  #quarantineMs: number
  #random: (below: number) => number
  #reused = 0

  /** `ports`: the even ports of the pool. `random`: returns an integer from 0 to below its argument. */
  constructor(ports: readonly number[], quarantineMs: number, random: (below: number) => number) {
    this.#free = [...ports]
    this.#quarantineMs = quarantineMs
    this.#random = random
  }

  get used(): number {
    return this.#used.size
  }

  /** Number of pairs that were taken again during their quarantine. */
  get reused(): number {
    return this.#reused
  }

  /** Returns the number of pairs that are neither in use nor in quarantine. */
  free(now: number): number {
    this.#release(now)
    return this.#free.length
  }

  /** Returns the number of pairs in quarantine. */
  quarantined(now: number): number {
    this.#release(now)
    return this.#quarantine.length
  }

  /**
   * Takes a random free pair, so that the next port is unpredictable. Without a free pair, takes the pair
   * that was longest in quarantine: a late packet does less harm than a rejected call. Returns undefined if
   * every pair is in use.
   */
  take(now: number): number | undefined {
    this.#release(now)
    if (this.#free.length === 0) return this.#takeResting()
    const index = this.#random(this.#free.length)
    const port = this.#free[index]!
    const last = this.#free.pop()!
    if (index < this.#free.length) this.#free[index] = last
    this.#used.add(port)
    return port
  }

  /**
   * Returns a pair to the pool. It stays in quarantine first, so that late packets of its call do not reach
   * the next one.
   */
  give(now: number, port: number): void {
    if (!this.#used.delete(port)) return
    this.#quarantine.push({ port, until: now + this.#quarantineMs })
    this.#release(now)
  }

  #takeResting(): number | undefined {
    const rested = this.#quarantine.shift()
    if (!rested) return undefined
    this.#reused++
    this.#used.add(rested.port)
    return rested.port
  }

  #release(now: number): void {
    while (this.#quarantine[0] && this.#quarantine[0].until <= now)
      this.#free.push(this.#quarantine.shift()!.port)
  }
}

/**
 * Splits the pairs of an inclusive range into `shares` parts of nearly equal size, each of adjacent ports.
 */
export function shareRange(
  range: { readonly from: number; readonly to: number },
  shares: number,
): number[][] {
  const first = range.from + (range.from % 2)
  const pairs: number[] = []
  for (let port = first; port + 1 <= range.to; port += 2) pairs.push(port)
  return Array.from({ length: shares }, (_, i) =>
    pairs.slice(Math.floor((i * pairs.length) / shares), Math.floor(((i + 1) * pairs.length) / shares)),
  )
}

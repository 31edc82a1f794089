/**
 * Which pages may use the API and open a WebSocket (RFC 6454). Programs that are no browsers send no Origin
 * and are let in.
 */
export class Origins {
  #all = false
  #named: ReadonlySet<string> = new Set()

  /** See {@link change}. */
  constructor(allowed: readonly string[]) {
    this.change(allowed)
  }

  /**
   * Lets these in from now on: `https://app.example.test` and the like; an empty list or `*` lets every page
   * in.
   */
  change(allowed: readonly string[]): void {
    this.#all = allowed.length === 0 || allowed.includes('*')
    this.#named = new Set(allowed.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  }

  /** `host` is the request's Host header: the gateway's own pages are always allowed. */
  allows(origin: string | undefined, host: string | undefined): boolean {
    return this.#all || this.trusts(origin, host)
  }

  /**
   * As {@link allows}, for what a page of just any origin must not do: it is one of ours, or stands in the
   * list by its name.
   */
  trusts(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined) return true
    const given = origin.toLowerCase()
    const own = host !== undefined && given.replace(/^https?:\/\//, '') === host.toLowerCase()
    return own || this.#named.has(given)
  }
}

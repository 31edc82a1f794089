/**
 * Origins of pages that may use the API and open WebSockets (RFC 6454). Requests without an Origin are
 * allowed: they come from clients other than browsers.
 */
export class Origins {
  #all = false
  #named: ReadonlySet<string> = new Set()

  /** See {@link change}. */
  constructor(allowed: readonly string[]) {
    this.change(allowed)
  }

  /** Sets the allowed origins, such as `https://app.example.test`. An empty list or `*` allows every page. */
  change(allowed: readonly string[]): void {
    this.#all = allowed.length === 0 || allowed.includes('*')
    this.#named = new Set(allowed.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  }

  /** `host` is the request's Host header: the gateway's own pages are always allowed. */
  allows(origin: string | undefined, host: string | undefined): boolean {
    return this.#all || this.trusts(origin, host)
  }

  /**
   * Whether the origin is the gateway's own or listed by name. Stricter than {@link allows}: `*` does not
   * count.
   */
  trusts(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined) return true
    const given = origin.toLowerCase()
    const own = host !== undefined && given.replace(/^https?:\/\//, '') === host.toLowerCase()
    return own || this.#named.has(given)
  }
}

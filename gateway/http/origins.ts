/** Which pages may use the API and open a WebSocket (RFC 6454). Programs that are no browsers send no Origin and are let in. */
export class Origins {
  #allowed: ReadonlySet<string> | undefined

  /** `https://app.example.test` and the like; an empty list or `*` lets every page in. */
  constructor(allowed: readonly string[]) {
    const all = allowed.length === 0 || allowed.includes('*')
    this.#allowed = all
      ? undefined
      : new Set(allowed.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  }

  /** `host` is the request's Host header: the gateway's own pages are always allowed. */
  allows(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || this.#allowed === undefined) return true
    const given = origin.toLowerCase()
    return (
      this.#allowed.has(given) ||
      (host !== undefined && given.replace(/^https?:\/\//, '') === host.toLowerCase())
    )
  }
}

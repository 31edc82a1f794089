import { ClientError } from './errors.ts'
import { fetchPage, type Paged } from './paged.ts'
import type { Rest } from './rest.ts'

/** Address that can be called or written to. */
export interface Address {
  readonly id: string
  readonly resource_id: string
  readonly display_name: string
  readonly name: string
  readonly type: 'app' | 'call' | 'room' | 'subscriber'
  /** Destinations for {@link Client.dial}, one per medium: `/public/alice?channel=audio`. */
  readonly channels: { readonly audio?: string; readonly video?: string; readonly messaging?: string }
  readonly preview_url: string | null
  readonly cover_url: string | null
  readonly locked: boolean
  /** ISO 8601. */
  readonly created_at: string
}

/** Options of {@link Addresses.getAddresses}. */
export interface AddressesOptions {
  readonly type?: Address['type']
  /** Part of the display name, not case-sensitive. */
  readonly displayName?: string
  /** Number of addresses per page; the server's default is 50. */
  readonly pageSize?: number
  /** Default `name`. */
  readonly sortBy?: 'name' | 'created_at'
  /** Default `asc`. */
  readonly sortOrder?: 'asc' | 'desc'
}

const base = '/api/fabric/addresses'

/** Addresses that the subscriber may call: `client.address`. All methods reject with `auth` or `http`. */
export class Addresses {
  readonly #rest: Rest

  constructor(rest: Rest) {
    this.#rest = rest
  }

  /** Returns the addresses, page by page. */
  getAddresses(options: AddressesOptions = {}): Promise<Paged<Address>> {
    const { type, displayName, pageSize, sortBy, sortOrder } = options
    return fetchPage(this.#rest, base, {
      type,
      display_name: displayName,
      page_size: pageSize,
      sort_by: sortBy,
      sort_order: sortOrder,
    })
  }

  /**
   * Returns one address, by id or by name (`alice` or `/public/alice`).
   * Rejects with `unknown_address` if no address has the name.
   */
  async getAddress(by: { readonly id: string } | { readonly name: string }): Promise<Address> {
    if ('id' in by) return (await this.#rest.get(`${base}/${encodeURIComponent(by.id)}`)) as Address
    const { data } = await fetchPage<Address>(this.#rest, base, { name: by.name })
    const [found] = data
    if (!found)
      throw new ClientError('unknown_address', `There is no address ${by.name}.`, { serverCode: '404' })
    return found
  }
}

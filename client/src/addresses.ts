import { ClientError } from './errors.ts'
import { fetchPage, type Paged } from './paged.ts'
import type { Rest } from './rest.ts'

/** Something that can be called or written to. */
export interface Address {
  readonly id: string
  readonly resource_id: string
  readonly display_name: string
  readonly name: string
  readonly type: 'app' | 'call' | 'room' | 'subscriber'
  /** What {@link Client.dial} takes, by the ways in which the address is reached: `/public/alice?channel=audio`. */
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
  /** A part of the display name; upper and lower case are the same. */
  readonly displayName?: string
  /** Addresses of a page. Default the server's: 50. */
  readonly pageSize?: number
  /** Default `name`. */
  readonly sortBy?: 'name' | 'created_at'
  /** Default `asc`. */
  readonly sortOrder?: 'asc' | 'desc'
}

const base = '/api/fabric/addresses'

/** What the subscriber may call: `client.address`. Everything rejects with `auth` or `http`. */
export class Addresses {
  readonly #rest: Rest

  constructor(rest: Rest) {
    this.#rest = rest
  }

  /** The addresses, page by page. */
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

  /** One address, by its id or by its name (`alice` or `/public/alice`). Rejects with `unknown_address` where there is no such name. */
  async getAddress(by: { readonly id: string } | { readonly name: string }): Promise<Address> {
    if ('id' in by) return (await this.#rest.get(`${base}/${encodeURIComponent(by.id)}`)) as Address
    const { data } = await fetchPage<Address>(this.#rest, base, { name: by.name })
    const [found] = data
    if (!found)
      throw new ClientError('unknown_address', `There is no address ${by.name}.`, { serverCode: '404' })
    return found
  }
}

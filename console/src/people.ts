import { type Address, type Client, ClientError, type Clock, type Paged, type Timer } from '@trunkline/client'

/** Part of the client that the address book uses. */
export type PeopleClient = Pick<Client, 'address'>

const pageSize = 20
const typingPauseMs = 250

/** Address book: callable addresses, searched at the server, page by page. */
export class People {
  readonly #client: PeopleClient
  readonly #clock: Clock
  readonly #changed: () => void
  #list: readonly Address[] = []
  #page: Paged<Address> | undefined
  #text = ''
  #type: Address['type'] | undefined
  #loading = false
  #failed = false
  #asked = 0
  #timer: Timer | undefined

  constructor(client: PeopleClient, clock: Clock, changed: () => void) {
    this.#client = client
    this.#clock = clock
    this.#changed = changed
  }

  get list(): readonly Address[] {
    return this.#list
  }

  get hasMore(): boolean {
    return this.#page?.hasNext ?? false
  }

  get isLoading(): boolean {
    return this.#loading
  }

  /** Whether the last request failed. */
  get hasFailed(): boolean {
    return this.#failed
  }

  /** Searches by a part of the display name, once the user has stopped typing; `type` undefined: any. */
  search(text: string, type: Address['type'] | undefined): void {
    this.#text = text.trim()
    this.#type = type
    this.#timer?.cancel()
    this.#timer = this.#clock.after(typingPauseMs, () => void this.load())
  }

  /** Fetches the first page. Never rejects. */
  load(): Promise<void> {
    return this.#fetch([], () =>
      this.#client.address.getAddresses({
        pageSize,
        sortBy: 'name',
        displayName: this.#text || undefined,
        type: this.#type,
      }),
    )
  }

  /** Fetches the next page. Never rejects. */
  more(): Promise<void> {
    const page = this.#page
    return page?.hasNext ? this.#fetch(this.#list, () => page.nextPage()) : Promise.resolve()
  }

  /** Finds the address for a typed name: its own name (`bob`, `/public/bob`), or a unique display name. */
  async find(text: string): Promise<Address | undefined> {
    try {
      return await this.#client.address.getAddress({ name: text })
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'unknown_address')) throw error
    }
    const { data } = await this.#client.address.getAddresses({ displayName: text, pageSize })
    const same = data.filter(({ display_name }) => display_name.toLowerCase() === text.toLowerCase())
    return same.length === 1 ? same[0] : undefined
  }

  async #fetch(before: readonly Address[], ask: () => Promise<Paged<Address> | undefined>): Promise<void> {
    const asked = ++this.#asked
    this.#loading = true
    this.#failed = false
    this.#changed()
    try {
      const page = await ask()
      // A later search has already finished.
      if (asked !== this.#asked) return
      this.#page = page
      this.#list = [...before, ...(page?.data ?? [])]
    } catch {
      if (asked !== this.#asked) return
      this.#failed = true
    }
    this.#loading = false
    this.#changed()
  }
}

/**
 * Returns the destination for an address: the video channel if wanted and available, else audio.
 * Undefined if the address cannot be called.
 */
export const dialled = ({ channels }: Pick<Address, 'channels'>, video: boolean): string | undefined =>
  (video ? channels.video : channels.audio) ?? channels.audio ?? channels.video

import { type Address, type Client, ClientError, type Clock, type Paged, type Timer } from '@trunkline/client'

/** The part of the client that the address book uses. */
export type PeopleClient = Pick<Client, 'address'>

const PAGE = 20
const QUIET_MS = 250

/** The address book: what can be called and written to, searched at the server, page by page. */
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

  /** The server could not be asked. */
  get hasFailed(): boolean {
    return this.#failed
  }

  /** Searches by a part of the display name, once the person has stopped typing; undefined `type`: any. */
  search(text: string, type: Address['type'] | undefined): void {
    this.#text = text.trim()
    this.#type = type
    this.#timer?.cancel()
    this.#timer = this.#clock.after(QUIET_MS, () => void this.load())
  }

  /** Asks for the first page. Never rejects. */
  load(): Promise<void> {
    return this.#fetch([], () =>
      this.#client.address.getAddresses({
        pageSize: PAGE,
        sortBy: 'name',
        displayName: this.#text || undefined,
        type: this.#type,
      }),
    )
  }

  /** Asks for the next page. Never rejects. */
  more(): Promise<void> {
    const page = this.#page
    return page?.hasNext ? this.#fetch(this.#list, () => page.nextPage()) : Promise.resolve()
  }

  /** The one address that a typed name means: its own name (`bob`, `/public/bob`), or the only display name that is the same. */
  async find(text: string): Promise<Address | undefined> {
    try {
      return await this.#client.address.getAddress({ name: text })
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'unknown_address')) throw error
    }
    const { data } = await this.#client.address.getAddresses({ displayName: text, pageSize: PAGE })
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
      // A later search was faster.
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

/** What is dialled for an address: its channel for video where that is wanted and there is one, else that for audio; undefined where it cannot be called. */
export const dialled = ({ channels }: Pick<Address, 'channels'>, video: boolean): string | undefined =>
  (video ? channels.video : channels.audio) ?? channels.audio ?? channels.video

import { type Client, ClientError, type Message, type Paged } from '@trunkline/client'

/** What a {@link Thread} is made of. */
export interface ThreadParts {
  readonly client: Pick<Client, 'chat'>
  /** Of the address that the conversation is with, or the conversation's own id. */
  readonly id: string
  readonly name: string
  /** Id of our own address, once it is known. */
  readonly me: () => string | undefined
  readonly changed: () => void
}

const PAGE = 30

/** One conversation: its messages, the oldest first. Nothing of it rejects but {@link send}. */
export class Thread {
  readonly id: string
  readonly name: string
  /** What was typed and not sent; the view keeps it here, so that it outlives a look at another conversation. */
  draft = ''
  readonly #parts: ThreadParts
  #messages: readonly Message[] = []
  #oldest: Paged<Message> | undefined
  #loading = false
  #failed = false

  constructor(parts: ThreadParts) {
    this.#parts = parts
    this.id = parts.id
    this.name = parts.name
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  get hasOlder(): boolean {
    return this.#oldest?.hasNext ?? false
  }

  get isLoading(): boolean {
    return this.#loading
  }

  get hasFailed(): boolean {
    return this.#failed
  }

  isOwn({ from_address_id }: Pick<Message, 'from_address_id'>): boolean {
    return from_address_id !== null && from_address_id === this.#parts.me()
  }

  /** Fetches the latest messages; those that are there already stay. */
  load(): Promise<void> {
    return this.#fetch(async () => {
      const page = await this.#parts.client.chat.getMessages({ addressId: this.id, pageSize: PAGE })
      // After a long time without connection there may be a gap, which only fetching from the newest on closes.
      const joined = page.data.some(({ id }) => this.#messages.some((known) => known.id === id))
      if (!joined) this.#messages = []
      if (!joined || !this.#oldest) this.#oldest = page
      return page.data
    })
  }

  /** Fetches what was written before. */
  older(): Promise<void> {
    return this.#fetch(async () => {
      const page = await this.#oldest?.nextPage()
      this.#oldest = page ?? this.#oldest
      return page?.data ?? []
    })
  }

  /** Writes a message. Rejects with a sentence that is fit for the page. */
  async send(text: string): Promise<void> {
    try {
      this.add([await this.#parts.client.chat.sendMessage({ addressId: this.id, text })])
    } catch (error) {
      throw new Error(sendMessage(error), { cause: error })
    }
  }

  /** Takes messages, each once, whatever their order. */
  add(messages: readonly Message[]): void {
    const known = new Map([...this.#messages, ...messages].map((message) => [message.id, message]))
    this.#messages = [...known.values()].sort((a, b) => a.ts - b.ts)
    this.#parts.changed()
  }

  async #fetch(ask: () => Promise<readonly Message[]>): Promise<void> {
    this.#loading = true
    this.#failed = false
    this.#parts.changed()
    try {
      const messages = await ask()
      this.#loading = false
      this.add(messages)
    } catch (error) {
      this.#loading = false
      // Nobody has written here yet.
      this.#failed = !(error instanceof ClientError && error.serverCode === '404')
      this.#parts.changed()
    }
  }
}

const sendMessage = (error: unknown): string => {
  const code = error instanceof ClientError ? error.serverCode : undefined
  if (code === '429') return 'Too many messages at once. Please wait a moment.'
  if (code === '422' || code === '404') return 'This address cannot be written to.'
  return 'The message was not sent. Please try again.'
}

import { type Client, ClientError, type Message, type Paged } from '@trunkline/client'
import { laterTexts } from './texts/later.ts'

/** Collaborators of a {@link Thread}. */
export interface ThreadDeps {
  readonly client: Pick<Client, 'chat'>
  /** Id of the other participant's address, or of the conversation. */
  readonly id: string
  readonly name: string
  /** Id of the user's address; undefined until it is known. */
  readonly me: () => string | undefined
  readonly changed: () => void
}

const pageSize = 30

/** One conversation: its messages, the oldest first. Only {@link send} may reject. */
export class Thread {
  readonly id: string
  readonly name: string
  /** Unsent text; stored here, so that it survives a switch to another conversation. */
  draft = ''
  readonly #deps: ThreadDeps
  #messages: readonly Message[] = []
  #oldest: Paged<Message> | undefined
  #loading = false
  #failed = false

  constructor(deps: ThreadDeps) {
    this.#deps = deps
    this.id = deps.id
    this.name = deps.name
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
    return from_address_id !== null && from_address_id === this.#deps.me()
  }

  /** Fetches the latest messages and keeps those that are already present. */
  load(): Promise<void> {
    return this.#fetch(async () => {
      const page = await this.#deps.client.chat.getMessages({ addressId: this.id, pageSize })
      // After a long time without a connection, messages between the shown and the new messages may be
      // missing. Only fetching from the newest message on closes the gap.
      const joined = page.data.some(({ id }) => this.#messages.some((known) => known.id === id))
      if (!joined) this.#messages = []
      if (!joined || !this.#oldest) this.#oldest = page
      return page.data
    })
  }

  /** Fetches earlier messages. */
  older(): Promise<void> {
    return this.#fetch(async () => {
      const page = await this.#oldest?.nextPage()
      this.#oldest = page ?? this.#oldest
      return page?.data ?? []
    })
  }

  /** Sends a message. Rejects with a message that can be shown on the page. */
  async send(text: string): Promise<void> {
    try {
      this.add([await this.#deps.client.chat.sendMessage({ addressId: this.id, text })])
    } catch (error) {
      throw new Error(sendMessage(error), { cause: error })
    }
  }

  /** Adds messages, each once, in any order. */
  add(messages: readonly Message[]): void {
    const known = new Map([...this.#messages, ...messages].map((message) => [message.id, message]))
    this.#messages = [...known.values()].sort((a, b) => a.ts - b.ts)
    this.#deps.changed()
  }

  async #fetch(ask: () => Promise<readonly Message[]>): Promise<void> {
    this.#loading = true
    this.#failed = false
    this.#deps.changed()
    try {
      const messages = await ask()
      this.#loading = false
      this.add(messages)
    } catch (error) {
      this.#loading = false
      // The conversation has no messages yet.
      this.#failed = !(error instanceof ClientError && error.serverCode === '404')
      this.#deps.changed()
    }
  }
}

const sendMessage = (error: unknown): string => {
  const code = error instanceof ClientError ? error.serverCode : undefined
  if (code === '429') return laterTexts().tooManyMessages
  if (code === '422' || code === '404') return laterTexts().cannotWrite
  return laterTexts().notSent
}

import { Emitter } from './emitter.ts'
import type { Json } from './frames.ts'
import type { Log } from './log.ts'
import { fetchPage, type Paged } from './paged.ts'
import type { Rest } from './rest.ts'

/** A message, as it is fetched and as it is delivered. */
export interface Message {
  readonly id: string
  /** Address that the conversation is with: for each of two who talk the other's. Of a conversation among several, its own id. */
  readonly conversation_id: string
  /** The conversation's own id, the same for all who are part of it. */
  readonly group_id: string
  readonly address_id: string | null
  readonly user_id: string
  /** The author's address; null for a guest. */
  readonly from_address_id: string | null
  /** Seconds since the epoch, with a fraction. */
  readonly ts: number
  readonly text: string
  readonly type: string
  readonly subtype: string
  readonly kind: null
  readonly hidden: boolean
  readonly metadata: Json
  readonly details: Json
  readonly user_name: string
  readonly conversation_name: string
}

/** A conversation that the subscriber is part of. */
export interface Conversation {
  readonly id: string
  readonly group_id: string
  readonly address_id: string | null
  readonly fabric_address_ids: readonly string[]
  readonly from_fabric_address_id: string | null
  /** Milliseconds since the epoch. */
  readonly created_at: number
  /** Milliseconds since the epoch; null before the first message. */
  readonly last_message_at: number | null
  readonly name: string
  readonly metadata: Json
}

/** How many of a list are fetched at once; default the server's: 50. */
export interface PageOptions {
  readonly pageSize?: number
}

/** Which conversation: the id of the address that it is with, or its own `group_id`. */
export interface WithAddress {
  readonly addressId: string
}

/** A message to be written. */
export interface SendOptions extends WithAddress {
  /** At most 4096 characters. */
  readonly text: string
  /** Kept with the message. Must be plain JSON, at most 4096 characters of it. */
  readonly metadata?: Json
}

/** Listening to messages, until {@link unsubscribe}. */
export interface Subscription {
  unsubscribe(): void
}

const base = '/api/fabric/conversations'
const pathOf = ({ addressId }: WithAddress) => `${base}/${encodeURIComponent(addressId)}/messages`

/** All conversations of the subscriber: `client.conversation`. What asks the server rejects with `auth` or `http`. */
export class Conversations {
  readonly #rest: Rest
  readonly #heard: Emitter<{ message: Message }>

  constructor(rest: Rest, log: Log) {
    this.#rest = rest
    this.#heard = new Emitter((error) => log.error('a listener of messages failed', error))
  }

  /** The conversations, the latest first. */
  getConversations({ pageSize }: PageOptions = {}): Promise<Paged<Conversation>> {
    return fetchPage(this.#rest, base, { page_size: pageSize })
  }

  /** The messages of all conversations, the newest first. */
  getMessages({ pageSize }: PageOptions = {}): Promise<Paged<Message>> {
    return fetchPage(this.#rest, '/api/fabric/messages', { page_size: pageSize })
  }

  /** The messages of one conversation, the newest first. */
  getConversationMessages({ pageSize, ...which }: WithAddress & PageOptions): Promise<Paged<Message>> {
    return fetchPage(this.#rest, pathOf(which), { page_size: pageSize })
  }

  /** Calls `listener` on each message of any conversation, one's own too. Those of a time without connection are to be fetched. */
  subscribe(listener: (message: Message) => void): Subscription {
    // A function of its own for each subscription: the same listener may be given twice, and taken back once.
    const heard = (message: Message) => listener(message)
    this.#heard.on('message', heard)
    return { unsubscribe: () => this.#heard.off('message', heard) }
  }

  /** Writes a message; resolves with it as the server keeps it. */
  async sendMessage({ addressId, text, metadata }: SendOptions): Promise<Message> {
    const body = { conversation_id: addressId, text, ...(metadata && { metadata }) }
    return (await this.#rest.post('/api/fabric/messages', body)) as Message
  }

  /** Becomes part of the conversation of an address, for example of a room, and hears what is written there from now on. */
  async join({ addressId }: WithAddress): Promise<Pick<Conversation, 'group_id' | 'fabric_address_ids'>> {
    return (await this.#rest.post(`${base}/join`, { conversation_id: addressId })) as Conversation
  }

  /** For the client alone: an event of the server. */
  event(type: string, params: Json): void {
    if (type === 'conversation.message') this.#heard.emit('message', params as unknown as Message)
  }
}

/** One conversation at a time: `client.chat`. What asks the server rejects with `auth` or `http`. */
export class Chat {
  readonly #conversations: Conversations

  constructor(conversations: Conversations) {
    this.#conversations = conversations
  }

  /** The messages of a conversation, the newest first; 10 of them unless `pageSize` says otherwise. */
  getMessages({ pageSize = 10, ...which }: WithAddress & PageOptions): Promise<Paged<Message>> {
    return this.#conversations.getConversationMessages({ ...which, pageSize })
  }

  /** Calls `onMessage` on each message of the conversation, one's own too. */
  subscribe(options: WithAddress & { readonly onMessage: (message: Message) => void }): Subscription {
    const { addressId, onMessage } = options
    return this.#conversations.subscribe((message) => {
      if (message.conversation_id === addressId || message.group_id === addressId) onMessage(message)
    })
  }

  /** As {@link Conversations.sendMessage}. */
  sendMessage(options: SendOptions): Promise<Message> {
    return this.#conversations.sendMessage(options)
  }

  /** As {@link Conversations.join}. */
  join(options: WithAddress): ReturnType<Conversations['join']> {
    return this.#conversations.join(options)
  }
}

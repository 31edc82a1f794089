import { Emitter } from './emitter.ts'
import type { Json } from './frames.ts'
import type { Log } from './log.ts'
import { fetchPage, type Paged } from './paged.ts'
import type { Rest } from './rest.ts'

/** Message, as fetched and as delivered. */
export interface Message {
  readonly id: string
  /** Address of the other participant; for a conversation of several, its own id. */
  readonly conversation_id: string
  /** Id of the conversation, the same for all participants. */
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

/** Conversation in which the subscriber takes part. */
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

/** Number of items per page; the server's default is 50. */
export interface PageOptions {
  readonly pageSize?: number
}

/** Conversation, by the id of the other participant's address or by its `group_id`. */
export interface WithAddress {
  readonly addressId: string
}

/** Message to send. */
export interface SendOptions extends WithAddress {
  /** At most 4096 characters. */
  readonly text: string
  /** Stored with the message. Must be plain JSON of at most 4096 characters. */
  readonly metadata?: Json
}

/** Subscription to messages, until {@link unsubscribe}. */
export interface Subscription {
  unsubscribe(): void
}

const base = '/api/fabric/conversations'
const pathOf = ({ addressId }: WithAddress) => `${base}/${encodeURIComponent(addressId)}/messages`

/** All conversations of the subscriber: `client.conversation`. Requests reject with `auth` or `http`. */
export class Conversations {
  readonly #rest: Rest
  readonly #received: Emitter<{ message: Message; missed: undefined }>

  constructor(rest: Rest, log: Log) {
    this.#rest = rest
    this.#received = new Emitter((error) => log.error('message listener failed', error))
  }

  /** Returns the conversations, the latest first. */
  getConversations({ pageSize }: PageOptions = {}): Promise<Paged<Conversation>> {
    return fetchPage(this.#rest, base, { page_size: pageSize })
  }

  /** Returns the messages of all conversations, the newest first. */
  getMessages({ pageSize }: PageOptions = {}): Promise<Paged<Message>> {
    return fetchPage(this.#rest, '/api/fabric/messages', { page_size: pageSize })
  }

  /** Returns the messages of one conversation, the newest first. */
  getConversationMessages({ pageSize, ...which }: WithAddress & PageOptions): Promise<Paged<Message>> {
    return fetchPage(this.#rest, pathOf(which), { page_size: pageSize })
  }

  /**
   * Calls `listener` on each message of any conversation, including the subscriber's own.
   * Messages sent while the connection was down must be fetched, and those that {@link onMissed} reports.
   */
  subscribe(listener: (message: Message) => void): Subscription {
    // Own function for each subscription: the same listener may be added twice and removed once.
    const onMessage = (message: Message) => listener(message)
    this.#received.on('message', onMessage)
    return { unsubscribe: () => this.#received.off('message', onMessage) }
  }

  /**
   * Calls `listener` when messages were not delivered because the page had too many unacknowledged events.
   * The application must fetch them.
   */
  onMissed(listener: () => void): Subscription {
    // Own function for each subscription: the same listener may be added twice and removed once.
    const onMissed = () => listener()
    this.#received.on('missed', onMissed)
    return { unsubscribe: () => this.#received.off('missed', onMissed) }
  }

  /** Sends a message; resolves with the message as stored by the server. */
  async sendMessage({ addressId, text, metadata }: SendOptions): Promise<Message> {
    const body = { conversation_id: addressId, text, ...(metadata && { metadata }) }
    return (await this.#rest.post('/api/fabric/messages', body)) as Message
  }

  /** Joins the conversation of an address, for example of a room, and receives its messages. */
  async join({ addressId }: WithAddress): Promise<Pick<Conversation, 'group_id' | 'fabric_address_ids'>> {
    return (await this.#rest.post(`${base}/join`, { conversation_id: addressId })) as Conversation
  }

  /** For the client only: handles an event of the server. */
  event(type: string, params: Json): void {
    if (type === 'conversation.message') this.#received.emit('message', params as unknown as Message)
    if (type === 'events.missed' && params.event_type === 'conversation.message')
      this.#received.emit('missed', undefined)
  }
}

/** Single conversations: `client.chat`. Requests reject with `auth` or `http`. */
export class Chat {
  readonly #conversations: Conversations

  constructor(conversations: Conversations) {
    this.#conversations = conversations
  }

  /** Returns the messages of a conversation, the newest first; `pageSize` defaults to 10. */
  getMessages({ pageSize = 10, ...which }: WithAddress & PageOptions): Promise<Paged<Message>> {
    return this.#conversations.getConversationMessages({ ...which, pageSize })
  }

  /** Calls `onMessage` on each message of the conversation, including the subscriber's own. */
  subscribe(options: WithAddress & { readonly onMessage: (message: Message) => void }): Subscription {
    const { addressId, onMessage } = options
    return this.#conversations.subscribe((message) => {
      if (message.conversation_id === addressId || message.group_id === addressId) onMessage(message)
    })
  }

  /** See {@link Conversations.sendMessage}. */
  sendMessage(options: SendOptions): Promise<Message> {
    return this.#conversations.sendMessage(options)
  }

  /** See {@link Conversations.join}. */
  join(options: WithAddress): ReturnType<Conversations['join']> {
    return this.#conversations.join(options)
  }
}

import type { Client, Conversation, Message, Paged, Subscription } from '@trunkline/client'
import { read, type Store, write } from './memory.ts'
import { Thread } from './thread.ts'

/** Part of the client that conversations use. */
export type ChatClient = Pick<Client, 'chat' | 'conversation' | 'address'>

/** Conversation, as listed on the page. */
export interface Talk {
  /** Id of the other participant's address, or of the conversation. */
  readonly id: string
  readonly group: string
  readonly name: string
  /** Latest message; undefined if it was not fetched. */
  readonly text: string | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Whether the conversation has unread messages. */
  readonly unread: boolean
}

/** Collaborators of {@link Chats}. */
export interface ChatsDeps {
  readonly client: ChatClient
  /** Stores the time at which each conversation was read. */
  readonly store: Store
  /** Address of the signed-in subscriber. */
  readonly address: string
  readonly now: () => number
  readonly changed: () => void
}

const pageSize = 30

/** Conversations of the signed-in subscriber: a list with the latest first, and the open one. */
export class Chats {
  readonly #deps: ChatsDeps
  readonly #read: ReadMarks
  #talks: readonly Talk[] = []
  #page: Paged<Conversation> | undefined
  #failed = false
  #me: string | undefined
  #thread: Thread | undefined
  /** Threads by the id with which they were opened; they keep unsent drafts. */
  readonly #threads = new Map<string, Thread>()
  #subscriptions: readonly Subscription[] | undefined

  constructor(deps: ChatsDeps) {
    this.#deps = deps
    this.#read = new ReadMarks(deps.store, deps.address, deps.now())
  }

  get list(): readonly Talk[] {
    return this.#talks
  }

  get hasMore(): boolean {
    return this.#page?.hasNext ?? false
  }

  get hasFailed(): boolean {
    return this.#failed
  }

  /** The open conversation. */
  get thread(): Thread | undefined {
    return this.#thread
  }

  /** Number of conversations with unread messages. */
  get unread(): number {
    return this.#talks.filter(({ unread }) => unread).length
  }

  /** Fetches the list and subscribes to messages; also after a time without connection. Never rejects. */
  async load(): Promise<void> {
    const { client, address } = this.#deps
    this.#subscriptions ??= [
      client.conversation.subscribe((message) => this.#received(message)),
      client.conversation.onMissed(() => void this.load()),
    ]
    try {
      this.#me ??= (await client.address.getAddress({ name: address })).id
      this.#page = await client.conversation.getConversations({ pageSize })
      this.#talks = this.#listed(this.#page.data)
      this.#failed = false
      if (this.#thread) await this.#thread.load()
    } catch {
      this.#failed = true
    }
    this.#deps.changed()
  }

  /** Fetches more of the list. Never rejects. */
  async more(): Promise<void> {
    try {
      const page = await this.#page?.nextPage()
      if (!page) return
      this.#page = page
      this.#talks = [...this.#talks, ...this.#listed(page.data)]
    } catch {
      this.#failed = true
    }
    this.#deps.changed()
  }

  /** Opens the conversation with an address. */
  open(id: string, name: string): void {
    const { client, changed } = this.#deps
    this.#thread = this.#threads.get(id) ?? new Thread({ client, id, name, me: () => this.#me, changed })
    this.#threads.set(id, this.#thread)
    this.#seen()
    void this.#thread.load()
  }

  /** Opens the conversation of a room. The user takes part in it from now on. */
  async openRoom(id: string, name: string): Promise<void> {
    // Without it, the user still takes part from the first own message on.
    await this.#deps.client.chat.join({ addressId: id }).catch(() => {})
    this.open(id, name)
  }

  /** Returns to the list. */
  leave(): void {
    this.#thread = undefined
    this.#deps.changed()
  }

  /** Marks all messages of the open conversation as read. */
  see(): void {
    if (this.#talks.some(({ id, unread }) => unread && id === this.#thread?.id)) this.#seen()
  }

  /** Unsubscribes from messages. */
  close(): void {
    for (const subscription of this.#subscriptions ?? []) subscription.unsubscribe()
  }

  #seen(): void {
    const { now, changed } = this.#deps
    const id = this.#thread?.id
    this.#talks = this.#talks.map((talk) => {
      if (talk.id !== id) return talk
      this.#read.mark(talk.group, Math.max(now(), talk.at))
      return { ...talk, unread: false }
    })
    changed()
  }

  #received(message: Message): void {
    const { conversation_id, group_id, conversation_name, text, ts, from_address_id } = message
    const known = this.#talks.find(({ group }) => group === group_id)
    const at = ts * 1000
    const own = from_address_id !== null && from_address_id === this.#me
    if (own) this.#read.mark(group_id, at)
    const talk: Talk = {
      id: conversation_id,
      group: group_id,
      name: known?.name ?? conversation_name,
      text,
      at,
      unread: !own,
    }
    this.#talks = [talk, ...this.#talks.filter(({ group }) => group !== group_id)]
    const { thread } = this
    if (thread && (thread.id === conversation_id || thread.id === group_id)) thread.add([message])
    this.#deps.changed()
  }

  #listed(conversations: readonly Conversation[]): Talk[] {
    return conversations.map(({ id, group_id, address_id, name, last_message_at, created_at }) => {
      const text = this.#talks.find(({ group }) => group === group_id)?.text
      const at = last_message_at ?? created_at
      const unread = last_message_at !== null && !this.#read.covers(group_id, last_message_at)
      return { id: address_id ?? id, group: group_id, name, text, at, unread }
    })
  }
}

/**
 * Times up to which conversations were read in this browser. Messages before the first visit count as read.
 */
class ReadMarks {
  readonly #store: Store
  readonly #key: string
  readonly #since: number
  #marks: Readonly<Record<string, number>>

  constructor(store: Store, address: string, now: number) {
    this.#store = store
    this.#key = `trunkline.read ${address}`
    const kept = (read(store, this.#key) ?? {}) as { since?: unknown; marks?: unknown }
    this.#since = typeof kept.since === 'number' ? kept.since : now
    this.#marks =
      typeof kept.marks === 'object' && kept.marks !== null ? (kept.marks as Record<string, number>) : {}
    this.#keep()
  }

  covers(group: string, at: number): boolean {
    return at <= Math.max(this.#since, this.#marks[group] ?? 0)
  }

  mark(group: string, at: number): void {
    this.#marks = { ...this.#marks, [group]: at }
    this.#keep()
  }

  #keep(): void {
    write(this.#store, this.#key, { since: this.#since, marks: this.#marks })
  }
}

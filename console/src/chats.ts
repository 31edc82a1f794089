import type { Client, Conversation, Message, Paged, Subscription } from '@trunkline/client'
import { read, type Store, write } from './memory.ts'
import { Thread } from './thread.ts'

/** The part of the client that conversations use. */
export type ChatClient = Pick<Client, 'chat' | 'conversation' | 'address'>

/** A conversation, as the page lists it. */
export interface Talk {
  /** Id of the address that it is with, or else its own. */
  readonly id: string
  readonly group: string
  readonly name: string
  /** The last message that was heard; undefined where it was not fetched. */
  readonly text: string | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
  /** There is something that the person has not seen. */
  readonly unread: boolean
}

/** What {@link Chats} is made of. */
export interface ChatParts {
  readonly client: ChatClient
  /** Keeps when which conversation was read. */
  readonly store: Store
  /** The address of who is signed in. */
  readonly address: string
  readonly now: () => number
  readonly changed: () => void
}

const PAGE = 30

/** The conversations of who is signed in: a list with the latest first, and the one that is open. */
export class Chats {
  readonly #parts: ChatParts
  readonly #read: ReadMarks
  #talks: readonly Talk[] = []
  #page: Paged<Conversation> | undefined
  #failed = false
  #me: string | undefined
  #thread: Thread | undefined
  /** By the id with which they were opened: what is half written stays. */
  readonly #threads = new Map<string, Thread>()
  #hearing: Subscription | undefined

  constructor(parts: ChatParts) {
    this.#parts = parts
    this.#read = new ReadMarks(parts.store, parts.address, parts.now())
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

  /** The conversation that is open. */
  get thread(): Thread | undefined {
    return this.#thread
  }

  /** How many conversations have something unread. */
  get unread(): number {
    return this.#talks.filter(({ unread }) => unread).length
  }

  /** Fetches the list and hears what is written from now on; also after a time without connection. Never rejects. */
  async load(): Promise<void> {
    const { client, address } = this.#parts
    this.#hearing ??= client.conversation.subscribe((message) => this.#heard(message))
    try {
      this.#me ??= (await client.address.getAddress({ name: address })).id
      this.#page = await client.conversation.getConversations({ pageSize: PAGE })
      this.#talks = this.#listed(this.#page.data)
      this.#failed = false
      if (this.#thread) await this.#thread.load()
    } catch {
      this.#failed = true
    }
    this.#parts.changed()
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
    this.#parts.changed()
  }

  /** Opens the conversation with an address. */
  open(id: string, name: string): void {
    const { client, changed } = this.#parts
    this.#thread = this.#threads.get(id) ?? new Thread({ client, id, name, me: () => this.#me, changed })
    this.#threads.set(id, this.#thread)
    this.#seen()
    void this.#thread.load()
  }

  /** Back to the list. */
  leave(): void {
    this.#thread = undefined
    this.#parts.changed()
  }

  /** The person looks at the open conversation: everything in it is read. */
  see(): void {
    if (this.#talks.some(({ id, unread }) => unread && id === this.#thread?.id)) this.#seen()
  }

  /** Hears nothing any more. */
  close(): void {
    this.#hearing?.unsubscribe()
  }

  #seen(): void {
    const { now, changed } = this.#parts
    const id = this.#thread?.id
    this.#talks = this.#talks.map((talk) => {
      if (talk.id !== id) return talk
      this.#read.mark(talk.group, Math.max(now(), talk.at))
      return { ...talk, unread: false }
    })
    changed()
  }

  #heard(message: Message): void {
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
    this.#parts.changed()
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

/** Until when each conversation was read in this browser; what is older than its first visit counts as read. */
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

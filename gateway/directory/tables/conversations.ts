import { sql } from 'kysely'
import type { Listed, ListPage } from '../model/resource-types.ts'
import type { ConversationMemberTable, ConversationTable, MessageTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { removeOlder } from './remove-older.ts'

/** Stored conversation. */
export type ConversationRow = Readonly<ConversationTable>
/** Stored member of a conversation. */
export type MemberRow = Readonly<ConversationMemberTable>
/** Stored message. */
export type MessageRow = Readonly<MessageTable>
/** Conversation as one member sees it. */
export type Membership = ConversationRow & Pick<MemberRow, 'reads_from'>

/** Position in a list of messages, the newest first. `at`: ms since the Unix epoch. */
export interface MessagePosition {
  readonly at: number
  readonly id: string
}

/** Query for the newest `size` messages after a position. */
export interface MessageQuery {
  readonly after?: MessagePosition
  readonly size: number
}

/** Message as one member sees it. */
export interface MemberMessage {
  readonly message: MessageRow
  readonly conversation: Membership
}

/**
 * Conversations, their members and messages. Queries find only conversations that the given identity is a
 * member of.
 */
export class ConversationRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns the conversation of an id, if the identity is a member. */
  find(holderId: string, id: string): Promise<Membership | undefined> {
    return this.#of(holderId).where('c.id', '=', id).executeTakeFirst()
  }

  /** Like {@link find}, with the conversation's key in place of the id. */
  findByKey(holderId: string, projectId: string, key: string): Promise<Membership | undefined> {
    const ofProject = this.#of(holderId).where('c.project_id', '=', projectId)
    return ofProject.where('c.key', '=', key).executeTakeFirst()
  }

  /** Returns a member's conversations, latest message first. */
  async list(holderId: string, { number, size }: ListPage): Promise<Listed<Membership>> {
    const rows = await this.#of(holderId)
      .orderBy('c.active_at', 'desc')
      .orderBy('c.id')
      .limit(size + 1)
      .offset(number * size)
      .execute()
    // Only enough to know whether there is a further page.
    return { items: rows.slice(0, size), total: number * size + rows.length }
  }

  /**
   * Creates a conversation unless its key exists, and adds the missing members. If the conversation would
   * have more than `most` members, removes guests whose tokens expired before `now`. Resolves with the
   * conversation's id, or undefined if it is still full.
   */
  async ensure(
    row: ConversationRow,
    members: readonly Omit<MemberRow, 'conversation_id'>[],
    most: number,
    now: number,
  ): Promise<string | undefined> {
    const adding = this.#store.transaction().execute(async (write) => {
      const { key } = row
      // Both the insert and the update lock the row, so that no other transaction counts the members
      // meanwhile.
      const { id } = await write
        .insertInto('conversation')
        .values(row)
        .onConflict((conflict) => conflict.columns(['project_id', 'key']).doUpdateSet({ key }))
        .returning('id')
        .executeTakeFirstOrThrow()
      for (const member of members) await addMember(write, { ...member, conversation_id: id })
      if ((await countMembers(write, id)) <= most) return id
      await removeEnded(write, id, now)
      if ((await countMembers(write, id)) <= most) return id
      throw new Full()
    })
    return adding.catch((error: unknown) => {
      if (error instanceof Full) return undefined
      throw error
    })
  }

  members(conversationId: string): Promise<MemberRow[]> {
    return this.#store
      .selectFrom('conversation_member')
      .selectAll()
      .where('conversation_id', '=', conversationId)
      .execute()
  }

  /**
   * Stores a message with the time `now`, or just after the last message if that is later. Returns undefined
   * if the conversation is gone.
   */
  async add(message: Omit<MessageRow, 'created_at'>, now: number): Promise<MessageRow | undefined> {
    return this.#store.transaction().execute(async (write) => {
      const since = sql.lit(now)
      const at = sql<number>`case when last_message_at >= ${since} then last_message_at + 1 else ${since} end`
      const conversation = await write
        .updateTable('conversation')
        .set({ last_message_at: at, active_at: at })
        .where('id', '=', message.conversation_id)
        .returning('last_message_at')
        .executeTakeFirst()
      if (!conversation) return undefined
      const row = { ...message, created_at: Number(conversation.last_message_at) }
      await write.insertInto('message').values(row).execute()
      return row
    })
  }

  /** Returns a message with its conversation. */
  async message(id: string): Promise<{ message: MessageRow; conversation: ConversationRow } | undefined> {
    const message = await this.#store
      .selectFrom('message')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    if (!message) return undefined
    const conversation = await this.#store
      .selectFrom('conversation')
      .selectAll()
      .where('id', '=', message.conversation_id)
      .executeTakeFirst()
    return conversation && { message, conversation }
  }

  /** Returns the messages of a conversation that a member may read, the newest first. */
  async messages(conversation: Membership, { after, size }: MessageQuery): Promise<MessageRow[]> {
    let asked = this.#store
      .selectFrom('message')
      .selectAll()
      .where('conversation_id', '=', conversation.id)
      .where('created_at', '>=', conversation.reads_from)
    if (after) asked = asked.where('created_at', '<=', after.at)
    // One row more, because the message at the position's own time may not come after the position.
    const rows = await asked
      .orderBy('created_at', 'desc')
      .limit(size + 1)
      .execute()
    return rows.filter((row) => isAfter(row, after)).slice(0, size)
  }

  /** Returns the messages of all conversations that a member may read, the newest first. */
  async allMessages(holderId: string, query: MessageQuery): Promise<MemberMessage[]> {
    const written = this.#of(holderId).where('c.last_message_at', 'is not', null)
    let found: MemberMessage[] = []
    for (const conversation of await written.orderBy('c.last_message_at', 'desc').execute()) {
      const last = found.length < query.size ? undefined : found.at(-1)
      // Neither this conversation nor the following ones have newer messages.
      if (last && last.message.created_at > Number(conversation.last_message_at)) break
      const rows = await this.messages(conversation, query)
      found = [...found, ...rows.map((message) => ({ message, conversation }))]
        .sort(newestFirst)
        .slice(0, query.size)
    }
    return found
  }

  /**
   * Removes messages from before a time (ms since the Unix epoch), at most `most` at once. Returns their
   * number.
   */
  removeOlder(before: number, most: number): Promise<number> {
    return removeOlder(this.#store, 'message', before, most)
  }

  /** Removes conversations without members. */
  async removeDeserted(): Promise<void> {
    await this.#store
      .deleteFrom('conversation')
      .where((q) =>
        q.not(
          q.exists(
            q
              .selectFrom('conversation_member as m')
              .select('m.holder_id')
              .whereRef('m.conversation_id', '=', 'conversation.id'),
          ),
        ),
      )
      .execute()
  }

  #of(holderId: string) {
    return this.#store
      .selectFrom('conversation_member as m')
      .innerJoin('conversation as c', 'c.id', 'm.conversation_id')
      .selectAll('c')
      .select('m.reads_from')
      .where('m.holder_id', '=', holderId)
  }
}

const isAfter = ({ created_at, id }: MessageRow, place: MessagePosition | undefined): boolean =>
  place === undefined || created_at < place.at || (created_at === place.at && id < place.id)

const newestFirst = ({ message: a }: MemberMessage, { message: b }: MemberMessage): number =>
  b.created_at - a.created_at || (a.id < b.id ? 1 : -1)

/** Thrown to roll back the transaction when the conversation is full. */
class Full extends Error {}

/** Adds a member. An existing member gets the new `ends_at`. */
const addMember = (write: Write, member: MemberRow): Promise<unknown> =>
  write
    .insertInto('conversation_member')
    .values(member)
    .onConflict((conflict) =>
      conflict.columns(['conversation_id', 'holder_id']).doUpdateSet({ ends_at: member.ends_at }),
    )
    .execute()

const countMembers = async (write: Write, id: string): Promise<number> => {
  const { count } = await write
    .selectFrom('conversation_member')
    .select((q) => q.fn.countAll().as('count'))
    .where('conversation_id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

const removeEnded = (write: Write, id: string, now: number): Promise<unknown> =>
  write
    .deleteFrom('conversation_member')
    .where('conversation_id', '=', id)
    .where('ends_at', '<=', now)
    .execute()

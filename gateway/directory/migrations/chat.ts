import type { Kysely } from 'kysely'
import { createIndex } from './create-index.ts'
import type { Migration } from './run.ts'

/** Conversations, their members and messages. */
export const chat: Migration = {
  name: 'conversations and messages',
  up: async (db) => {
    await createConversations(db)
    await createMembers(db)
    await createMessages(db)
  },
}

const createConversations = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('conversation')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('first_address_id', 'text', (c) => c.references('address.id').onDelete('cascade'))
    .addColumn('second_address_id', 'text', (c) => c.references('address.id').onDelete('cascade'))
    .addColumn('addresses_json', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('last_message_at', 'bigint')
    .addColumn('active_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('conversation_of_project', ['project_id', 'key'])
    .execute()
  await createIndex(db, 'conversation', ['first_address_id'])
  await createIndex(db, 'conversation', ['second_address_id'])
}

const createMembers = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('conversation_member')
    .addColumn('conversation_id', 'text', (c) =>
      c.notNull().references('conversation.id').onDelete('cascade'),
    )
    .addColumn('holder_id', 'text', (c) => c.notNull())
    .addColumn('address_id', 'text', (c) => c.references('address.id').onDelete('cascade'))
    .addColumn('reads_from', 'bigint', (c) => c.notNull())
    .addColumn('ends_at', 'bigint')
    .addPrimaryKeyConstraint('conversation_member_once', ['conversation_id', 'holder_id'])
    .execute()
  await createIndex(db, 'conversation_member', ['holder_id'])
  await createIndex(db, 'conversation_member', ['address_id'])
}

const createMessages = async (db: Kysely<unknown>): Promise<void> => {
  await db.schema
    .createTable('message')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('conversation_id', 'text', (c) =>
      c.notNull().references('conversation.id').onDelete('cascade'),
    )
    .addColumn('author_id', 'text', (c) => c.notNull())
    .addColumn('author_address_id', 'text', (c) => c.references('address.id').onDelete('cascade'))
    .addColumn('text', 'text', (c) => c.notNull())
    .addColumn('metadata_json', 'text', (c) => c.notNull())
    .addColumn('details_json', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('message_of_conversation', ['conversation_id', 'created_at'])
    .execute()
  await createIndex(db, 'message', ['author_address_id'])
  // For the removal of old messages.
  await createIndex(db, 'message', ['created_at'])
}

/** Conversations between addresses. */
export interface ConversationTable {
  id: string
  project_id: string
  /** What there is one conversation of, unique in the project: a room, two who talk, or several by name. */
  key: string
  kind: 'room' | 'direct' | 'group'
  /**
   * Goes with these addresses: the room's, or those of the two who talk (a guest has none). Null: goes with
   * nobody.
   */
  first_address_id: string | null
  second_address_id: string | null
  /** A list of the ids of the addresses that it was made with. */
  addresses_json: string
  created_at: number
  /** Null: nothing was written yet. Rises with every message, so that their times differ. */
  last_message_at: number | null
  /** Of the last message, or of the beginning: what lists go by. */
  active_at: number
}

/** Who is part of a conversation. */
export interface ConversationMemberTable {
  conversation_id: string
  /** With the conversation: a subscriber, or a guest. */
  holder_id: string
  /** Goes with the address; null: a guest's. */
  address_id: string | null
  /** Messages before this are not for this member. */
  reads_from: number
  /**
   * When the token that a guest joined with ends, after which the guest makes room for others; null: stays.
   */
  ends_at: number | null
}

/** Messages of conversations. */
export interface MessageTable {
  id: string
  conversation_id: string
  /** A subscriber, or a guest. */
  author_id: string
  /** Goes with the address; null: a guest's. */
  author_address_id: string | null
  text: string
  metadata_json: string
  details_json: string
  /** Unique in the conversation. */
  created_at: number
}

/** Conversations between addresses. */
export interface ConversationTable {
  id: string
  project_id: string
  /**
   * Identity of the conversation, unique in the project: a room, two participants, or several with a name.
   */
  key: string
  kind: 'room' | 'direct' | 'group'
  /**
   * Addresses whose removal also removes the conversation: the room's, or the two participants' (a guest has
   * none). Null: no such address.
   */
  first_address_id: string | null
  second_address_id: string | null
  /** List of the ids of the addresses at its creation. */
  addresses_json: string
  created_at: number
  /**
   * Time of the last message; null before the first message. Increases with every message, so that no two
   * messages have the same time.
   */
  last_message_at: number | null
  /** Time of the last message or otherwise of the creation; lists are ordered by it. */
  active_at: number
}

/** Members of conversations. */
export interface ConversationMemberTable {
  conversation_id: string
  /** Id of the member: a subscriber or a guest. Part of the primary key, with the conversation. */
  holder_id: string
  /** Address whose removal also removes this row; null for a guest. */
  address_id: string | null
  /** Messages before this time are hidden from this member. */
  reads_from: number
  /**
   * Expiry of the token with which a guest joined. After the expiry, the guest is removed if a new member
   * needs the place. Null: never.
   */
  ends_at: number | null
}

/** Messages of conversations. */
export interface MessageTable {
  id: string
  conversation_id: string
  /** Id of a subscriber or a guest. */
  author_id: string
  /** Address whose removal also removes this row; null for a guest. */
  author_address_id: string | null
  text: string
  metadata_json: string
  details_json: string
  /** Time of the message, unique in the conversation. */
  created_at: number
}

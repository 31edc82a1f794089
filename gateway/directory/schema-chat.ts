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
   * Removed with these addresses: the room's, or those of the two participants (a guest has none). Null: not
   * removed with an address.
   */
  first_address_id: string | null
  second_address_id: string | null
  /** List of the ids of the addresses at its creation. */
  addresses_json: string
  created_at: number
  /** Null before the first message. Increases with every message, so that their times differ. */
  last_message_at: number | null
  /** Time of the last message, or of the creation: order of lists. */
  active_at: number
}

/** Members of conversations. */
export interface ConversationMemberTable {
  conversation_id: string
  /** With the conversation: a subscriber, or a guest. */
  holder_id: string
  /** Removed with the address; null for a guest. */
  address_id: string | null
  /** Messages before this time are hidden from this member. */
  reads_from: number
  /**
   * End of the token with which a guest joined, after which the guest makes room for others; null: no end.
   */
  ends_at: number | null
}

/** Messages of conversations. */
export interface MessageTable {
  id: string
  conversation_id: string
  /** A subscriber, or a guest. */
  author_id: string
  /** Removed with the address; null for a guest. */
  author_address_id: string | null
  text: string
  metadata_json: string
  details_json: string
  /** Unique in the conversation. */
  created_at: number
}

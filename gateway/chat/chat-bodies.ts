import type { Resources } from '../directory/model/ports.ts'
import type { ConversationRow, MessageRow } from '../directory/tables/conversations.ts'

/** Member that a conversation is displayed to; of two members, each sees the other's address. */
export interface Viewer {
  /** Address of the member; absent for a guest. */
  readonly addressId?: string
}

type Addresses = Pick<Resources, 'findByAddressId'>

/** Name shown for a guest. */
const guestName = 'Guest'
/** Maximum length of a conversation's name. */
const longestName = 256

/** Returns a conversation as the API shows it to one of its members; times in ms since the Unix epoch. */
export const conversationBody = (row: ConversationRow, viewer: Viewer, addresses: Addresses) => {
  const { peer, all } = sides(row, viewer)
  return {
    // With two members, the id of the other's address, which applications send messages to.
    id: peer ?? row.id,
    address_id: peer,
    group_id: row.id,
    fabric_address_ids: all,
    from_fabric_address_id: viewer.addressId ?? null,
    created_at: row.created_at,
    last_message_at: row.last_message_at,
    metadata: {},
    name: nameOf(row, viewer, addresses),
  }
}

/** Returns a message as the API and the event `conversation.message` show it to one of the members. */
export const messageBody = (
  message: MessageRow,
  conversation: ConversationRow,
  viewer: Viewer,
  addresses: Addresses,
) => {
  const { peer, all } = sides(conversation, viewer)
  const author = message.author_address_id
  // Guests see no addresses that they may not reach, as applications look up every address they see.
  const from = author !== null && (viewer.addressId !== undefined || all.includes(author)) ? author : null
  return {
    id: message.id,
    address_id: peer,
    conversation_id: peer ?? conversation.id,
    group_id: conversation.id,
    user_id: message.author_id,
    from_address_id: from,
    from_fabric_address_id: from,
    ts: message.created_at / 1000,
    metadata: JSON.parse(message.metadata_json),
    details: JSON.parse(message.details_json),
    type: 'message',
    subtype: 'chat',
    kind: null,
    text: message.text,
    hidden: false,
    user_name: displayNameOf(conversation.project_id, author, addresses),
    conversation_name: nameOf(conversation, viewer, addresses),
  }
}

/**
 * Returns the addresses of a conversation, and the one that represents it to this member; null if the
 * conversation has only its own id.
 */
const sides = ({ kind, addresses_json }: ConversationRow, { addressId }: Viewer) => {
  const all: readonly string[] = JSON.parse(addresses_json)
  const peer = kind === 'group' ? undefined : all.find((id) => id !== addressId)
  return { all, peer: peer ?? null }
}

const nameOf = (row: ConversationRow, viewer: Viewer, addresses: Addresses): string => {
  const { peer, all } = sides(row, viewer)
  if (row.kind !== 'group') return displayNameOf(row.project_id, peer, addresses)
  const others = all.filter((id) => id !== viewer.addressId)
  const names = others.flatMap((id) => addresses.findByAddressId(row.project_id, id)?.displayName ?? [])
  return names.join(', ').slice(0, longestName)
}

const displayNameOf = (projectId: string, addressId: string | null, addresses: Addresses): string =>
  addressId === null ? guestName : (addresses.findByAddressId(projectId, addressId)?.displayName ?? '')

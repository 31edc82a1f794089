import { createHash, randomUUID } from 'node:crypto'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Resources } from '../directory/model/ports.ts'
import type { Resource } from '../directory/model/resource-types.ts'
import type { ConversationRow, MemberRow } from '../directory/tables/conversations.ts'
import type { ChatParticipant } from './chat-participant.ts'

/** Maximum number of addresses in a group conversation. */
export const maxAddresses = 50

/** Maximum number of members of a room. */
export const maxRoomMembers = 500

/** A conversation to create or find, with its members. */
export interface ConversationOpening {
  readonly conversation: ConversationRow
  readonly members: readonly Omit<MemberRow, 'conversation_id'>[]
}

/** Resource that can be a member of a conversation. */
type Messageable = Resource<'subscriber'> | Resource<'room'>

/**
 * Returns the conversation of a participant with these addresses:
 * - one subscriber: between the two.
 * - a room: among all who join.
 * - several subscribers: among them.
 *
 * Throws `unknown_address`, `invalid_field` and `not_permitted`. `attribute` names the addresses' field in
 * errors.
 */
export const readOpening = (
  who: ChatParticipant,
  ids: readonly string[],
  attribute: string,
  { resources, now }: { readonly resources: Pick<Resources, 'findByAddressId'>; readonly now: number },
): ConversationOpening => {
  const others = [...new Set(ids)].filter((id) => id !== who.addressId)
  const [first, ...rest] = others.map((id) => messageable(who, id, attribute, resources))
  if (!first) throw refuse(attribute, 'A conversation needs another address.')
  const me = memberOf(who, now)
  if (rest.length > 0) return group(who, [first, ...rest], me, attribute, now)
  const { id } = first.address
  if (first.type === 'room')
    return {
      conversation: row(who, { kind: 'room', first: id, key: `room ${id}`, all: [id] }, now),
      members: [me],
    }
  const mine = who.addressId
  const between = [id, mine ?? who.id].sort()
  const all = mine === undefined ? [id] : [id, mine]
  const made = { kind: 'direct', first: id, second: mine, key: `direct ${between.join(' ')}`, all } as const
  return { conversation: row(who, made, now), members: [me, memberAt(first)] }
}

const group = (
  who: ChatParticipant,
  others: readonly Messageable[],
  me: ConversationOpening['members'][number],
  attribute: string,
  now: number,
): ConversationOpening => {
  if (who.addressId === undefined)
    throw new TrunklineError('not_permitted', 'A guest may write to a single address, not to a group.')
  if (others.length >= maxAddresses) throw refuse(attribute, `At most ${maxAddresses} talk to one another.`)
  const people = others.filter((other) => other.type === 'subscriber')
  if (people.length < others.length) throw refuse(attribute, 'A room is a conversation of its own.')
  const all = [who.addressId, ...people.map(({ address }) => address.id)].sort()
  const key = `group ${createHash('sha256').update(all.join(' ')).digest('hex')}`
  return { conversation: row(who, { kind: 'group', key, all }, now), members: [me, ...people.map(memberAt)] }
}

interface Made {
  readonly kind: ConversationRow['kind']
  readonly key: string
  readonly first?: string
  readonly second?: string
  readonly all: readonly string[]
}

const row = (
  who: ChatParticipant,
  { kind, key, first, second, all }: Made,
  now: number,
): ConversationRow => ({
  id: randomUUID(),
  project_id: who.projectId,
  kind,
  key,
  first_address_id: first ?? null,
  second_address_id: second ?? null,
  addresses_json: JSON.stringify(all),
  created_at: now,
  last_message_at: null,
  active_at: now,
})

/** Returns the membership of a participant; a guest reads only messages sent after joining. */
const memberOf = (
  { id, addressId, endsAt }: ChatParticipant,
  now: number,
): ConversationOpening['members'][number] => ({
  holder_id: id,
  address_id: addressId ?? null,
  reads_from: addressId === undefined ? now : 0,
  ends_at: endsAt ?? null,
})

const memberAt = ({ id, address }: Messageable): ConversationOpening['members'][number] => ({
  holder_id: id,
  address_id: address.id,
  reads_from: 0,
  ends_at: null,
})

const messageable = (
  { projectId, mayReach }: ChatParticipant,
  id: string,
  attribute: string,
  resources: Pick<Resources, 'findByAddressId'>,
): Messageable => {
  const resource = mayReach(id) ? resources.findByAddressId(projectId, id) : undefined
  if (!resource) throw new TrunklineError('unknown_address', undefined, { attribute })
  if (resource.type === 'subscriber' || resource.type === 'room') return resource
  throw refuse(attribute, 'This address cannot be written to.')
}

const refuse = (attribute: string, text: string): TrunklineError =>
  new TrunklineError('invalid_field', text, { attribute })

import type { FastifyRequest } from 'fastify'
import { type ChatParticipant, chatParticipantOf } from '../../../chat/chat-participant.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { bearerOf } from '../../requests/bearer-auth.ts'

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const anything = { type: 'object', additionalProperties: true } as const
const requiredObject = (properties: object) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})

/** Schema of a conversation in responses. */
export const conversationSchema = requiredObject({
  id: text,
  address_id: textOrNull,
  group_id: text,
  fabric_address_ids: { type: 'array', items: text },
  from_fabric_address_id: textOrNull,
  created_at: { type: 'integer' },
  last_message_at: { type: ['integer', 'null'] },
  metadata: anything,
  name: text,
})

const messageProperties = {
  id: text,
  address_id: textOrNull,
  conversation_id: text,
  group_id: text,
  user_id: text,
  from_address_id: textOrNull,
  from_fabric_address_id: textOrNull,
  ts: { type: 'number' },
  metadata: anything,
  details: anything,
  type: text,
  subtype: text,
  kind: { type: 'null' },
  text,
  hidden: { type: 'boolean' },
  user_name: text,
  conversation_name: text,
}

/** Schema of a message in responses. */
export const messageSchema = requiredObject(messageProperties)

/** Schema of a new message in responses, with the `table` that the SDK reads. */
export const writtenSchema = requiredObject({
  ...messageProperties,
  table: requiredObject({ conversation_id: text, text }),
})

/** Schema of a joined conversation in responses. */
export const joinedSchema = requiredObject({
  group_id: text,
  fabric_address_ids: { type: 'array', items: text },
  from_fabric_address_id: textOrNull,
  table: requiredObject({ conversation_id: text }),
})

/** Maximum length of the metadata, and of the details, of a message in characters of JSON. */
const maxExtraLength = 4096

/** Returns the application's own fields of a message. Throws `invalid_field` if they are too large. */
export const extraOf = (value: object | undefined, attribute: string): object => {
  const given = value ?? {}
  if (JSON.stringify(given).length <= maxExtraLength) return given
  throw new TrunklineError('invalid_field', `At most ${maxExtraLength} characters of JSON.`, { attribute })
}

/** Returns the participant of a request to a route with `requireBearer`. */
export const participantIn = (request: Pick<FastifyRequest, 'bearer'>): ChatParticipant => {
  const { identity, token } = bearerOf(request)
  return chatParticipantOf(identity, token)
}

/** Throws `invalid_field` if a body names a sender's address that is not the address of its sender. */
export const checkFrom = (
  { addressId }: ChatParticipant,
  fields: Readonly<Partial<Record<'from_address_id' | 'from_fabric_address_id', string | null>>>,
): void => {
  for (const attribute of ['from_address_id', 'from_fabric_address_id'] as const) {
    const given = fields[attribute]
    if (given !== undefined && given !== null && given !== addressId)
      throw new TrunklineError('invalid_field', 'It must be your own address, or absent.', { attribute })
  }
}

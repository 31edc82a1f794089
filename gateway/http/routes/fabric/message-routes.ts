import { messageBody } from '../../../chat/chat-bodies.ts'
import type { ChatParticipant } from '../../../chat/chat-participant.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { MemberMessage, MessagePosition } from '../../../directory/tables/conversations.ts'
import { requireBearer } from '../../requests/bearer-auth.ts'
import type { TypedRequest, TypedSite } from '../../requests/typed-routes.ts'
import { forSubscribers, idParams, listSchema } from '../shared/route-schemas.ts'
import { cursorAt, positionOf } from '../shared/time-cursors.ts'
import { checkFrom, extraOf, messageSchema, participantIn, writtenSchema } from './conversation-fields.ts'
import type { ConversationDeps } from './conversation-routes.ts'

const querystring = {
  type: 'object',
  properties: {
    page_size: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    cursor: { type: 'string', maxLength: 200, description: 'Start of the page, from the link `next`.' },
  },
} as const

/** Maximum length of a message in characters. */
const maxTextLength = 4096

const otherId = { type: 'string', maxLength: 100 } as const
const idOrNull = { type: ['string', 'null'], maxLength: 100 } as const
const extra = { type: 'object', additionalProperties: true } as const

const body = {
  type: 'object',
  required: ['text'],
  additionalProperties: false,
  properties: {
    conversation_id: { ...otherId, description: 'Id of a conversation or of an address.' },
    group_id: { ...otherId, description: 'Alternative to `conversation_id`.' },
    text: { type: 'string', minLength: 1, maxLength: maxTextLength, pattern: '^[^\\u0000]*$' },
    from_address_id: { ...idOrNull, description: 'Address of the sender.' },
    from_fabric_address_id: { ...idOrNull, description: 'Alternative to `from_address_id`.' },
    metadata: { ...extra, description: 'Stored with the message; at most 4096 characters of JSON.' },
    details: { ...extra, description: 'Further data with the rules of `metadata`.' },
  },
  oneOf: [{ required: ['conversation_id'] }, { required: ['group_id'] }],
} as const

/** Routes of messages: list those of all conversations or of one, and send a message. */
export const messageRoutes = (site: TypedSite, deps: ConversationDeps): void => {
  const { chat, authenticate, resources } = deps
  const onRequest = requireBearer(authenticate)
  const response = { 200: listSchema(messageSchema) }
  const all = forSubscribers(
    'chat',
    'list_messages',
    'List the messages of all conversations, the newest first',
  )
  site.get('/api/fabric/messages', { onRequest, schema: { ...all, querystring, response } }, (request) =>
    page(request, deps, (participant, query) => chat.messages(participant, query)),
  )
  const one = forSubscribers('chat', 'list_conversation_messages', 'List the messages of a conversation')
  site.get(
    '/api/fabric/conversations/:id/messages',
    { onRequest, schema: { ...one, params: idParams, querystring, response } },
    (request) =>
      page(request, deps, (participant, query) => chat.messagesOf(participant, request.params.id, query)),
  )
  const writes = forSubscribers('chat', 'create_message', 'Send a message to a conversation or an address')
  site.post(
    '/api/fabric/messages',
    { onRequest, schema: { ...writes, body, response: { 201: writtenSchema } } },
    async (request, reply) => {
      const participant = participantIn(request)
      const { conversation_id, group_id = '', text, metadata, details } = request.body
      checkFrom(participant, request.body)
      const written = { text, metadata: extraOf(metadata, 'metadata'), details: extraOf(details, 'details') }
      const attribute = conversation_id === undefined ? 'group_id' : 'conversation_id'
      const { message, conversation } = await chat.send(
        participant,
        conversation_id ?? group_id,
        attribute,
        written,
      )
      const body = messageBody(message, conversation, participant, resources)
      return reply.code(201).send({ ...body, table: { conversation_id: body.conversation_id, text } })
    },
  )
}

/** Returns a page, the newest message first; `next` leads to older messages. */
const page = async (
  request: Pick<TypedRequest<unknown, typeof querystring>, 'bearer' | 'query' | 'url'>,
  { resources }: Pick<ConversationDeps, 'resources'>,
  read: (
    participant: ChatParticipant,
    query: { after?: MessagePosition; size: number },
  ) => Promise<readonly MemberMessage[]>,
) => {
  const participant = participantIn(request)
  const { page_size: size, cursor } = request.query
  const path = pathOf(request.url)
  const list = `${participant.id}\n${path}`
  const place = cursor === undefined ? undefined : positionOf(list, cursor)
  const found = await read(participant, {
    ...(place && { after: { at: place.startedAt, id: place.id } }),
    size: size + 1,
  })
  const messages = found.slice(0, size)
  const last = messages.at(-1)
  const link = (to?: string) =>
    `${path}?${new URLSearchParams({ page_size: String(size), ...(to !== undefined && { cursor: to }) })}`
  const next = last && cursorAt(list, { startedAt: last.message.created_at, id: last.message.id })
  return {
    data: messages.map(({ message, conversation }) =>
      messageBody(message, conversation, participant, resources),
    ),
    links: { self: link(cursor), first: link(), ...(found.length > size && { next: link(next) }) },
  }
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { messageBody } from '../../../chat/chat-bodies.ts'
import type { ChatParticipant } from '../../../chat/chat-participant.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { MemberMessage, MessagePosition } from '../../../directory/conversations.ts'
import { requireBearer } from '../../requests/bearer-auth.ts'
import { forSubscribers, idParams, listSchema } from '../shared/route-schemas.ts'
import { cursorAt, positionOf } from '../shared/time-cursors.ts'
import { checkFrom, extraOf, messageSchema, participantIn, writtenSchema } from './conversation-fields.ts'
import type { ConversationDeps } from './conversation-routes.ts'
import type { ById } from './resource-kind-routes.ts'

interface Query {
  readonly page_size: number
  readonly cursor?: string
}

const querystring = {
  type: 'object',
  properties: {
    page_size: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    cursor: { type: 'string', maxLength: 200, description: 'Where the page begins: of the link `next`.' },
  },
} as const

/** Longest message, in characters. */
const maxTextLength = 4096

const otherId = { type: 'string', maxLength: 100 } as const
const idOrNull = { type: ['string', 'null'], maxLength: 100 } as const
const extra = { type: 'object', additionalProperties: true } as const

const body = {
  type: 'object',
  required: ['text'],
  additionalProperties: false,
  properties: {
    conversation_id: { ...otherId, description: 'Of a conversation, or of an address.' },
    group_id: { ...otherId, description: 'The same; in place of `conversation_id`.' },
    text: { type: 'string', minLength: 1, maxLength: maxTextLength, pattern: '^[^\\u0000]*$' },
    from_address_id: { ...idOrNull, description: 'One’s own address.' },
    from_fabric_address_id: { ...idOrNull, description: 'The same.' },
    metadata: { ...extra, description: 'Kept with the message, up to 4096 characters of JSON.' },
    details: { ...extra, description: 'As `metadata`.' },
  },
  oneOf: [{ required: ['conversation_id'] }, { required: ['group_id'] }],
} as const

interface Body {
  readonly conversation_id?: string
  readonly group_id?: string
  readonly text: string
  readonly from_address_id?: string | null
  readonly from_fabric_address_id?: string | null
  readonly metadata?: object
  readonly details?: object
}

/** Messages: of all conversations, of one, and writing. */
export const messageRoutes = (site: FastifyInstance, deps: ConversationDeps): void => {
  const { chat, authenticate, resources } = deps
  const onRequest = requireBearer(authenticate)
  const response = { 200: listSchema(messageSchema) }
  const all = forSubscribers(
    'chat',
    'list_messages',
    'List the messages of one’s conversations, the newest first',
  )
  site.get<{ Querystring: Query }>(
    '/api/fabric/messages',
    { onRequest, schema: { ...all, querystring, response } },
    (request) => page(request, deps, (who, query) => chat.messages(who, query)),
  )
  const one = forSubscribers('chat', 'list_conversation_messages', 'List the messages of a conversation')
  site.get<ById & { Querystring: Query }>(
    '/api/fabric/conversations/:id/messages',
    { onRequest, schema: { ...one, params: idParams, querystring, response } },
    (request) => page(request, deps, (who, query) => chat.messagesOf(who, request.params.id, query)),
  )
  const writes = forSubscribers('chat', 'create_message', 'Write to a conversation, or to an address')
  site.post<{ Body: Body }>(
    '/api/fabric/messages',
    { onRequest, schema: { ...writes, body, response: { 201: writtenSchema } } },
    async (request, reply) => {
      const who = participantIn(request)
      const { conversation_id, group_id = '', text, metadata, details } = request.body
      checkFrom(who, request.body)
      const written = { text, metadata: extraOf(metadata, 'metadata'), details: extraOf(details, 'details') }
      const attribute = conversation_id === undefined ? 'group_id' : 'conversation_id'
      const { message, conversation } = await chat.send(who, conversation_id ?? group_id, attribute, written)
      const shown = messageBody(message, conversation, who, resources)
      return reply.code(201).send({ ...shown, table: { conversation_id: shown.conversation_id, text } })
    },
  )
}

/** The newest first; `next` goes back in time. */
const page = async (
  request: FastifyRequest<{ Querystring: Query }>,
  { resources }: Pick<ConversationDeps, 'resources'>,
  read: (
    who: ChatParticipant,
    query: { after?: MessagePosition; size: number },
  ) => Promise<readonly MemberMessage[]>,
) => {
  const who = participantIn(request)
  const { page_size: size, cursor } = request.query
  const path = pathOf(request.url)
  const list = `${who.id}\n${path}`
  const place = cursor === undefined ? undefined : positionOf(list, cursor)
  const found = await read(who, {
    ...(place && { after: { at: place.startedAt, id: place.id } }),
    size: size + 1,
  })
  const shown = found.slice(0, size)
  const last = shown.at(-1)
  const link = (to?: string) =>
    `${path}?${new URLSearchParams({ page_size: String(size), ...(to !== undefined && { cursor: to }) })}`
  const next = last && cursorAt(list, { startedAt: last.message.created_at, id: last.message.id })
  return {
    data: shown.map(({ message, conversation }) => messageBody(message, conversation, who, resources)),
    links: { self: link(cursor), first: link(), ...(found.length > size && { next: link(next) }) },
  }
}

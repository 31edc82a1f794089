import type { FastifyInstance } from 'fastify'
import type { Chat } from '../../../chat/chat.ts'
import { conversationBody } from '../../../chat/chat-bodies.ts'
import { maxAddresses } from '../../../chat/conversation-opening.ts'
import type { Resources } from '../../../directory/ports.ts'
import { type Authenticate, requireBearer } from '../../requests/bearer-auth.ts'
import { listBody, type PageQuery, pageOf, pagingQuery } from '../../requests/paging.ts'
import { forSubscribers, idParams, listSchema } from '../shared/route-schemas.ts'
import { checkFrom, conversationSchema, joinedSchema, participantIn } from './conversation-fields.ts'
import { messageRoutes } from './message-routes.ts'
import type { ById } from './resource-kind-routes.ts'
import { addressId } from './token-fields.ts'

/** Collaborators of the routes of conversations. */
export interface ConversationDeps {
  readonly chat: Pick<Chat, 'conversations' | 'conversation' | 'messages' | 'messagesOf' | 'join' | 'send'>
  readonly resources: Pick<Resources, 'findByAddressId'>
  readonly authenticate: Authenticate
}

const base = '/api/fabric/conversations'
const querystring = {
  type: 'object',
  properties: { ...pagingQuery, page_size: { type: 'integer', minimum: 1, maximum: 100, default: 50 } },
} as const

/** Conversations of who holds a token, and what is written in them. */
export const conversationRoutes = (site: FastifyInstance, deps: ConversationDeps): void => {
  listRoutes(site, deps)
  joinRoute(site, deps)
  messageRoutes(site, deps)
}

const listRoutes = (site: FastifyInstance, { chat, resources, authenticate }: ConversationDeps): void => {
  const onRequest = requireBearer(authenticate)
  const lists = forSubscribers('chat', 'list_conversations', 'List one’s conversations, the latest first')
  site.get<{ Querystring: PageQuery }>(
    base,
    { onRequest, schema: { ...lists, querystring, response: { 200: listSchema(conversationSchema) } } },
    async (request) => {
      const who = participantIn(request)
      const found = await chat.conversations(who, pageOf(request.query))
      return listBody(found, base, { ...request.query }, (row) => conversationBody(row, who, resources))
    },
  )
  const reads = forSubscribers('chat', 'get_conversation', 'Get a conversation, by its id or its address')
  site.get<ById>(
    `${base}/:id`,
    { onRequest, schema: { ...reads, params: idParams, response: { 200: conversationSchema } } },
    async (request) => {
      const who = participantIn(request)
      return conversationBody(await chat.conversation(who, request.params.id), who, resources)
    },
  )
}

const joinBody = {
  type: 'object',
  additionalProperties: false,
  properties: {
    conversation_id: { ...addressId, description: 'Of an address; in place of `fabric_address_ids`.' },
    fabric_address_ids: {
      type: 'array',
      minItems: 1,
      maxItems: maxAddresses,
      items: addressId,
      description: 'Ids of the addresses to talk to: one of any kind, or several of subscribers.',
    },
    from_fabric_address_id: { type: ['string', 'null'], description: 'One’s own address.' },
  },
  oneOf: [{ required: ['conversation_id'] }, { required: ['fabric_address_ids'] }],
} as const

interface JoinBody {
  readonly conversation_id?: string
  readonly fabric_address_ids?: readonly string[]
  readonly from_fabric_address_id?: string | null
}

const joinRoute = (site: FastifyInstance, { chat, resources, authenticate }: ConversationDeps): void => {
  const describe = forSubscribers(
    'chat',
    'join_conversation',
    'Join the conversation of an address, or begin one',
  )
  site.post<{ Body: JoinBody }>(
    `${base}/join`,
    {
      onRequest: requireBearer(authenticate),
      schema: { ...describe, body: joinBody, response: { 200: joinedSchema } },
    },
    async (request) => {
      const who = participantIn(request)
      checkFrom(who, request.body)
      const { conversation_id: one, fabric_address_ids: several = [] } = request.body
      const joined = await (one === undefined
        ? chat.join(who, several, 'fabric_address_ids')
        : chat.join(who, [one], 'conversation_id'))
      const { id, ...body } = conversationBody(joined, who, resources)
      return { ...body, table: { conversation_id: id } }
    },
  )
}

import type { Chat } from '../../../chat/chat.ts'
import { conversationBody } from '../../../chat/chat-bodies.ts'
import { maxAddresses } from '../../../chat/conversation-opening.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import { type Authenticate, requireBearer } from '../../requests/bearer-auth.ts'
import { listBody, pageOf, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { forSubscribers, idParams, listSchema } from '../shared/route-schemas.ts'
import { checkFrom, conversationSchema, joinedSchema, participantIn } from './conversation-fields.ts'
import { messageRoutes } from './message-routes.ts'
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

/** Conversations of the holder of a token, and their messages. */
export const conversationRoutes = (site: TypedSite, deps: ConversationDeps): void => {
  listRoutes(site, deps)
  joinRoute(site, deps)
  messageRoutes(site, deps)
}

const listRoutes = (site: TypedSite, { chat, resources, authenticate }: ConversationDeps): void => {
  const onRequest = requireBearer(authenticate)
  const lists = forSubscribers('chat', 'list_conversations', 'List the conversations, the latest first')
  site.get(
    base,
    { onRequest, schema: { ...lists, querystring, response: { 200: listSchema(conversationSchema) } } },
    async (request) => {
      const participant = participantIn(request)
      const found = await chat.conversations(participant, pageOf(request.query))
      return listBody(found, base, request.query, (row) => conversationBody(row, participant, resources))
    },
  )
  const reads = forSubscribers('chat', 'get_conversation', 'Get a conversation, by its id or its address')
  site.get(
    `${base}/:id`,
    { onRequest, schema: { ...reads, params: idParams, response: { 200: conversationSchema } } },
    async (request) => {
      const participant = participantIn(request)
      return conversationBody(await chat.conversation(participant, request.params.id), participant, resources)
    },
  )
}

const joinBody = {
  type: 'object',
  additionalProperties: false,
  properties: {
    conversation_id: { ...addressId, description: 'Id of one address, instead of `fabric_address_ids`.' },
    fabric_address_ids: {
      type: 'array',
      minItems: 1,
      maxItems: maxAddresses,
      items: addressId,
      description: 'Ids of the addresses: one address of any kind, or several addresses of subscribers.',
    },
    from_fabric_address_id: { type: ['string', 'null'], description: 'Address of the sender.' },
  },
  oneOf: [{ required: ['conversation_id'] }, { required: ['fabric_address_ids'] }],
} as const

const joinRoute = (site: TypedSite, { chat, resources, authenticate }: ConversationDeps): void => {
  const describe = forSubscribers(
    'chat',
    'join_conversation',
    'Join the conversation of an address, or start one',
  )
  site.post(
    `${base}/join`,
    {
      onRequest: requireBearer(authenticate),
      schema: { ...describe, body: joinBody, response: { 200: joinedSchema } },
    },
    async (request) => {
      const participant = participantIn(request)
      checkFrom(participant, request.body)
      const { conversation_id: one, fabric_address_ids: several = [] } = request.body
      const joined = await (one === undefined
        ? chat.join(participant, several, 'fabric_address_ids')
        : chat.join(participant, [one], 'conversation_id'))
      const { id, ...body } = conversationBody(joined, participant, resources)
      return { ...body, table: { conversation_id: id } }
    },
  )
}

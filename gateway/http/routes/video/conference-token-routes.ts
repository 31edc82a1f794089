import { senderOf } from '@trunkline/sip-agent/networks'
import {
  type ConferenceToken,
  type ConferenceTokens,
  exchangedSeconds,
} from '../../../auth/conference-tokens.ts'
import type { RoomGrant } from '../../../auth/room-token-claims.ts'
import type { RoomTokens } from '../../../auth/room-tokens.ts'
import type { ProjectRooms } from '../../../calls/room/project-rooms.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Log } from '../../../core/log.ts'
import { roomNameAt } from '../../../directory/model/address-path.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import { type ConferenceTokenRow, conferenceTokenNames } from '../../../directory/tables/conference-tokens.ts'
import { conferencePermissions, grantedPermissions } from '../../../rooms/permissions.ts'
import { pageOf, pageQuery, sliceOf } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { text } from '../shared/field-schemas.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { findRoom, type Room } from './room-collection.ts'

/** Collaborators of {@link conferenceTokenRoutes}. */
export interface ConferenceTokenDeps {
  readonly resources: Resources
  readonly conferenceTokens: Pick<ConferenceTokens, 'ofRoom' | 'find' | 'reset' | 'exchange'>
  readonly roomTokens: Pick<RoomTokens, 'issue'>
  /** Rooms, which need ffmpeg for some permissions. */
  readonly rooms: Pick<ProjectRooms, 'hasFfmpeg'>
  readonly requireProject: RequireProject
  readonly log: Pick<Log, 'info'>
}

const properties = {
  id: { type: 'string' },
  name: {
    type: 'string',
    enum: conferenceTokenNames,
    description: 'Holders of the token: moderators, or guests.',
  },
  token: { type: 'string', description: 'Secret that a page exchanges for a room token.' },
  scopes: {
    type: 'array',
    items: { type: 'string' },
    description: 'Permissions in the room. Moderators have all, and guests those on their own member.',
  },
} as const

const schema = { type: 'object', required: Object.keys(properties), properties }

const path = '/api/video/conference_tokens'

/**
 * Tokens of conferences: lists, one by its id, and its reset. A page exchanges a token for a room token
 * without other credentials.
 */
export const conferenceTokenRoutes = (site: TypedSite, deps: ConferenceTokenDeps): void => {
  const { resources, conferenceTokens, requireProject } = deps
  const show = (token: ConferenceToken) => tokenBody(token, deps)
  const options = { onRequest: requireProject('subscribers'), schema, show }
  const lists = new CollectionRoutes<ConferenceToken, typeof idParams>(site, {
    path: '/api/video/conferences/:id/conference_tokens',
    params: idParams,
    ...options,
  })
  lists.list(
    describe('list_video_conference_tokens', 'List the tokens of a conference'),
    pageQuery,
    async ({ projectId, params, query }) => {
      const { id } = findRoom(resources, projectId, params.id)
      return sliceOf(await conferenceTokens.ofRoom(projectId, id), pageOf(query))
    },
  )
  const items = new CollectionRoutes<ConferenceToken>(site, { path, ...options })
  items.read(describe('get_conference_token', 'Get a token of a conference'), ({ projectId, params }) =>
    conferenceTokens.find(projectId, params.id),
  )
  resetRoute(site, deps)
  exchangeRoute(site, deps)
}

const resetRoute = (site: TypedSite, deps: ConferenceTokenDeps): void => {
  const routeSchema = {
    ...describe('reset_conference_token', 'Replace a token of a conference; the former one is invalid'),
    params: idParams,
    response: { 200: schema },
  }
  const onRequest = deps.requireProject('subscribers')
  site.post(`${path}/:id/reset`, { onRequest, schema: routeSchema }, async ({ projectId, params }, reply) => {
    const token = await deps.conferenceTokens.reset(projectId, params.id)
    return reply.header('cache-control', 'no-store').send(tokenBody(token, deps))
  })
}

const exchangeBody = {
  type: 'object',
  required: ['token'],
  additionalProperties: false,
  properties: {
    token: { ...text(256), description: 'Token of a conference.' },
    user_name: { ...text(100), description: 'Name that the other members see; default Guest.' },
  },
} as const

const exchangeRoute = (site: TypedSite, deps: ConferenceTokenDeps): void => {
  const routeSchema = {
    operationId: 'exchange_conference_token',
    tags: ['tokens'],
    summary: 'Exchange a token of a conference for a room token',
    security: [],
    body: exchangeBody,
    response: {
      201: {
        type: 'object',
        required: ['token'],
        properties: { token: { type: 'string', description: 'Room token, valid for a day.' } },
      },
    },
  }
  const { resources, conferenceTokens, roomTokens, rooms, log } = deps
  site.post(`${path}/exchange`, { schema: routeSchema }, async ({ body, ip }, reply) => {
    const network = senderOf(ip)
    const exchange = await conferenceTokens.exchange(body.token, network)
    if ('waitMs' in exchange) {
      reply.header('retry-after', Math.ceil(exchange.waitMs / 1000))
      throw new TrunklineError('too_many_requests')
    }
    const { found } = exchange
    const room = found && resources.find(found.project_id, 'room', found.room_id)
    if (!found || room?.type !== 'room')
      throw new TrunklineError('bad_conference_token', undefined, { attribute: 'token' })
    const grant = grantOf(room, found, { userName: body.user_name, hasFfmpeg: rooms.hasFfmpeg })
    const { project_id: project, id: conferenceToken, version } = found
    const { token, id: roomToken } = await roomTokens.issue(project, grant, exchangedSeconds, version)
    log.info(
      { event: 'room.token-exchanged', project, room: room.id, conferenceToken, roomToken, network },
      'token of a conference exchanged',
    )
    return reply.code(201).header('cache-control', 'no-store').send({ token })
  })
}

/** Returns the rights in the room of a conference. The room decides about times and muted video. */
const grantOf = (
  { id: roomId, address }: Room,
  { name }: ConferenceTokenRow,
  { userName = '', hasFfmpeg }: { readonly userName: string | undefined; readonly hasFfmpeg: boolean },
): RoomGrant => ({
  room: roomNameAt(address),
  roomId,
  userName,
  permissions: grantedPermissions(conferencePermissions[name], hasFfmpeg),
  isAudioMuted: false,
  isVideoMuted: false,
  mayCreateRoom: false,
  endsSessionOnLeave: false,
  role: 'member',
  media: 'all',
  meta: {},
})

const tokenBody = ({ id, name, token }: ConferenceToken, { rooms }: Pick<ConferenceTokenDeps, 'rooms'>) => ({
  id,
  name,
  token,
  scopes: grantedPermissions(conferencePermissions[name], rooms.hasFfmpeg),
})

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

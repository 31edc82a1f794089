import { pathOf } from '../../../core/web/request-path.ts'
import type { RoomSessionRow } from '../../../directory/tables/room-sessions.ts'
import { layoutNames } from '../../../rooms/layouts/layout-names.ts'
import { listBody, pageOf, pageQuery, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import { roomEventBody, roomEventSchema, sessionBody, sessionSchema } from './room-session-body.ts'
import { type RoomSessionDeps, sessionInProgress, sessionsPath } from './room-session-lookup.ts'

const name = { type: 'string', minLength: 1, maxLength: 100 } as const

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...pagingQuery,
    room_id: { type: 'string', maxLength: 64, description: 'Sessions of the room with this id.' },
    room_name: { ...name, description: 'Sessions of rooms with this name.' },
    room_name_matches: {
      ...name,
      description: 'Sessions of rooms whose name contains this text, ignoring case.',
    },
    status: { type: 'string', enum: ['in-progress', 'completed'] },
  },
} as const

const changes = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    status: { type: 'string', enum: ['completed'], description: '`completed` ends the session.' },
    locked: { type: 'boolean', description: 'Whether further callers are rejected.' },
    layout: { type: 'string', enum: layoutNames, description: 'Layout in force.' },
  },
} as const

/** Sessions of video rooms: list, read, events, and the control of sessions in progress. */
export const roomSessionRoutes = (site: TypedSite, deps: RoomSessionDeps): void => {
  const { history, requireProject } = deps
  const onRequest = requireProject('records')
  const options = { path: sessionsPath, schema: sessionSchema, show: sessionBody }
  const reading = new CollectionRoutes<RoomSessionRow>(site, { ...options, onRequest })
  reading.list(
    describe('list_room_sessions', 'List sessions of video rooms, the newest first'),
    querystring,
    ({ projectId, query }) => {
      const { room_id: roomId, room_name, room_name_matches: partOfName, status } = query
      const isInProgress = status === undefined ? undefined : status === 'in-progress'
      const search = withoutUndefined({ roomId, name: room_name, partOfName, isInProgress })
      return history.list(projectId, search, pageOf(query))
    },
  )
  reading.read(describe('get_room_session', 'Get a session of a video room'), ({ projectId, params }) =>
    history.find(projectId, params.id),
  )
  const control = new CollectionRoutes<RoomSessionRow>(site, {
    ...options,
    onRequest: requireProject('calling'),
  })
  control.change(
    'PATCH',
    describe('update_room_session', 'End, lock or arrange a session in progress'),
    changes,
    async ({ projectId, params, body }) => {
      const session = await sessionInProgress(deps, projectId, params.id)
      if (body.layout !== undefined) session.setLayout(body.layout)
      if (body.locked !== undefined) session.setLocked(body.locked)
      if (body.status !== undefined) session.end()
      return history.find(projectId, params.id)
    },
  )
  eventRoute(site, deps)
}

const eventRoute = (site: TypedSite, { history, requireProject }: RoomSessionDeps): void => {
  const schema = {
    ...describe('list_room_session_events', 'List the events of a session of a video room'),
    params: idParams,
    querystring: pageQuery,
    response: { 200: listSchema(roomEventSchema) },
  } as const
  const onRequest = requireProject('records')
  site.get(`${sessionsPath}/:id/events`, { onRequest, schema }, async ({ projectId, params, query, url }) => {
    const session = await history.find(projectId, params.id)
    const events = await history.events(projectId, params.id, pageOf(query))
    return listBody(events, pathOf(url), query, (event) => roomEventBody(event, session))
  })
}

const describe = (id: string, summary: string) => forProjects('video rooms', id, summary)

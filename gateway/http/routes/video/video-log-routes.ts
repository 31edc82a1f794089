import { secondsOf, statusOf } from '../../../cdr/room-facts.ts'
import type { RoomSessionRow } from '../../../directory/tables/room-sessions.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { createdFilters, createdRangeOf } from '../cdr/cdr-filters.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { timeText } from '../shared/field-schemas.ts'
import { forProjects } from '../shared/route-schemas.ts'
import { type RoomSessionDeps, sessionsPath } from './room-session-lookup.ts'

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...pagingQuery,
    ...createdFilters,
    include_deleted: {
      type: 'boolean',
      description: 'Accepted without effect: a deleted session is not kept.',
    },
  },
} as const

const text = { type: 'string' } as const

const logProperties = {
  id: { ...text, description: 'Id of the session.' },
  project_id: text,
  type: { ...text, description: 'Always `video_room_session`.' },
  source: { ...text, description: 'Always `realtime_api`.' },
  url: { ...text, description: 'Path of the session in this API.' },
  room_name: text,
  status: { type: 'string', enum: ['in-progress', 'completed'] },
  locked: { type: 'boolean' },
  duration: { type: ['integer', 'null'], description: 'Duration in seconds; null before the end.' },
  started_at: text,
  ended_at: { type: ['string', 'null'] },
  charge: { type: 'number' },
  charge_details: {
    type: 'array',
    items: { type: 'object', properties: { description: text, charge: { type: 'number' } } },
  },
  created_at: text,
}

const logSchema = { type: 'object', required: Object.keys(logProperties), properties: logProperties }

/** `GET /api/video/logs` and `…/{id}`: sessions of video rooms, in progress and ended. */
export const videoLogRoutes = (
  site: TypedSite,
  { history, requireProject }: Pick<RoomSessionDeps, 'history' | 'requireProject'>,
): void => {
  const options = { path: '/api/video/logs', schema: logSchema, show: logBody }
  const onRequest = requireProject('records')
  const routes = new CollectionRoutes<RoomSessionRow>(site, { ...options, onRequest })
  routes.list(
    forProjects('video rooms', 'list_video_logs', 'List logs of video rooms, the newest first'),
    querystring,
    ({ projectId, query }) => history.list(projectId, createdRangeOf(query), pageOf(query)),
  )
  routes.read(
    forProjects('video rooms', 'get_video_log', 'Get the log of a session of a video room'),
    ({ projectId, params }) => history.find(projectId, params.id),
  )
}

const logBody = (row: RoomSessionRow) => ({
  id: row.id,
  project_id: row.project_id,
  type: 'video_room_session',
  source: 'realtime_api',
  url: `${sessionsPath}/${row.id}`,
  room_name: row.name,
  status: statusOf(row),
  locked: row.locked === 1,
  duration: secondsOf(row.started_at, row.ended_at),
  started_at: timeText(row.started_at),
  ended_at: row.ended_at === null ? null : timeText(row.ended_at),
  // Sessions have no price.
  charge: 0,
  charge_details: [],
  created_at: timeText(row.started_at),
})

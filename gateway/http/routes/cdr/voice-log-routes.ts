import type { CallHistory, CallRow, CallStatus } from '../../../calls/log/call-rows.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { pageOf, pagingQuery } from '../../requests/paging.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { typeOf, urlOf } from '../calling/call-leg-body.ts'
import { CollectionRoutes } from '../shared/collection-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { createdFilters, createdRangeOf, restorePlus } from './cdr-filters.ts'

/** Collaborators of the routes of voice logs. */
export interface VoiceLogDeps {
  readonly history: Pick<CallHistory, 'find' | 'list'>
  readonly requireProject: RequireProject
}

const statuses = [
  'queued',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
] as const satisfies readonly CallStatus[]

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...pagingQuery,
    ...createdFilters,
    from: { type: 'string', maxLength: 512 },
    to: { type: 'string', maxLength: 512 },
    status: { type: 'string', enum: statuses },
    include_deleted: { type: 'boolean', description: 'Accepted without effect: a deleted call is not kept.' },
  },
} as const

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const
const numberOrNull = { type: ['integer', 'null'] } as const

const logProperties = {
  id: text,
  parent_id: textOrNull,
  project_id: text,
  from: text,
  to: text,
  direction: text,
  type: text,
  source: text,
  url: textOrNull,
  status: text,
  code: textOrNull,
  sip_status: numberOrNull,
  duration: numberOrNull,
  duration_ms: numberOrNull,
  billing_ms: numberOrNull,
  charge: { type: 'number' },
  charge_details: {
    type: 'array',
    items: { type: 'object', properties: { description: text, charge: { type: 'number' } } },
  },
  created_at: text,
  answered_at: textOrNull,
  ended_at: textOrNull,
}
const logSchema = { type: 'object', required: Object.keys(logProperties), properties: logProperties }

const eventProperties = {
  event_at: text,
  level: text,
  name: text,
  details: { type: 'object', additionalProperties: true },
  project_id: text,
  log_id: text,
}
const eventSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'array',
      items: { type: 'object', required: Object.keys(eventProperties), properties: eventProperties },
    },
  },
}

/**
 * `GET /api/voice/logs`, `…/{id}` and `…/{id}/events`: calls in progress and ended calls, with their events.
 */
export const voiceLogRoutes = (site: TypedSite, { history, requireProject }: VoiceLogDeps): void => {
  const path = '/api/voice/logs'
  const onRequest = requireProject('records')
  const find = async (projectId: string, id: string): Promise<CallRow> => {
    const call = await history.find(projectId, id)
    if (!call) throw new TrunklineError('unknown_call')
    return call
  }
  const routes = new CollectionRoutes<CallRow>(site, { path, onRequest, schema: logSchema, show: logBody })
  routes.list(
    describe('list_voice_logs', 'List calls, the newest first'),
    querystring,
    ({ projectId, query }) => history.list(projectId, callQuery(query)),
  )
  routes.read(describe('get_voice_log', 'Get a call'), ({ projectId, params }) => find(projectId, params.id))
  const description = describe('list_voice_log_events', 'List the events of a call')
  site.get(
    `${path}/:id/events`,
    { onRequest, schema: { ...description, params: idParams, response: { 200: eventSchema } } },
    async ({ projectId, params }) => ({ data: eventsOf(await find(projectId, params.id)) }),
  )
}

const describe = (id: string, summary: string) => forProjects('records', id, summary)

const callQuery = (query: Validated<typeof querystring>) => {
  const { from, to, status } = query
  const party = { from: restorePlus(from), to: restorePlus(to) }
  return { ...pageOf(query), ...withoutUndefined({ ...party, status }), ...createdRangeOf(query) }
}

const time = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

const logBody = (call: CallRow) => {
  const { answeredAt, endedAt } = call
  const spoken = endedAt === undefined ? null : answeredAt === undefined ? 0 : endedAt - answeredAt
  return {
    id: call.id,
    parent_id: call.parentId ?? null,
    project_id: call.projectId,
    from: call.from,
    to: call.to,
    direction: call.direction,
    type: typeOf(call),
    source: 'realtime_api',
    url: urlOf(call),
    status: call.status,
    code: call.code ?? null,
    sip_status: call.sipStatus ?? null,
    duration: spoken === null ? null : Math.ceil(spoken / 1000),
    duration_ms: spoken,
    billing_ms: spoken,
    // Calls have no price.
    charge: 0,
    charge_details: [],
    created_at: time(call.createdAt),
    answered_at: time(answeredAt),
    ended_at: time(endedAt),
  }
}

const eventsOf = ({ id, projectId, ...call }: CallRow) => {
  const { createdAt, ringingAt, answeredAt, endedAt } = call
  const made = {
    direction: call.direction,
    type: call.type,
    from: call.from,
    to: call.to,
    document: call.document,
  }
  const ended = { status: call.status, code: call.code, sip_status: call.sipStatus }
  const events = [
    { at: createdAt, name: 'call.created', details: made },
    { at: ringingAt, name: 'call.ringing', details: {} },
    { at: answeredAt, name: 'call.answered', details: { answered_by: call.answeredBy } },
    { at: endedAt, name: 'call.ended', details: ended },
  ]
  return events.flatMap(({ at, name, details }) => {
    if (at === undefined) return []
    const level = name === 'call.ended' && call.status === 'failed' ? 'warn' : 'info'
    return { event_at: time(at), level, name, details, project_id: projectId, log_id: id }
  })
}

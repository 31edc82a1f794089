import { callResults, type SubscriberHistory } from '../../../cdr/subscriber-history.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { SubscriberCallRow } from '../../../directory/tables/subscriber-calls.ts'
import { type Authenticate, requireBearer, subscriberOf } from '../../requests/bearer-auth.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { forSubscribers, listSchema } from '../shared/route-schemas.ts'
import { cursorAt, positionOf } from '../shared/time-cursors.ts'

/** Collaborators of the route of a subscriber's calls. */
export interface SubscriberCallDeps {
  readonly history: Pick<SubscriberHistory, 'of'>
  readonly resources: Pick<Resources, 'findByAddress'>
  readonly authenticate: Authenticate
}

const querystring = {
  type: 'object',
  properties: {
    page_size: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    cursor: { type: 'string', maxLength: 200, description: 'Start of the page, from the link `next`.' },
    result: { type: 'string', enum: callResults, description: 'Only calls with this result.' },
    ended_after: {
      type: 'string',
      maxLength: 40,
      description: 'Only calls that ended after this time, in ISO 8601.',
    },
  },
} as const

const properties = {
  id: { type: 'string' },
  call_id: { type: 'string', description: 'Id of the call in the browsers of the subscriber.' },
  direction: { type: 'string', enum: ['inbound', 'outbound'] },
  name: { type: 'string', description: 'Name of the other party.' },
  number: { type: 'string', description: 'Number, address or SIP URI of the other party, to be dialed.' },
  address_id: {
    type: ['string', 'null'],
    description: 'Address of the other party, if it is one of the project.',
  },
  result: { type: 'string', enum: callResults },
  code: { type: 'string', description: 'Error code of the end.' },
  started_at: { type: 'string' },
  answered_at: { type: ['string', 'null'] },
  ended_at: { type: 'string' },
  duration_ms: { type: 'integer', description: 'Time from the answer to the end; 0 without an answer.' },
} as const

const callSchema = { type: 'object', required: Object.keys(properties), properties }

/** `GET /api/fabric/subscriber/calls`: ended calls of the subscriber, the newest first. */
export const subscriberCallRoute = (site: TypedSite, deps: SubscriberCallDeps): void => {
  const { history, resources, authenticate } = deps
  const schema = {
    ...forSubscribers('calls', 'list_subscriber_calls', 'List the calls of the subscriber, the newest first'),
    querystring,
    response: { 200: listSchema(callSchema) },
  }
  const path = '/api/fabric/subscriber/calls'
  site.get(path, { onRequest: requireBearer(authenticate), schema }, async (request, reply) => {
    const { id } = subscriberOf(request)
    const { page_size: size, cursor, result, ended_after: after } = request.query
    const endedAfter = after === undefined ? undefined : timeOf(after)
    const filters = { ...(result && { result }), ...(after !== undefined && { ended_after: after }) }
    const list = `${id}\n${pathOf(request.url)}\n${JSON.stringify(filters)}`
    const place = cursor === undefined ? undefined : positionOf(list, cursor)
    const found = await history.of(
      id,
      { ...(result && { result }), ...(endedAfter !== undefined && { endedAfter }) },
      size + 1,
      place && { endedAt: place.startedAt, id: place.id },
    )
    const calls = found.slice(0, size)
    const last = calls.at(-1)
    const link = (to?: string) => {
      const query = { page_size: String(size), ...filters, ...(to !== undefined && { cursor: to }) }
      return `${path}?${new URLSearchParams(query)}`
    }
    const next = last && cursorAt(list, { startedAt: last.ended_at, id: last.id })
    return reply.header('cache-control', 'no-store').send({
      data: calls.map((call) => callBody(call, resources)),
      links: { self: link(cursor), first: link(), ...(found.length > size && { next: link(next) }) },
    })
  })
}

const timeOf = (text: string): number => {
  const time = Date.parse(text)
  if (Number.isFinite(time)) return time
  const expected = 'ended_after: expected a time in ISO 8601, such as 2026-01-31T12:00:00Z.'
  throw new TrunklineError('invalid_field', expected, { attribute: 'ended_after' })
}

const callBody = (call: SubscriberCallRow, resources: SubscriberCallDeps['resources']) => {
  const [, context, name] = /^\/([^/]+)\/([^/]+)$/.exec(call.number) ?? []
  const known = context && name ? resources.findByAddress(call.project_id, context, name) : undefined
  const { answered_at: answeredAt, ended_at: endedAt } = call
  return {
    id: call.id,
    call_id: call.call_id,
    direction: call.direction,
    name: known?.displayName || call.name,
    number: call.number,
    address_id: known?.address.id ?? null,
    result: call.result,
    code: call.code,
    started_at: new Date(call.started_at).toISOString(),
    answered_at: answeredAt === null ? null : new Date(answeredAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    duration_ms: answeredAt === null ? 0 : endedAt - answeredAt,
  }
}

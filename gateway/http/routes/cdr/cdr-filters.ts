import { partyFilter } from '../../../cdr/parties.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { CdrSearch } from '../../../directory/tables/cdrs.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'

const text = (maxLength: number, description: string) =>
  ({ type: 'string', minLength: 1, maxLength, description }) as const

const party = (who: string) =>
  text(512, `${who}: a number, a name or a whole URI. A leading space is read as a plus.`)

/** Query parameters for a range of time. */
export const timeFilters = {
  started_from: text(40, 'Started at this time or later: a day, or a time with its zone (ISO 8601).'),
  started_until: text(40, 'Started before this time.'),
} as const

/** Query parameters that filter records. */
export const recordFilters = {
  ...timeFilters,
  from: party('Caller'),
  to: party('Callee'),
  direction: { type: 'string', enum: ['inbound', 'outbound'] },
  code: text(64, 'Reason for the end (docs/errors.md).'),
  sip_status: {
    type: 'integer',
    minimum: 100,
    maximum: 699,
    description: 'Final SIP status of the remote party.',
  },
  carrier: text(256, 'Name of the carrier.'),
  domain: text(256, 'SIP domain that the call came to.'),
  call_id: text(64, 'Id of the call. The page then has all its records, in the order of its legs.'),
  min_duration_ms: {
    type: 'integer',
    minimum: 0,
    maximum: 10 ** 12,
    description: 'Minimum duration, in ms.',
  },
} as const

/** Validated {@link timeFilters}. */
export type TimeFilters = ValidatedFields<typeof timeFilters>

/** Validated {@link recordFilters}. */
export type RecordFilters = ValidatedFields<typeof recordFilters>

/** Returns the search of a query. Throws `invalid_field` for an invalid time. */
export const searchOf = (kind: CdrSearch['kind'], query: RecordFilters): CdrSearch => {
  const caller = partyFilter(restorePlus(query.from))
  const callee = partyFilter(restorePlus(query.to))
  const {
    direction,
    code,
    carrier,
    sip_status: sipStatus,
    call_id: callId,
    min_duration_ms: minDurationMs,
  } = query
  return withoutUndefined({
    kind,
    direction,
    code,
    carrier,
    sipStatus,
    callId,
    minDurationMs,
    fromUser: caller.user,
    fromUri: caller.uri,
    toUser: callee.user,
    toUri: callee.uri,
    domain: query.domain?.toLowerCase(),
    ...timeRangeOf(query),
  })
}

/** Returns a range of time. Throws `invalid_field`. */
export const timeRangeOf = ({ started_from, started_until }: TimeFilters) =>
  withoutUndefined({
    startedFrom: timeOf(started_from, 'started_from'),
    startedUntil: timeOf(started_until, 'started_until'),
  })

const when = (description: string) => ({ type: 'string', maxLength: 40, description }) as const

/** Query parameters for a range of the time of creation. */
export const createdFilters = {
  created_after: when('Created at this time or later: a day, or a time with its zone (ISO 8601).'),
  created_before: when('Created before this time.'),
  created_on: when('Created on this day, in UTC.'),
} as const

const dayMs = 86_400_000

/** Returns a range of the time of creation. Throws `invalid_field`. */
export const createdRangeOf = ({
  created_after: after,
  created_before: before,
  created_on: day,
}: ValidatedFields<typeof createdFilters>) => {
  const on = timeOf(day, 'created_on')
  const until = timeOf(before, 'created_before') ?? (on === undefined ? undefined : on + dayMs)
  return withoutUndefined({ startedFrom: timeOf(after, 'created_after') ?? on, startedUntil: until })
}

/** Restores the plus of a number, which the query of a URL decodes to a space. */
export const restorePlus = (text: string | undefined): string | undefined => text?.replace(/^ (?=\d)/, '+')

/** Returns a day, or a time with its zone, in ms since 1970. Throws `invalid_field`. */
export const timeOf = (text: string | undefined, attribute: string): number | undefined => {
  if (text === undefined) return undefined
  // The plus of a time zone may also have become a space.
  const given = text.replace(/ (?=\d\d:?\d\d$)/, '+')
  const form = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/i
  const ms = form.test(given) ? Date.parse(given) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new TrunklineError('invalid_field', `${attribute}: expected a day, or a time with its zone.`, {
    attribute,
  })
}

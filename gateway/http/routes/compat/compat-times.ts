import { timestamp } from '../../../../handlers/common/forms.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'

const dayMs = 86_400_000

/**
 * Returns a time in the format of the family (RFC 2822, UTC); null for undefined. `ms` since the Unix epoch.
 */
export const formatTime = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : timestamp(ms)

/** Returns milliseconds in whole seconds. */
export const wholeSeconds = (ms: number): number => Math.round(ms / 1000)

const day = /^\d{4}-\d\d-\d\d$/
const time = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:?\\d\\d)?)?$',
} as const

/** Query parameters that limit a list to a range of time: `Name`, `Name<` and `Name>`. */
export const timeQuery = <N extends string>(name: N) =>
  ({ [name]: time, [`${name}<`]: time, [`${name}>`]: time }) as Record<N | `${N}<` | `${N}>`, typeof time>

type TimeQuery<N extends string> = { readonly [K in N | `${N}<` | `${N}>`]?: string }

/** Range of time in ms since the Unix epoch; `from` is inclusive, `until` exclusive. */
export interface TimeRange {
  readonly from?: number
  readonly until?: number
}

/**
 * Returns the time range of a filter. A date covers the whole day in UTC, and a time covers its whole second;
 * `<` and `>` include the given value. Throws `invalid_field`.
 */
export const timeRangeOf = <N extends string>(query: TimeQuery<N>, name: N): TimeRange => {
  const given = query as Readonly<Record<string, string | undefined>>
  const at = unitOf(given[name], name)
  const after = unitOf(given[`${name}>`], `${name}>`)
  const before = unitOf(given[`${name}<`], `${name}<`)
  const from = latest([at?.from, after?.from])
  const until = latest([at?.until, before?.until].map((end) => end && -end))
  return { ...(from !== undefined && { from }), ...(until !== undefined && { until: -until }) }
}

/** Returns the latest of the given times, if any. */
const latest = (times: readonly (number | undefined)[]): number | undefined => {
  const given = times.filter((each) => each !== undefined)
  return given.length > 0 ? Math.max(...given) : undefined
}

const unitOf = (text: string | undefined, attribute: string): Required<TimeRange> | undefined => {
  if (text === undefined) return undefined
  const isDay = day.test(text)
  const zoned = isDay || /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`
  const from = Date.parse(zoned.replace(' ', 'T'))
  if (Number.isNaN(from))
    throw new TrunklineError('invalid_field', `${attribute}: expected a day or a time.`, { attribute })
  return { from, until: from + (isDay ? dayMs : 1000) }
}

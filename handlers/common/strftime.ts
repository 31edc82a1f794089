/** Local date and time in a time zone, with English names. */
interface WallClock {
  /** Local time, as a date whose UTC fields hold it. */
  readonly local: Date
  /** Offset in minutes east of UTC. */
  readonly offset: number
  readonly dayName: string
  readonly monthName: string
  /** Abbreviation of the time zone such as CST, or GMT+1 without one. */
  readonly zoneName: string
}

const minuteMs = 60_000
const dayMs = 86_400_000

const monthNames =
  'January February March April May June July August September October November December'.split(' ')

/** Formatters of time zones: to make one takes much longer than to use it. */
const formatters = new Map<string, Intl.DateTimeFormat>()

/** Maximum number of formatters that are kept. */
const maxFormatters = 64

/** Throws a RangeError for an unknown time zone. */
const formatterOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formatters.get(timeZone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    weekday: 'long',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    timeZoneName: 'short',
  })
  const [oldest] = formatters.keys()
  if (formatters.size >= maxFormatters && oldest !== undefined) formatters.delete(oldest)
  formatters.set(timeZone, made)
  return made
}

/** Returns the local time. Throws a RangeError for an unknown time zone. */
const wallClockOf = (at: number, timeZone: string): WallClock => {
  const formatted = formatterOf(timeZone).formatToParts(at)
  const parts = new Map(formatted.map(({ type, value }) => [type, value]))
  const text = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  const number = (type: Intl.DateTimeFormatPartTypes): number => Number(text(type))
  const monthName = text('month')
  const date = Date.UTC(number('year'), monthNames.indexOf(monthName), number('day'))
  const local = new Date(date + (number('hour') * 60 + number('minute')) * minuteMs + number('second') * 1000)
  return {
    local,
    offset: Math.round((local.getTime() - at) / minuteMs),
    dayName: text('weekday'),
    monthName,
    zoneName: text('timeZoneName'),
  }
}

const two = (value: number): string => String(value).padStart(2, '0')
const blank = (value: number): string => String(value).padStart(2, ' ')
const hour12 = (local: Date): number => local.getUTCHours() % 12 || 12
const dayOfYear = (local: Date): number =>
  Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0)) / dayMs) + 1
const offsetOf = ({ offset }: WallClock): string => {
  const minutes = Math.abs(offset)
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** Conversions of one part of the time; {@link shorthands} combine several. */
const conversions: Readonly<Record<string, (clock: WallClock, at: number) => string>> = {
  a: ({ dayName }) => dayName.slice(0, 3),
  A: ({ dayName }) => dayName,
  b: ({ monthName }) => monthName.slice(0, 3),
  h: ({ monthName }) => monthName.slice(0, 3),
  B: ({ monthName }) => monthName,
  C: ({ local }) => two(Math.floor(local.getUTCFullYear() / 100)),
  d: ({ local }) => two(local.getUTCDate()),
  e: ({ local }) => blank(local.getUTCDate()),
  H: ({ local }) => two(local.getUTCHours()),
  I: ({ local }) => two(hour12(local)),
  j: ({ local }) => String(dayOfYear(local)).padStart(3, '0'),
  k: ({ local }) => blank(local.getUTCHours()),
  l: ({ local }) => blank(hour12(local)),
  m: ({ local }) => two(local.getUTCMonth() + 1),
  M: ({ local }) => two(local.getUTCMinutes()),
  n: () => '\n',
  p: ({ local }) => (local.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: ({ local }) => (local.getUTCHours() < 12 ? 'am' : 'pm'),
  s: (_clock, at) => String(Math.floor(at / 1000)),
  S: ({ local }) => two(local.getUTCSeconds()),
  t: () => '\t',
  u: ({ local }) => String(local.getUTCDay() || 7),
  w: ({ local }) => String(local.getUTCDay()),
  y: ({ local }) => two(local.getUTCFullYear() % 100),
  Y: ({ local }) => String(local.getUTCFullYear()),
  z: offsetOf,
  Z: ({ zoneName }) => zoneName,
  '%': () => '%',
}

const shorthands: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  r: '%I:%M:%S %p',
  R: '%H:%M',
  T: '%H:%M:%S',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
}

/**
 * Formats a time, in milliseconds since the epoch, as C's `strftime` does in English, for instance by
 * `%Y-%m-%d %H:%M`. Unknown conversions, and those of week numbers, stay unchanged. Throws a RangeError for a
 * time zone that is not in the IANA database.
 */
export const strftime = (at: number, timeZone: string, format: string): string => {
  const clock = wallClockOf(at, timeZone)
  const filled = format.replace(/%([cDFrRTxX%])/g, (all, name: string) => shorthands[name] ?? all)
  return filled.replace(/%(.)/g, (all, name: string) =>
    Object.hasOwn(conversions, name) ? (conversions[name]?.(clock, at) ?? all) : all,
  )
}

/** Local date and time in a time zone, with English names. */
interface Wall {
  readonly year: number
  /** Month, 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** Day of the week; 0 is Sunday. */
  readonly weekday: number
  /** Day of the year, 1 to 366. */
  readonly dayOfYear: number
  /** Offset in minutes east of UTC. */
  readonly offset: number
  readonly dayName: string
  readonly monthName: string
  /** Abbreviation of the time zone such as CET, or GMT+3 without one. */
  readonly zoneName: string
}

const minuteMs = 60_000
const dayMs = 86_400_000

const partsOf = (at: number, options: Intl.DateTimeFormatOptions): ((type: string) => string) => {
  const parts = new Intl.DateTimeFormat('en-US', options).formatToParts(at)
  const found = new Map<string, string>(parts.map(({ type, value }) => [type, value]))
  return (type) => found.get(type) ?? ''
}

/** Returns the local time. Throws a RangeError for an unknown time zone. */
const wallOf = (at: number, timeZone: string): Wall => {
  const numbers = partsOf(at, {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const names = partsOf(at, { timeZone, weekday: 'long', month: 'long', timeZoneName: 'short' })
  const of = (type: string) => Number(numbers(type))
  const year = of('year')
  const month = of('month')
  const day = of('day')
  const hour = of('hour')
  const minute = of('minute')
  const date = Date.UTC(year, month - 1, day)
  const shown = date + (hour * 60 + minute) * minuteMs + of('second') * 1000
  return {
    year,
    month,
    day,
    hour,
    minute,
    second: of('second'),
    weekday: new Date(date).getUTCDay(),
    dayOfYear: Math.round((date - Date.UTC(year, 0, 1)) / dayMs) + 1,
    offset: Math.round((shown - at) / minuteMs),
    dayName: names('weekday'),
    monthName: names('month'),
    zoneName: names('timeZoneName'),
  }
}

const two = (value: number): string => String(value).padStart(2, '0')
const blank = (value: number): string => String(value).padStart(2, ' ')
const hour12 = ({ hour }: Wall): number => hour % 12 || 12
const offsetOf = ({ offset }: Wall): string => {
  const minutes = Math.abs(offset)
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** Conversions of one part of the time; {@link shorthands} combine several. */
const conversions: Readonly<Record<string, (wall: Wall, at: number) => string>> = {
  a: ({ dayName }) => dayName.slice(0, 3),
  A: ({ dayName }) => dayName,
  b: ({ monthName }) => monthName.slice(0, 3),
  h: ({ monthName }) => monthName.slice(0, 3),
  B: ({ monthName }) => monthName,
  C: ({ year }) => two(Math.floor(year / 100)),
  d: ({ day }) => two(day),
  e: ({ day }) => blank(day),
  H: ({ hour }) => two(hour),
  I: (wall) => two(hour12(wall)),
  j: ({ dayOfYear }) => String(dayOfYear).padStart(3, '0'),
  k: ({ hour }) => blank(hour),
  l: (wall) => blank(hour12(wall)),
  m: ({ month }) => two(month),
  M: ({ minute }) => two(minute),
  n: () => '\n',
  p: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  P: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
  s: (_wall, at) => String(Math.floor(at / 1000)),
  S: ({ second }) => two(second),
  t: () => '\t',
  u: ({ weekday }) => String(weekday || 7),
  w: ({ weekday }) => String(weekday),
  y: ({ year }) => two(year % 100),
  Y: ({ year }) => String(year),
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
  const wall = wallOf(at, timeZone)
  const filled = format.replace(/%([cDFrRTxX%])/g, (all, name: string) => shorthands[name] ?? all)
  return filled.replace(/%(.)/g, (all, name: string) =>
    Object.hasOwn(conversions, name) ? (conversions[name]?.(wall, at) ?? all) : all,
  )
}

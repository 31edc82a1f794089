import { strftime } from '../../common/strftime.ts'
import type { Method } from '../method.ts'
import { list, type Schema, text } from '../schema-builders.ts'
import { badValue, type Values } from '../values.ts'

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const minutesOfDay = 1440

/** Opening hours on some days. An end that is not later than the start is on the next day. */
interface Opening {
  readonly days: readonly string[]
  readonly from: string
  readonly to: string
}

const minutes = (text: string): number => {
  const [hours, rest] = text.split(':')
  return Number(hours) * 60 + Number(rest)
}

const time = (description: string): Schema => ({
  ...text(description, 'a time such as 09:00'),
  pattern: '^([01]?[0-9]|2[0-3]):[0-5][0-9]$|^24:00$',
})

const opening: Schema = {
  title: 'an opening (an object with days, from and to)',
  type: 'object',
  properties: {
    days: list('Days of the week.', `a list of ${dayNames.join(', ')}`, {
      ...text('A day.', `one of ${dayNames.join(', ')}`),
      enum: dayNames,
    }),
    from: time('Start.'),
    to: time('End; if it is not later than from, on the next day.'),
  },
  required: ['days', 'from', 'to'],
  additionalProperties: false,
}

/** Day of the calendar. */
interface Day {
  /** Date as YYYY-MM-DD. */
  readonly date: string
  /** Day of the week; 0 is Monday. */
  readonly day: number
}

/** Local day and time of day in a time zone. */
interface Local extends Day {
  readonly minute: number
}

/** Returns the local time. Throws a RangeError for an unknown time zone. */
const localTime = (at: number, timeZone: string): Local => {
  const [date = '', day = '', time = ''] = strftime(at, timeZone, '%F %u %H:%M').split(' ')
  return { date, day: Number(day) - 1, minute: minutes(time) }
}

/** Returns the previous day of the calendar; local days do not always have 24 hours. */
const dayBefore = ({ date, day }: Day): Day => ({
  date: new Date(Date.parse(date) - minutesOfDay * 60_000).toISOString().slice(0, 10),
  day: (day + 6) % 7,
})

/** Whether an opening that starts on `day` includes `minute`, counted from the start of that day. */
const covers = ({ days, from, to }: Opening, day: number, minute: number): boolean => {
  const start = minutes(from)
  const end = minutes(to)
  return (
    days.includes(dayNames[day] ?? '') && minute >= start && minute < (end > start ? end : end + minutesOfDay)
  )
}

const isOpen = (values: Values, now: number): boolean => {
  const timeZone = values.text('time_zone') ?? 'UTC'
  const closed = values.texts('closed_dates')
  const openings = values.list('open') as readonly Opening[]
  const today = localTime(now, timeZone)
  // An opening of yesterday may continue past midnight, unless yesterday was a closed date.
  const yesterday = dayBefore(today)
  const isOpenOn = (day: Day, minute: number) =>
    !closed.includes(day.date) && openings.some((each) => covers(each, day.day, minute))
  return isOpenOn(today, today.minute) || isOpenOn(yesterday, today.minute + minutesOfDay)
}

/** Methods for opening hours: the gateway's own addition to the language, for call flows. */
export const hours: Readonly<Record<string, Method>> = {
  check_hours: {
    description: 'Checks the opening hours and sets hours_result to open or closed.',
    properties: {
      time_zone: text('Time zone of the IANA database, such as Europe/Berlin; default UTC.'),
      open: list('Opening hours.', 'a list of 1 to 50 openings', opening, {
        minItems: 1,
        maxItems: 50,
      }),
      closed_dates: list('Dates without opening hours.', 'a list of dates', {
        ...text('YYYY-MM-DD.', 'a date such as 2026-12-25'),
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      }),
    },
    required: ['open'],
    failed: { hours_result: 'closed' },
    run: async (values, { context, variables }) => {
      try {
        variables.assign({ hours_result: isOpen(values, context.now()) ? 'open' : 'closed' })
      } catch (error) {
        if (error instanceof RangeError) throw badValue('time_zone', 'is not known')
        throw error
      }
      return undefined
    },
  },
}

import { locale } from './texts/language.ts'
import { laterTexts } from './texts/later.ts'

const dayMs = 86_400_000

const isSameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString()

/** Formats a time of day. */
export const clockTime = (at: number): string =>
  new Date(at).toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' })

/** Formats a day: today, yesterday, the weekday for the last week, else the date. */
export const day = (at: number, now: number): string => {
  if (isSameDay(at, now)) return laterTexts().today
  if (isSameDay(at, now - dayMs)) return laterTexts().yesterday
  const format: Intl.DateTimeFormatOptions =
    now - at < 6 * dayMs ? { weekday: 'long' } : { day: 'numeric', month: 'long', year: 'numeric' }
  return new Date(at).toLocaleDateString(locale(), format)
}

/** Formats a time briefly: the time for today, the weekday for the last week, else the date. */
export const moment = (at: number, now: number): string => {
  const date = new Date(at)
  const time = clockTime(at)
  if (isSameDay(at, now)) return time
  if (now - at < 6 * dayMs) return `${date.toLocaleDateString(locale(), { weekday: 'short' })} ${time}`
  return date.toLocaleDateString(locale(), { day: 'numeric', month: 'short', year: 'numeric' })
}

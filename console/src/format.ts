/** Formats as `m:ss`, and `h:mm:ss` from an hour on. */
export const duration = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}

/** Converts a typed destination for the server; undefined if it is no address, number or SIP URI. */
export const destination = (typed: string): string | undefined => {
  const text = typed.trim()
  if (/^\/[^/\s]+\/[^/\s]+$/.test(text)) return text
  if (/^sips?:[^\s@]+(@[^\s@]+)?$/i.test(text)) return text
  // Numbers may be written with separators.
  if (/^\+?[\d\s().*#-]{2,}$/.test(text) && /\d{2}/.test(text)) return text.replaceAll(/[\s().-]/g, '')
  return /^[^\s@/:]+@[^\s@/]+$/.test(text) ? `sip:${text}` : undefined
}

/** Returns one or two initials of a person or number. */
export const initials = (name: string): string => {
  // The name part of an address or SIP URI.
  const who = /^\//.test(name)
    ? name.replace(/^.*\//, '')
    : (name.replace(/^sips?:/i, '').split('@', 1)[0] ?? '')
  const words = who.split(/[^\p{L}\p{N}]+/u).filter((word) => /\p{L}/u.test(word))
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  )
  return letters.join('').toUpperCase() || '#'
}

const dayMs = 86_400_000

/** Formats a time briefly: the time for today, the weekday for the last week, else the date. */
export const moment = (at: number, now: number): string => {
  const date = new Date(at)
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  if (date.toDateString() === new Date(now).toDateString()) return time
  if (now - at < 6 * dayMs) return `${date.toLocaleDateString([], { weekday: 'short' })} ${time}`
  return date.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' })
}

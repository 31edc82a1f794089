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

/** Returns an address without its channel (`/public/bob`), and every other destination as it is. */
export const plainAddress = (to: string): string => (to.startsWith('/') ? (to.split('?', 1)[0] ?? '') : to)

/** Returns the destination as a person reads it: a number or SIP URI; empty for an address of the gateway. */
export const readableNumber = (to: string, name: string): string =>
  to.startsWith('/') || to === name ? '' : to.replace(/^sips?:/i, '')

/** Returns a name for a destination without one: the name part of an address. */
export const readableName = (name: string): string =>
  name.startsWith('/') ? plainAddress(name).replace(/^.*\//, '') : name

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

/** Returns the colour of a person's picture, 0 to 7: the same for the same name. */
export const colourOf = (name: string): number => {
  // FNV-1a: similar names get different colours.
  let hash = 0x811c9dc5
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return (hash ^ (hash >>> 15)) & 7
}

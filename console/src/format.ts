/** `m:ss`, and `h:mm:ss` from an hour on. */
export const duration = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}

/** What is typed as a call's destination, as the server wants it; undefined when it is neither an address nor a SIP URI. */
export const destination = (typed: string): string | undefined => {
  const text = typed.trim()
  if (/^\/[^/\s]+\/[^/\s]+$/.test(text)) return text
  if (/^sips?:[^\s@]+(@[^\s@]+)?$/i.test(text)) return text
  return /^[^\s@/:]+@[^\s@/]+$/.test(text) ? `sip:${text}` : undefined
}

/** One or two letters that stand for a person or number. */
export const initials = (name: string): string => {
  // Of an address or SIP URI the part that names somebody.
  const who = /^\//.test(name) ? name.replace(/^.*\//, '') : name.replace(/^sips?:/i, '').replace(/@.*$/, '')
  const words = who.split(/[^\p{L}\p{N}]+/u).filter((word) => /\p{L}/u.test(word))
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  )
  return letters.join('').toUpperCase() || '#'
}

/** Whether a JSON value is an object and not an array. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a received JSON message. Throws an Error unless the text is a JSON object. */
export const readJsonObject = (text: string): Record<string, unknown> => {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    read = undefined
  }
  if (!isJsonObject(read)) throw new Error('a JSON object expected')
  return read
}

/** Maximum depth of brackets in JSON from outside. Scripts with nested instructions stay far below. */
export const maxJsonDepth = 100

/** Text whose characters can be read by position. */
export interface Characters {
  readonly length: number
  charCodeAt(index: number): number
}

const quote = 0x22
const backslash = 0x5c
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])

/**
 * Returns the depth of nested brackets in a JSON text. Brackets within strings do not count. The text need
 * not be valid. The time is linear in the length of the text.
 */
export const jsonDepth = (json: Characters): number => {
  let depth = 0
  let max = 0
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (isInString) {
      if (code === backslash) at++
      else if (code === quote) isInString = false
    } else if (code === quote) isInString = true
    else if (opening.has(code)) max = Math.max(max, ++depth)
    else if (closing.has(code)) depth--
  }
  return max
}

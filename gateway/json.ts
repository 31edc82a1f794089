/** Whether a value of JSON is an object, and no list. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a message of another party that has to be a JSON object. Throws an Error that says so where it is none. */
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

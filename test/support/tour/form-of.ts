/**
 * Returns the form of a value of JSON: the type in place of each text, number and boolean. The form of a list
 * is that of its first item.
 */
export const formOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOf)
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, formOf(each)]))
}

/**
 * Returns arguments as a value, for protocols without text arguments; broken JSON is the value of
 * `broken`.
 */
export const parsedArgs = (args: string): unknown => {
  try {
    return JSON.parse(args) as unknown
  } catch {
    return { broken: args }
  }
}

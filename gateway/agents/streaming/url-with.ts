/**
 * Returns a URL with parameters, which those in its own query replace. Lists are repeated; undefined members
 * are left out.
 */
export const urlWith = (
  url: string,
  parameters: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
): string => {
  const result = new URL(url)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || result.searchParams.has(name)) continue
    for (const each of Array.isArray(value) ? value : [value]) result.searchParams.append(name, String(each))
  }
  return result.href
}

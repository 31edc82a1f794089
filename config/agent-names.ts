/**
 * Returns the configured name for a name in a document; undefined if no name matches. `names` has names, or
 * prefixes such as `elevenlabs.*`, of which the longest wins. Without an entry there, the configured name
 * itself matches. Case is ignored.
 */
export const configuredName = (
  wanted: string,
  names: Readonly<Record<string, string>>,
  configured: Iterable<string>,
): string | undefined => {
  const key = wanted.trim().toLowerCase()
  const patterns = Object.entries(names).map(([pattern, to]) => [pattern.toLowerCase(), to] as const)
  const exact = patterns.find(([pattern]) => pattern === key)
  const [closest] = patterns
    .filter(([pattern]) => pattern.endsWith('*') && key.startsWith(pattern.slice(0, -1)))
    .sort(([a], [b]) => b.length - a.length)
  return (exact ?? closest)?.[1] ?? [...configured].find((name) => name.toLowerCase() === key)
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Maximum duration of a timer in milliseconds, nearly 25 days. */
const maxMs = 2 ** 31 - 1

/**
 * Parses `500ms`, `30s`, `5m` or `4h` to milliseconds. Returns undefined for another text, and for more than
 * a timer's maximum of nearly 25 days.
 */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d{1,10})(ms|s|m|h)$/.exec(text)
  const ms = match ? Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN) : Number.NaN
  return ms > 0 && ms <= maxMs ? ms : undefined
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Longest duration that timers keep: a little under 25 days. */
const longest = 2 ** 31 - 1

/** Milliseconds of `500ms`, `30s`, `5m` or `4h`; undefined when the text is none of these or lasts over 24 days. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d{1,10})(ms|s|m|h)$/.exec(text)
  const ms = match ? Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN) : Number.NaN
  return ms > 0 && ms <= longest ? ms : undefined
}

const units: Readonly<Record<string, number>> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

/**
 * Parses `512MiB`, `20GiB` or `1TiB` to bytes. Returns undefined for another text, and for a number that is
 * not a safe integer.
 */
export const parseSize = (text: string): number | undefined => {
  const match = /^(\d{1,10})(KiB|MiB|GiB|TiB)$/.exec(text)
  const bytes = match ? Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN) : Number.NaN
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/**
 * Parses an age such as `36h` or `30d` to milliseconds, which may exceed a timer's maximum. Returns
 * undefined for another text.
 */
export const parseAge = (text: string): number | undefined => {
  const match = /^([1-9]\d{0,5})(h|d)$/.exec(text)
  return match ? Number(match[1]) * (match[2] === 'd' ? 86_400_000 : 3_600_000) : undefined
}

import type { Keys, Report } from '../faults.ts'

/** Name with the keys of its position. */
export type Entry = readonly [name: string, keys: Keys]

/** Reports each duplicated name. */
export const unique = (entries: readonly Entry[], report: Report): void => {
  const seen = new Set<string>()
  for (const [name, keys] of entries) {
    if (seen.has(name)) report(keys, `${name} is used more than once`)
    seen.add(name)
  }
}

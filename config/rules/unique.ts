import type { Keys, Report } from '../faults.ts'

/** Name with the keys of its position. */
export type Entry = readonly [name: string, keys: Keys]

/** Reports each duplicate of a name. `noun` says what the names are, such as `domain`. */
export const unique = (noun: string, entries: readonly Entry[], report: Report): void => {
  const seen = new Map<string, Keys>()
  for (const [name, keys] of entries) {
    const first = seen.get(name)
    if (first) report(keys, `duplicate ${noun} \`${name}\``, { code: 'duplicate', first })
    else seen.set(name, keys)
  }
}

import type { Keys, Report } from './faults.ts'

/** A name, and where it stands. */
export type Entry = readonly [name: string, keys: Keys]

/** Reports each name that stood there before. */
export const unique = (entries: readonly Entry[], report: Report): void => {
  const seen = new Set<string>()
  for (const [name, keys] of entries) {
    if (seen.has(name)) report(keys, `${name} stands there twice`)
    seen.add(name)
  }
}

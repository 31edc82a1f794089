import { mkdtempSync, rmSync } from 'node:fs'

/** Exit code of a process that a person interrupts: 128 and the number of SIGINT. */
const interrupted = 130

/**
 * Runs work with a new folder whose path begins with `prefix`, and removes the folder afterwards, also after
 * SIGINT or SIGTERM. `others`: files that are removed as well.
 */
export const withStaging = async <Result>(
  prefix: string,
  work: (folder: string) => Promise<Result>,
  others: readonly string[] = [],
): Promise<Result> => {
  const folder = mkdtempSync(prefix)
  const clean = () => {
    for (const path of [folder, ...others]) rmSync(path, { recursive: true, force: true })
  }
  const onSignal = () => {
    clean()
    process.exit(interrupted)
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, onSignal)
  try {
    return await work(folder)
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
    clean()
  }
}

import { relative } from 'node:path'
import { type ConfigFault, describeFault } from '../../config/faults.ts'
import { renderFaults } from '../../config/render-faults.ts'

/** Prints faults to standard error with the lines of the file; in colour on a terminal. */
export const printFaults = (faults: readonly ConfigFault[]): void => {
  if (faults.length === 0) return
  // Node honours NO_COLOR and FORCE_COLOR (no-color.org).
  const colour = process.stderr.isTTY && process.stderr.hasColors()
  process.stderr.write(`${renderFaults(faults, { colour, nameOf: nearName })}\n`)
}

/** Prints faults as {@link printFaults} does on a terminal, and elsewhere in one line each, for a log. */
export const printFaultsOfStart = (faults: readonly ConfigFault[]): void => {
  if (process.stderr.isTTY) printFaults(faults)
  else process.stderr.write(`${faults.map(describeFault).join('\n')}\n`)
}

/** Returns a file's name relative to the current folder, if the file lies below it. */
const nearName = (file: string): string => {
  const near = relative(process.cwd(), file)
  return near.startsWith('..') ? file : near
}

import { readdirSync, readFileSync } from 'node:fs'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the ids of the composing processes that this process has started, in order. */
export const composerPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      const parent = read(`/proc/${name}/stat`)
        .replace(/^.*\) /s, '')
        .split(' ')[1]
      const command = read(`/proc/${name}/cmdline`)
      return Number(parent) === process.pid && /composer-process|trunkline-composer/.test(command)
    })
    .map(Number)
    .sort((a, b) => a - b)

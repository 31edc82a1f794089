import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Whether a composing process runs its own code, after its start. */
export const isComposerReady = (pid: number): boolean =>
  read(`/proc/${pid}/cmdline`).includes('trunkline-composer')

/** Returns the ids of the composing processes of a process, default this one, in order. */
export const composerPids = (owner = process.pid): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      const parent = read(`/proc/${name}/stat`)
        .replace(/^.*\) /s, '')
        .split(' ')[1]
      const command = read(`/proc/${name}/cmdline`)
      return Number(parent) === owner && /composer-process|trunkline-composer/.test(command)
    })
    .map(Number)
    .sort((a, b) => a - b)

/** Returns the number of sockets of a process; 0 if it has ended. */
const socketsOf = (pid: number): number => {
  try {
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    return files.filter((file) => file.startsWith('socket:')).length
  } catch {
    return 0
  }
}

/** Returns the composing process of `owner` that receives the most cameras, and so is no spare one. */
export const busiestComposer = (owner: number): number | undefined =>
  composerPids(owner).toSorted((a, b) => socketsOf(b) - socketsOf(a))[0]

/** Resource use of processes, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc on Linux. */
const ticksPerSecond = 100

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the fields of `/proc/<pid>/stat` after the command's name, which may contain blanks. */
const statOf = (pid: number): string[] =>
  read(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')

/** Returns the ids of the process and its descendants. */
export const family = (pid: number): number[] => {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), Number(statOf(Number(name))[1])] as const),
  )
  const found = [pid]
  for (const parent of found)
    found.push(...[...parents].filter(([, of]) => of === parent).map(([child]) => child))
  return found
}

/** Returns the CPU time of processes in seconds, user and system. */
export const cpuSeconds = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const stat = statOf(pid)
    return sum + (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / ticksPerSecond
  }, 0)

/** Returns the resident memory of each process in MiB, with its name. */
export const memory = (pids: readonly number[]): { name: string; mib: number }[] =>
  pids.map((pid) => ({
    name: read(pid, 'comm').trim(),
    mib: Number(/VmRSS:\s+(\d+)/.exec(read(pid, 'status'))?.[1] ?? 0) / 1024,
  }))

/** Returns the CPU time of a process's live threads in nanoseconds, finer than {@link cpuSeconds}. */
export const nanoseconds = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(read(pid, `task/${thread}/schedstat`).split(' ')[0] ?? 0),
    0,
  )

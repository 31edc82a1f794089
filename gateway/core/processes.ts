import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'

/** Process of this machine, as `/proc` shows it. */
export interface FoundProcess {
  readonly pid: number
  /** Name of the program, with the script that it runs; without arguments, which may be secret. */
  readonly command: string
}

/** Returns a process as words: `process 1234 (node main.ts)`. */
export const describeProcess = ({ pid, command }: FoundProcess): string => `process ${pid} (${command})`

/**
 * Returns the process that has bound a port. Undefined if the process belongs to another user, or the system
 * has no `/proc`.
 */
export const holderOfPort = (protocol: 'udp' | 'tcp', port: number): FoundProcess | undefined => {
  const sockets = new Set(['', '6'].flatMap((family) => socketsAt(`/proc/net/${protocol}${family}`, port)))
  if (sockets.size === 0) return undefined
  const pid = pidsOf('/proc').find((each) => hasSocket(each, sockets))
  return pid === undefined ? undefined : found(pid)
}

/** Returns the process that has locked a file by a POSIX lock; undefined as in {@link holderOfPort}. */
export const holderOfLock = (file: string): FoundProcess | undefined => {
  const inode = quietly(() => statSync(file).ino)
  // A line is "1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF".
  const line = linesOf('/proc/locks').find((each) => each.split(/\s+/)[5]?.split(':')[2] === String(inode))
  const pid = Number(line?.split(/\s+/)[4])
  return pid > 0 ? found(pid) : undefined
}

/** State of a TCP socket that listens. */
const listening = '0A'

/** Returns the inodes of the sockets at a port in a table of `/proc/net`. */
const socketsAt = (table: string, port: number): readonly string[] => {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return linesOf(table).flatMap((line) => {
    const [, local = '', , state, , , , , , inode = '0'] = line.trim().split(/\s+/)
    const isServer = !table.includes('tcp') || state === listening
    return local.endsWith(suffix) && isServer && inode !== '0' ? [`socket:[${inode}]`] : []
  })
}

const hasSocket = (pid: number, sockets: ReadonlySet<string>): boolean =>
  (quietly(() => readdirSync(`/proc/${pid}/fd`)) ?? []).some((fd) =>
    sockets.has(quietly(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? ''),
  )

const pidsOf = (folder: string): readonly number[] =>
  (quietly(() => readdirSync(folder)) ?? []).filter((name) => /^\d+$/.test(name)).map(Number)

const found = (pid: number): FoundProcess => {
  const [program = '', script = ''] = (
    quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? ''
  ).split('\0')
  const more = /^[\w./@-]+\.[cm]?[jt]s$/.test(script) ? ` ${basename(script)}` : ''
  return { pid, command: `${basename(program.split(' ')[0] ?? '') || 'unknown'}${more}` }
}

const linesOf = (file: string): readonly string[] =>
  (quietly(() => readFileSync(file, 'utf8')) ?? '').split('\n')

/** Returns undefined instead of an error: processes end at any time, and those of other users are closed. */
const quietly = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

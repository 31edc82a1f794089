import { resolve } from 'node:path'
import type { MediaConfig } from '../../config/types.ts'
import { checkRealtime } from '../../media/edge/realtime.ts'
import { socketKind } from '../../media/edge/sockets-open.ts'
import { findFfmpeg } from '../../media/ffmpeg/ffmpeg.ts'
import { type CheckReport, checkFile } from '../app/config-check.ts'
import { noComposing } from '../app/no-composing.ts'
import { printFaults } from './print-faults.ts'
import { invalid } from './with-config.ts'

/** Page with the meaning of each code. */
const faultsPage = 'docs/configuration-errors.md'

/** Options of `trunkline check`. */
export interface CheckOptions {
  /** Prints the result to standard output as JSON. */
  readonly json: boolean
}

/**
 * `trunkline check`: prints the faults and warnings of a configuration, its documents and its files. Returns
 * the exit code: 2 if there is an error, otherwise 0.
 */
export const checkConfig = async (file: string, { json }: CheckOptions): Promise<number> => {
  const report = checkFile(resolve(file))
  if (json) process.stdout.write(`${JSON.stringify(jsonOf(resolve(file), report), null, 2)}\n`)
  else await printReport(file, report)
  return report.config ? 0 : invalid
}

const printReport = async (file: string, { faults, config }: CheckReport): Promise<void> => {
  printFaults(faults)
  const { errors, warnings } = countsOf(faults)
  const found = warnings > 0 ? `, with ${counted(warnings, 'warning')}` : ''
  if (!config) {
    process.stderr.write(`${file} is invalid: ${counted(errors, 'error')}${found}. See ${faultsPage}.\n`)
    return
  }
  const { domains, subscribers } = config
  const contents = `${counted(domains.length, 'domain')}, ${counted(subscribers.length, 'subscriber')}`
  process.stdout.write(`${file} is valid${found}: ${contents}.\n`)
  process.stdout.write(`RTP: ${rtpOf(config.media.rtp)}.\n`)
  const reason = noComposing(config)
  const pictures = reason === undefined ? 'composed, or the speaker' : `the speaker (${reason})`
  process.stdout.write(`Pictures of video rooms: ${pictures}.\n`)
  const ffmpeg = await findFfmpeg(config.media.rooms.ffmpeg.program)
  const streams = config.rooms.reduce((sum, room) => sum + room.streams.length, 0)
  process.stdout.write(`Files and streams of video rooms: ${playerOf(ffmpeg, streams)}.\n`)
}

/** Returns the sockets of the media threads, and their priority if this user starts the gateway. */
const rtpOf = ({ realtime, threads }: MediaConfig['rtp']): string => {
  const { kind, reason } = socketKind()
  const sockets = kind === 'native' ? 'native sockets' : `Node's own sockets (${reason})`
  if (!realtime) return `${sockets}, normal priority`
  const priority = checkRealtime(threads)
  const found = priority.isRealtime ? 'real-time priority' : `normal priority (${priority.reason})`
  return `${sockets}, ${found} for this user`
}

/** Returns the program for files and streams. `streams`: number of those in the configuration file. */
const playerOf = (ffmpeg: Awaited<ReturnType<typeof findFfmpeg>>, streams: number): string => {
  if (typeof ffmpeg !== 'string') return `ffmpeg ${ffmpeg.version}`
  const idle = streams === 0 ? '' : `; ${counted(streams, 'stream')} of the file cannot start`
  return `no ffmpeg (${ffmpeg})${idle}`
}

/** Returns the report that `check --json` prints. Keys are added in later releases, and never removed. */
const jsonOf = (file: string, { faults, config }: CheckReport) => ({
  file,
  valid: config !== undefined,
  ...countsOf(faults),
  faults: faults.map(({ path, code, hint = null, value = null, first = null, source: _, ...fault }) => ({
    severity: fault.severity,
    code,
    file: fault.file,
    line: fault.line,
    column: fault.column,
    length: fault.length,
    key: path,
    message: fault.message,
    value,
    hint,
    first,
    docs: `${faultsPage}#${code}`,
  })),
})

const countsOf = (faults: CheckReport['faults']) => {
  const errors = faults.filter(({ severity }) => severity === 'error').length
  return { errors, warnings: faults.length - errors }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

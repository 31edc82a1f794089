import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { systemClock } from '../clock.ts'

/** Ffmpeg as it is installed. */
export interface Ffmpeg {
  /** Path of the program. */
  readonly program: string
  /** Such as `5.1.9-0+deb12u1`. */
  readonly version: string
  /** Starts ffmpeg itself. */
  readonly run: StartProcess
  /** Starts ffprobe, which is installed with it. */
  readonly probe: StartProcess
}

/** Starts a program with arguments. `file`: descriptor that the program has as its descriptor 3. */
export type StartProcess = (args: readonly string[], file?: number) => FfmpegProcess

/** A running ffmpeg or ffprobe. */
export interface FfmpegProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Second output, the program's descriptor 4. */
  readonly second: Readable
  /** Settles when the program has ended and its outputs are read. Never rejects. */
  readonly ended: Promise<FfmpegEnd>
  /** Ends the program at once. No effect if it has ended. */
  kill(): void
}

/** End of a program. */
export interface FfmpegEnd {
  /** Exit code; undefined if it was killed or did not start. */
  readonly code: number | undefined
  /** End of its error output, in one line. */
  readonly text: string
}

/** Encoders that rooms need: for files that are played, and for recordings that are converted. */
const encoders = ['libvpx', 'libopus', 'libx264', 'aac'] as const
/** Maximum length of an error output that is kept. */
const maxTextLength = 500
/** Niceness: voices come before files. */
const niceness = 10
/** Maximum time of a question about the version or a file, in ms. */
const maxAnswerMs = 15_000

/** Returns the arguments of a text, which spaces separate. */
export const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '')

/**
 * Finds ffmpeg at a path, with ffprobe beside it. Returns the reason, in one line, if it is missing, does not
 * run, or lacks an encoder.
 */
export const findFfmpeg = async (program: string): Promise<Ffmpeg | string> => {
  const found: Ffmpeg = {
    program,
    version: '',
    run: startProcess(program),
    probe: startProcess(join(dirname(program), 'ffprobe')),
  }
  try {
    const first = await outputOf(found.run(['-version']))
    const version = /^ffmpeg version (\S{1,80})/.exec(first)?.[1]
    if (version === undefined) return `${program} is not ffmpeg`
    const [listed] = await Promise.all([
      outputOf(found.run(['-hide_banner', '-encoders'])),
      outputOf(found.probe(['-version'])),
    ])
    const missing = encoders.find((name) => !listed.includes(` ${name} `))
    if (missing !== undefined) return `${program} has no encoder ${missing}`
    return { ...found, version }
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Returns the output of a program. Rejects with an Error if it fails or takes too long, or if `signal` ends
 * it.
 */
export const outputOf = async (process: FfmpegProcess, signal?: AbortSignal): Promise<string> => {
  const chunks: Buffer[] = []
  process.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const kill = () => process.kill()
  const timer = systemClock.after(maxAnswerMs, kill)
  signal?.addEventListener('abort', kill, { once: true })
  const { code, text } = await process.ended
  timer.cancel()
  signal?.removeEventListener('abort', kill)
  if (code !== 0) throw new Error(text === '' ? 'it was ended' : text)
  return Buffer.concat(chunks).toString()
}

/**
 * Returns the starter of a program. It gets no environment, and a process group of its own, so that a signal
 * to the gateway leaves it alone. It ends when the gateway does, because its input and outputs are closed.
 */
const startProcess =
  (program: string): StartProcess =>
  (args, file) => {
    let child: ChildProcess
    try {
      child = spawn(program, [...args], {
        env: {},
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', file ?? 'ignore', 'pipe'],
      })
    } catch (error) {
      return unstarted(Promise.resolve({ code: undefined, text: (error as Error).message }))
    }
    let text = () => ''
    const ended = endOf(child, () => text())
    const streams = child.stdio as ProgramStreams | undefined
    // At the limit of descriptors, a child has no streams; its error follows.
    if (!streams) return unstarted(ended)
    const [stdin, stdout, stderr, , second] = streams
    // A program that ends closes them; `ended` reports that.
    for (const stream of [stdin, stdout, stderr, second]) stream.on('error', () => {})
    text = lastText(stderr)
    return { stdin, stdout, second, ended, kill: () => void child.kill('SIGKILL') }
  }

type ProgramStreams = readonly [Writable, Readable, Readable, unknown, Readable]

/** Returns a process that has no streams, because it did not start. */
const unstarted = (ended: Promise<FfmpegEnd>): FfmpegProcess => ({
  stdin: new Writable({ write: (_chunk, _encoding, done) => done() }),
  stdout: Readable.from([]),
  second: Readable.from([]),
  ended,
  kill: () => {},
})

const endOf = (child: ChildProcess, text: () => string): Promise<FfmpegEnd> => {
  const { promise, resolve } = Promise.withResolvers<FfmpegEnd>()
  child.on('spawn', () => {
    try {
      if (child.pid !== undefined) setPriority(child.pid, niceness)
    } catch {
      // It has ended already.
    }
  })
  child.on('error', (error) => resolve({ code: undefined, text: error.message }))
  child.on('close', (code) => resolve({ code: code ?? undefined, text: text() }))
  return promise
}

/** Returns a function for the last text of a stream, in one line of printable characters. */
const lastText = (stream: Readable): (() => string) => {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('latin1')).slice(-maxTextLength)
  })
  // Parts of ffmpeg name themselves by their address in memory.
  return () =>
    text
      .replace(/\[[^[\]]{1,60}\]/g, ' ')
      .replace(/[^\x21-\x7e]+/g, ' ')
      .trim()
}

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Readable } from 'node:stream'

/** Folders in which the program is searched. Nothing else of the environment reaches it. */
const programFolders = '/usr/local/bin:/usr/bin:/bin'
/** Niceness of the program: calls come first. */
const niceness = 15
/** Maximum length of the program's messages that are kept, in characters. */
const maxMessage = 500

/** Options of {@link convertToMp4}. */
export interface Mp4Options {
  /** Maximum duration of the conversion in ms. */
  readonly maxMs: number
  /** Aborts the conversion. */
  readonly signal: AbortSignal
  /** Name or path of the program; default `ffmpeg`. */
  readonly program?: string
}

/**
 * Converts a WebM file with VP8 and Opus to an MP4 with H.264 and AAC, by the program `ffmpeg` with
 * `libx264`. Pictures of any size are fitted into 1280 × 720. The program is a niced child without a shell,
 * and opens local files alone. Rejects with an Error if it is missing, fails, or lasts too long; `to` may
 * then exist with any content.
 */
export const convertToMp4 = (
  from: string,
  to: string,
  { maxMs, signal, program = 'ffmpeg' }: Mp4Options,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, argumentsFor(from, to), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: programFolders },
      signal,
      timeout: maxMs,
      killSignal: 'SIGKILL',
    })
    if (child.pid !== undefined) lowerPriority(child.pid)
    const message = messageOf(child)
    child.on('error', reject)
    child.on('close', (status, killedBy) => {
      if (status === 0) resolve()
      else reject(new Error(`${program} ended with ${status ?? killedBy}: ${message()}`))
    })
  })

const fit = 'scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:(ow-iw)/2:(oh-ih)/2,setsar=1'

// The gaps of the file stay gaps, so that the sound keeps its time.
const output =
  `-c:v libx264 -preset veryfast -pix_fmt yuv420p -vf ${fit} ` +
  '-c:a aac -b:a 96k -af aresample=async=1:first_pts=0 -movflags +faststart -f mp4 -y'

const argumentsFor = (from: string, to: string): readonly string[] => {
  const input = '-nostdin -hide_banner -loglevel error -protocol_whitelist file -f matroska -i'
  return [...input.split(' '), `file:${from}`, ...output.split(' '), `file:${to}`]
}

/** Sets the niceness. The program may have ended already. */
const lowerPriority = (pid: number): void => {
  try {
    setPriority(pid, niceness)
  } catch {}
}

/** Returns a function that returns the end of what the program has written to its error output. */
const messageOf = (child: ChildProcessByStdio<null, null, Readable>): (() => string) => {
  let text = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (part: string) => {
    text = (text + part).slice(-maxMessage)
  })
  return () => text.trim().replaceAll(/\s+/g, ' ')
}

import { createReadStream } from 'node:fs'
import { systemClock, type Timers } from '../clock.ts'
import { type Ffmpeg, words } from './ffmpeg.ts'
import { decoderArgs } from './file-facts.ts'

/** Options of {@link ConvertToMp4}. */
export interface Mp4Options {
  /** Maximum duration of the conversion in ms. */
  readonly maxMs: number
  /** Aborts the conversion. */
  readonly signal: AbortSignal
}

/**
 * Converts a WebM file with VP8 and Opus to an MP4 with H.264 and AAC. Pictures of any size are fitted into
 * 1280 × 720. Paths are absolute. Rejects with an Error if ffmpeg is missing, fails, or takes too long; `to`
 * may then exist with any content.
 */
export type ConvertToMp4 = (from: string, to: string, options: Mp4Options) => Promise<void>

/**
 * Returns the converter of an ffmpeg. The gateway feeds it the file, so that it does not go on after the
 * death of the gateway.
 */
export const mp4Converter =
  (ffmpeg: Pick<Ffmpeg, 'run'> | undefined, timers: Timers = systemClock): ConvertToMp4 =>
  async (from, to, { maxMs, signal }) => {
    if (!ffmpeg) throw new Error('ffmpeg expected')
    signal.throwIfAborted()
    const process = ffmpeg.run(argumentsFor(to))
    const kill = () => process.kill()
    let fault: Error | undefined
    const source = createReadStream(from).on('error', (error) => {
      fault = error
      kill()
    })
    source.pipe(process.stdin)
    const timer = timers.after(maxMs, kill)
    signal.addEventListener('abort', kill, { once: true })
    const { code, text } = await process.ended
    timer.cancel()
    signal.removeEventListener('abort', kill)
    source.destroy()
    // Without its rest, the file would become a shorter one.
    if (fault) throw fault
    if (code === undefined) throw new Error(text || `ffmpeg was ended, after ${maxMs} ms at the latest`)
    if (code !== 0) throw new Error(`ffmpeg ended with ${code}: ${text}`)
  }

const fit = 'scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:(ow-iw)/2:(oh-ih)/2,setsar=1'

const inputArgs = words('-hide_banner -loglevel error -protocol_whitelist pipe -f matroska -i pipe:0')
const pictureArgs = words(`-c:v libx264 -preset veryfast -pix_fmt yuv420p -vf ${fit}`)
// The gaps of the file stay gaps, so that the sound keeps its time.
const soundArgs = words('-c:a aac -b:a 96k -af aresample=async=1:first_pts=0')
const outputArgs = words('-movflags +faststart -f mp4 -y')

const argumentsFor = (to: string): readonly string[] => [
  ...decoderArgs,
  ...inputArgs,
  ...pictureArgs,
  ...soundArgs,
  ...outputArgs,
  `file:${to}`,
]

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Colour } from './page-video.ts'

/** Path of ffmpeg, as gateways expect it. */
export const ffmpegPath = '/usr/bin/ffmpeg'

/** Reason why files cannot be played, for the names of tests; undefined if they can. */
export const noFfmpeg: string | undefined = existsSync(ffmpegPath) ? undefined : 'ffmpeg is not installed'

/** Returns an MP4 of one colour with a tone, in H.264 and AAC. */
export const filmOf = (colour: Colour, toneHz: number, seconds: number): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-film-'))
  const path = join(folder, 'film.mp4')
  try {
    const pictures = `-f lavfi -i color=c=${colour}:size=320x180:rate=15:d=${seconds}`
    const sound = `-f lavfi -i sine=frequency=${toneHz}:duration=${seconds}`
    const codecs = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac'
    execFileSync(ffmpegPath, [...`-v error ${pictures} ${sound} ${codecs}`.split(' '), path])
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

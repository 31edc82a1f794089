/** Media files in the tests, decoded by the program `ffmpeg`. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ffmpegPath } from './film.ts'
import { medianOf } from './median.ts'
import { colourOf, type SeenColour } from './page-video.ts'

const run = promisify(execFile)

/** Interval of the pictures of {@link picturesOf}, in ms. */
const pictureMs = 20
/** Sampling rate of {@link soundOf}, in Hz. */
const rate = 8000
/** Length of a window in which a tone is searched, in ms. */
const windowMs = 10

/** Minimum level of a tone; 1 is full scale. */
const minLevel = 0.05

const decoded = async (path: string, ...output: readonly string[]): Promise<Buffer> => {
  // Without `-reinit_filter 0`, the filters begin anew with each size of the picture, at time 0.
  const input = ['-reinit_filter', '0', '-i', path]
  const args = ['-nostdin', '-loglevel', 'error', ...input, ...output, 'pipe:1']
  const { stdout } = await run(ffmpegPath, args, {
    encoding: 'buffer',
    maxBuffer: 64_000_000,
    timeout: 60_000,
  })
  return stdout
}

/** Mean colour of a picture. */
export interface Picture {
  readonly atMs: number
  readonly rgb: readonly [number, number, number]
}

/** Returns the picture of a file every 20 ms, from its time 0 on. */
export const picturesOf = async (path: string): Promise<readonly Picture[]> => {
  const filter = `fps=${1000 / pictureMs}:start_time=0,scale=1:1:flags=area`
  const bytes = await decoded(path, '-vf', filter, '-f', 'rawvideo', '-pix_fmt', 'rgb24')
  return Array.from({ length: bytes.length / 3 }, (_, i) => ({
    atMs: i * pictureMs,
    rgb: [bytes[3 * i]!, bytes[3 * i + 1]!, bytes[3 * i + 2]!],
  }))
}

/** Part of a file with pictures of one colour. Times in ms. */
export interface ColourSpan {
  readonly colour: SeenColour
  readonly from: number
  readonly to: number
}

/** Returns the colours of pictures, in their order. Colours that are shorter than `minMs` are left out. */
export const coloursOf = (pictures: readonly Picture[], minMs = pictureMs): readonly ColourSpan[] => {
  const single = pictures.map(({ atMs, rgb }) => ({
    colour: colourOf(rgb),
    from: atMs,
    to: atMs + pictureMs,
  }))
  return joined(joined(single).filter(({ from, to }) => to - from >= minMs))
}

/** Joins neighbours of one colour. */
const joined = (spans: readonly ColourSpan[]): readonly ColourSpan[] => {
  const all: ColourSpan[] = []
  for (const span of spans) {
    const last = all.at(-1)
    if (last?.colour === span.colour) all.splice(-1, 1, { ...last, to: span.to })
    else all.push(span)
  }
  return all
}

/** Returns the times in ms at which a black picture becomes white. */
export const flashesOf = (pictures: readonly Picture[]): readonly number[] =>
  pictures
    .filter(({ rgb }, i) => Math.min(...rgb) > 128 && Math.max(...(pictures[i - 1]?.rgb ?? [255])) < 128)
    .map(({ atMs }) => atMs)

/** Returns the sound of a file with 8 kHz, from its time 0 on; gaps are silent. */
export const soundOf = async (path: string): Promise<Int16Array> => {
  const filter = 'aresample=async=1:first_pts=0'
  const bytes = await decoded(path, '-af', filter, '-ac', '1', '-ar', String(rate), '-f', 's16le')
  return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1)
}

/** Returns the levels of a tone in windows of 10 ms; 1 is full scale (Goertzel's algorithm). */
const levelsOf = (sound: Int16Array, hz: number): readonly number[] => {
  const length = (rate * windowMs) / 1000
  const factor = 2 * Math.cos((2 * Math.PI * hz) / rate)
  return Array.from({ length: Math.floor(sound.length / length) }, (_, i) => {
    let last = 0
    let before = 0
    for (const sample of sound.subarray(i * length, (i + 1) * length)) {
      const next = sample / 32_768 + factor * last - before
      before = last
      last = next
    }
    return (2 * Math.sqrt(Math.max(0, last ** 2 + before ** 2 - factor * last * before))) / length
  })
}

/** Returns the part of a sound that has a tone, from 0 to 1. */
export const shareOf = (sound: Int16Array, hz: number): number => {
  const levels = levelsOf(sound, hz)
  return levels.filter((level) => level > minLevel).length / levels.length
}

/** Returns the times in ms at which a tone begins, after at least 100 ms without it. */
export const onsetsOf = (sound: Int16Array, hz: number): readonly number[] => {
  const isOn = levelsOf(sound, hz).map((level) => level > minLevel)
  return isOn.flatMap((on, i) =>
    on && i >= 10 && !isOn.slice(i - 10, i).includes(true) ? [i * windowMs] : [],
  )
}

/** Returns the distance in ms from each time to the nearest of the others, in the middle of all. */
export const medianDistance = (times: readonly number[], others: readonly number[]): number =>
  medianOf(times.map((time) => Math.min(...others.map((other) => Math.abs(other - time)))))

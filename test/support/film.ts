import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../media/testing/free-ports.ts'
import type { Colour } from './page-video.ts'
import { Program } from './program.ts'
import { until } from './until.ts'

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

/** Stream as a server has received it. */
export interface ReceivedStream {
  readonly codecs: readonly string[]
  readonly seconds: number
  /** Red, green and blue of the middle of the last picture. */
  readonly rgb: readonly number[]
  /** Frequency of the tone in the last second. */
  readonly toneHz: number
}

/** A server that receives one stream by RTMP. */
export interface StreamServer {
  /** URL with the key `secret`. */
  readonly url: string
  /** Resolves when `holds` accepts the stream so far, and ends the server. */
  received(holds: (stream: ReceivedStream) => boolean): Promise<ReceivedStream>
  stop(): Promise<void>
}

/** Starts a server that receives one stream. */
export const receiveStream = async (): Promise<StreamServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-stream-'))
  const path = join(folder, 'received.flv')
  const port = await freePort()
  const url = `rtmp://127.0.0.1:${port}/live/secret`
  const program = new Program(
    ffmpegPath,
    `-v error -listen 1 -i ${url} -c copy -flush_packets 1 ${path}`.split(' '),
  )
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`
  await until('the server listens', () => readFileSync('/proc/net/tcp', 'latin1').includes(local))
  return {
    url,
    received: async (holds) => {
      const stream = await until(
        'the wanted stream',
        () => describeNext(path),
        (seen) => seen !== undefined && holds(seen),
        20_000,
      )
      await program.stop()
      return stream!
    },
    stop: async () => {
      await program.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

const run = promisify(execFile)

/** Describes the file half a second later; undefined while it does not end with a whole packet. */
const describeNext = async (path: string): Promise<ReceivedStream | undefined> => {
  await sleep(500)
  return describeFile(path).catch(() => undefined)
}

const describeFile = async (path: string): Promise<ReceivedStream> => {
  const fields = '-v error -show_entries stream=codec_name:format=duration -of json'
  const { stdout: probed } = await run('/usr/bin/ffprobe', [...fields.split(' '), path])
  const { streams, format } = JSON.parse(probed)
  const decode = async (output: string): Promise<Buffer> => {
    const args = `-v error -sseof -1 -i ${path} ${output} -`.split(' ')
    return (await run(ffmpegPath, args, { encoding: 'buffer' })).stdout
  }
  return {
    codecs: streams.map(({ codec_name }: { codec_name: string }) => codec_name).toSorted(),
    seconds: Number(format.duration),
    rgb: [...(await decode('-frames:v 1 -vf crop=2:2,scale=1:1 -f rawvideo -pix_fmt rgb24'))],
    toneHz: frequencyOf(await decode(`-vn -ac 1 -ar ${pcmRate} -f s16le`)),
  }
}

const pcmRate = 16_000

/** Returns the frequency of a tone in PCM of 16 bits, by the number of its rising edges. */
const frequencyOf = (pcm: Buffer): number => {
  let edges = 0
  for (let at = 2; at + 1 < pcm.length; at += 2)
    if (pcm.readInt16LE(at - 2) < 0 && pcm.readInt16LE(at) >= 0) edges++
  return (edges * pcmRate) / (pcm.length / 2)
}

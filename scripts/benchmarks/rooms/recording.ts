import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { quantile } from '../../../gateway/agent-test/scores/quantile.ts'
import { readWebm } from '../../../media/record/testing/read-webm.ts'
import { isInstalled } from '../../../test/support/program.ts'
import { rest } from '../../../test/support/rest.ts'
import { until } from '../../../test/support/until.ts'
import type { VideoPage } from '../../../test/support/video-page.ts'
import { printFigure } from './figures.ts'
import { clockBits, clockIn, say } from './person.ts'
import { onStage, passes, type Stage } from './stage.ts'

const run = promisify(execFile)
const output = { encoding: 'buffer', maxBuffer: 2 ** 28 } as const

/** Whether a file of the folder, which may still be written, has a key frame. */
const hasPicture = (folder: string, name: string): boolean => {
  try {
    const { tracks, blocks } = readWebm(readFileSync(join(folder, name)), true)
    return blocks.some(({ track, isKey }) => isKey && tracks[track] === 'V_VP8')
  } catch {
    // Another file, or one without its beginning.
    return false
  }
}

/** Frame or sound of a file. Times in ms. */
interface Marked {
  /** Time in the file. */
  readonly atMs: number
  /** Time at which the page painted the frame or began the sound, modulo the period of the clock. */
  readonly madeAt: number
}

const period = 2 ** (clockBits + 1)

/** Reads the frames of a file whose clock is readable. */
const framesIn = async (file: string): Promise<readonly Marked[]> => {
  const wide = 8 * (clockBits + 1)
  const filter = `crop=iw:2:0:ih*3/4,scale=${wide}:1:flags=neighbor,format=gray,showinfo`
  const options = ['-hide_banner', '-i', file, '-an', '-fps_mode', 'passthrough', '-vf', filter]
  const { stdout, stderr } = await run('ffmpeg', [...options, '-f', 'rawvideo', '-'], output)
  const times = [...stderr.toString().matchAll(/ pts_time:([\d.]+)/g)].map(([, time]) => Number(time) * 1000)
  return times.flatMap((atMs, i) => {
    const time = clockIn(stdout.subarray(i * wide, (i + 1) * wide))
    return time === undefined ? [] : [{ atMs, madeAt: time * 2 }]
  })
}

/** Reads the beginnings of sounds in a file, with its gaps as silence. */
const soundsIn = async (file: string): Promise<readonly number[]> => {
  const filter = 'aresample=async=1:min_hard_comp=0.01:first_pts=0'
  const options = ['-v', 'error', '-i', file, '-vn', '-af', filter, '-ac', '1', '-ar', '8000']
  const { stdout } = await run('ffmpeg', [...options, '-f', 's16le', '-'], output)
  const sounds: number[] = []
  let quiet = 0
  for (let at = 0; at + 1 < stdout.length; at += 2) {
    if (Math.abs(stdout.readInt16LE(at)) < 1000) quiet++
    else {
      if (quiet > 800) sounds.push(at / 16)
      quiet = 0
    }
  }
  return sounds
}

/** Difference of two times of the clock, between minus and plus half of its period. */
const distance = (a: number, b: number): number => ((((a - b) % period) + 1.5 * period) % period) - period / 2

/** Returns how much later than the frames around it each sound is in the file, in ms. */
const skewsIn = async (file: string, given: readonly number[]): Promise<readonly number[]> => {
  const frames = await framesIn(file)
  return (await soundsIn(file)).flatMap((atMs) => {
    const near = frames.filter((frame) => Math.abs(frame.atMs - atMs) < 250)
    const [first] = near
    if (!first) return []
    // Offset of the file's time from the clock, as the frames have it.
    const offsets = near.map((frame) => distance(frame.atMs - frame.madeAt, first.atMs - first.madeAt))
    const offset = first.atMs - first.madeAt + quantile(offsets, 0.5)
    const skews = given.map((madeAt) => distance(atMs - madeAt, offset))
    return [skews.reduce((best, skew) => (Math.abs(skew) < Math.abs(best) ? skew : best))]
  })
}

/** Times of one recording, in ms, and its file. */
interface Recorded {
  readonly toPicture: number
  readonly toFile: number
  readonly skews: readonly number[]
}

/** Records some seconds with a tone in each, in `folder`. */
const record = async (stage: Stage, { page }: VideoPage, folder: string): Promise<Recorded> => {
  const stored = join(folder, 'recordings', 'default')
  const before = new Set(readdirSync(stored))
  const begun = Date.now()
  const id: string = await page.evaluate(`call.startRecording().then((it) => (globalThis.recording = it).id)`)
  await until('a picture is written', () =>
    readdirSync(stored).some((name) => !before.has(name) && hasPicture(stored, name)),
  )
  const toPicture = Date.now() - begun
  const given: number[] = []
  for (let i = 0; i < 4; i++) {
    given.push(await say(page, 'tone', 100))
    await passes(600 + 100 * Math.random())
  }
  const stopped = Date.now()
  await page.evaluate('recording.stop()')
  const path = `/api/video/room_recordings/${id}`
  const { uri } = await until(
    'the recording is complete',
    async () => (await rest(stage.gateway, 'GET', path)).body,
    ({ status }) => status === 'completed',
  )
  const bytes = Buffer.from(await (await fetch(uri)).arrayBuffer())
  const toFile = Date.now() - stopped
  const file = join(folder, `${id}.webm`)
  writeFileSync(file, bytes)
  await run('ffprobe', ['-v', 'error', '-show_entries', 'format=duration', file])
  return { toPicture, toFile, skews: await skewsIn(file, given) }
}

/** Measures recordings of a room with one page: a part of goal G12. */
export const recording = async (rounds = 12): Promise<void> => {
  if (!isInstalled('ffmpeg')) return console.log('skipped: ffmpeg is missing: apt-get install -y ffmpeg')
  const dataDir = mkdtempSync(join(tmpdir(), 'room-recordings-'))
  // The gateway creates the folder with the first recording.
  mkdirSync(join(dataDir, 'recordings', 'default'), { recursive: true })
  await onStage({ dataDir }, async (stage) => {
    const page = await stage.guest({ colour: 'red' })
    await page.join(await stage.token('Vera', ['room.recording']))
    await page.page.evaluate(`document.getElementById('root').hidden = true`)
    await passes(4000)
    const all: Recorded[] = []
    for (let i = 0; i < rounds; i++) all.push(await record(stage, page, dataDir))
    const starts = all.map(({ toPicture }) => toPicture)
    printFigure('startRecording() to the first written key frame', starts, { max: 1000 })
    printFigure(
      'stop() to the fetched file',
      all.map(({ toFile }) => toFile),
      { max: 2000 },
    )
    const skews = all.flatMap((each) => each.skews)
    printFigure('Sound after the picture in the file', skews)
    printFigure('Sound and picture apart in the file', skews.map(Math.abs), { p95: 60 })
  })
  rmSync(dataDir, { recursive: true, force: true })
}

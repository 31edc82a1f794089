import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { wavHeader } from '../codecs/wav-header.ts'
import type { RecordRequest } from '../types.ts'
import { type Recorder, startRecording } from './recorder.ts'
import { recoverRecordings } from './recover-recordings.ts'
import { readWavFile } from './testing/recording-files.ts'

const tone = sine(440, 20, 16_000, 8000)
const minute = 60_000

let folder: string
let now: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leftovers-'))
  now = (await stat(folder)).mtimeMs + 10 * minute
})
afterEach(() => rm(folder, { recursive: true }))

/** Starts a recording of 2 s whose process died: it is never stopped. */
async function cutOff(name: string, format: RecordRequest['format']): Promise<Recorder> {
  const path = join(folder, name)
  const recorder = await startRecording({ path, format, tracks: 'stereo', sampleRate: 16_000 })
  for (let i = 0; i < 120; i++) recorder.frame(tone, undefined)
  const ofThis = (names: readonly string[]) => names.find((found) => found.startsWith(`.${name}.`))
  const written = async () => (await stat(join(folder, ofThis(await readdir(folder)) ?? 'none'))).size
  await expect.poll(() => written().catch(() => 0)).toBeGreaterThan(format === 'wav' ? 100_000 : 7000)
  return recorder
}

it('completes interrupted recordings', async () => {
  const recorders = [await cutOff('a.wav', 'wav'), await cutOff('b.mp3', 'mp3')]
  const { completed, removed, failed } = await recoverRecordings(folder, now)
  expect([...completed].sort()).toEqual([join(folder, 'a.wav'), join(folder, 'b.mp3')])
  expect([removed, failed]).toEqual([[], []])
  expect((await readdir(folder)).sort()).toEqual(['a.wav', 'b.mp3'])
  const { rate, channels } = await readWavFile(join(folder, 'a.wav'))
  expect([rate, channels.length]).toEqual([16_000, 2])
  expect(channels[0]!.subarray(320, 640)).toEqual(tone)
  // These recorders did not die after all; their files are gone.
  for (const recorder of recorders) {
    recorder.stop()
    expect(await recorder.done).toMatchObject({ end: { kind: 'error', code: 'ENOENT' }, hasFile: false })
  }
  expect((await readdir(folder)).sort()).toEqual(['a.wav', 'b.mp3'])
})

it('skips files in use and files that are no recordings', async () => {
  const names = ['.x.wav.0123abcd.part', '.y.wav.part', 'z.wav', '.0123abcd.part']
  for (const name of names) await writeFile(join(folder, name), 'RIFF')
  const used = (await stat(join(folder, names[0]!))).mtimeMs
  expect(await recoverRecordings(folder, used + minute)).toEqual({ completed: [], removed: [], failed: [] })
  expect((await readdir(folder)).sort()).toEqual([...names].sort())
})

it('removes files without audio', async () => {
  await writeFile(join(folder, '.a.wav.0123abcd.part'), '')
  await writeFile(join(folder, '.b.wav.0123abcd.part'), wavHeader({ rate: 8000 }))
  await writeFile(join(folder, '.c.wav.0123abcd.part'), 'RIFFxx')
  const { removed } = await recoverRecordings(folder, now)
  expect([...removed].sort()).toEqual(['a', 'b', 'c'].map((name) => join(folder, `${name}.wav`)))
  expect(await readdir(folder)).toEqual([])
})

it('cuts half a sample off', async () => {
  const bytes = Buffer.concat([wavHeader({ rate: 8000, channels: 2 }), Buffer.alloc(4003, 1)])
  await writeFile(join(folder, '.a.wav.0123abcd.part'), bytes)
  await recoverRecordings(folder, now)
  expect((await readWavFile(join(folder, 'a.wav'))).channels[0]).toHaveLength(1000)
})

it('does not replace a recording', async () => {
  const old = new Date(now - 10 * minute)
  await writeFile(join(folder, 'a.wav'), 'the one')
  await writeFile(
    join(folder, '.a.wav.0123abcd.part'),
    Buffer.concat([wavHeader({ rate: 8000 }), Buffer.alloc(100)]),
  )
  await utimes(join(folder, '.a.wav.0123abcd.part'), old, old)
  const { failed } = await recoverRecordings(folder, now)
  expect(failed).toMatchObject([{ file: join(folder, '.a.wav.0123abcd.part'), code: 'EEXIST' }])
  expect((await readdir(folder)).sort()).toEqual(['.a.wav.0123abcd.part', 'a.wav'])
})

it('rejects if the folder does not exist', async () => {
  await expect(recoverRecordings(join(folder, 'missing'), now)).rejects.toMatchObject({ code: 'ENOENT' })
})

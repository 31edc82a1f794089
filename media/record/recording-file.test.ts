import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { TestClock } from '../edge/testing/test-clock.ts'
import type { RecordRequest } from '../types.ts'
import type { FileFailure, RecordingFiles } from './disk-files.ts'
import { startRecording } from './recorder.ts'
import { RecordingFile } from './recording-file.ts'
import { MemoryFiles, readWavBytes, readWavFile, WatchedFiles } from './testing/recording-files.ts'
import { WavFormat } from './wav-format.ts'

const run = promisify(execFile)
const tone = sine(440, 20, 8000, 8000)

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recording-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Records a tone for a number of frames; the disk may catch up each second. */
async function record(
  path: string,
  frames: number,
  files: RecordingFiles = new WatchedFiles(),
  more: Partial<RecordRequest> = {},
) {
  const recorder = await startRecording({ path, format: 'wav', tracks: 'in', ...more }, files)
  let taken = 0
  for (; taken < frames && !recorder.hasEnded; taken++) {
    recorder.frame(tone, undefined)
    if (taken % 50 !== 49) continue
    if (files instanceof WatchedFiles) await files.idle()
    else await new Promise(setImmediate)
  }
  if (!recorder.hasEnded) recorder.stop()
  return { taken, result: await recorder.done }
}

describe('a recording on a real disk', () => {
  it('has its final name when complete, and leaves no other file', async () => {
    const path = join(folder, 'call.wav')
    const recorder = await startRecording({ path, format: 'wav', tracks: 'in' })
    for (let i = 0; i < 60; i++) recorder.frame(tone, undefined)
    await expect
      .poll(() => readdir(folder))
      .toEqual([expect.stringMatching(/^\.call\.wav\.[0-9a-f]{8}\.part$/)])
    recorder.stop()
    expect(await recorder.done).toMatchObject({ durationMs: 1200, bytes: 44 + 1200 * 16, hasFile: true })
    expect(await readdir(folder)).toEqual(['call.wav'])
    const { mode, size } = await stat(path)
    expect([mode & 0o777, size]).toEqual([0o640, 44 + 1200 * 16])
    const { channels } = await readWavFile(path)
    expect(channels[0]!.subarray(59 * 160)).toEqual(tone)
  })

  it('is cut if trimmed', async () => {
    const path = join(folder, 'call.wav')
    const files = new WatchedFiles()
    const recorder = await startRecording({ path, format: 'wav', tracks: 'in', trim: true }, files)
    for (let i = 0; i < 400; i++) {
      recorder.frame(i < 50 ? tone : undefined, undefined)
      if (i % 50 === 49) await files.idle()
    }
    recorder.stop()
    expect((await recorder.done).durationMs).toBe(1200)
    expect((await readWavFile(path)).channels[0]).toHaveLength(1200 * 8)
  })

  it('ends with an error if its folder is missing or a file', async () => {
    expect((await record(join(folder, 'missing', 'a.wav'), 1e6)).result).toMatchObject({
      end: { kind: 'error', code: 'ENOENT' },
      bytes: 0,
      hasFile: false,
    })
    await writeFile(join(folder, 'file'), '')
    const { result } = await record(join(folder, 'file', 'a.wav'), 1e6)
    expect(result.end).toMatchObject({ kind: 'error', code: 'ENOTDIR' })
    expect(await readdir(folder)).toEqual(['file'])
  })

  it.skipIf(process.getuid?.() === 0)('ends with an error when its folder is not permitted', async () => {
    const closed = join(folder, 'closed')
    await mkdir(closed)
    await chmod(closed, 0o500)
    expect((await record(join(closed, 'a.wav'), 1e6)).result).toMatchObject({ end: { code: 'EACCES' } })
  })

  it('keeps the audio under its temporary name if it cannot be renamed', async () => {
    const path = join(folder, 'taken')
    await mkdir(path)
    const { result } = await record(path, 60)
    expect(result).toMatchObject({ end: { kind: 'error', code: 'EISDIR' }, hasFile: false })
    expect(await readdir(folder)).toHaveLength(2)
  })
})

describe('a full disk', () => {
  it('keeps what was written, and ends with an error (on a real disk if one can be mounted)', async (context) => {
    const disk = join(folder, 'disk')
    await mkdir(disk)
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', disk]).then(
      () => true,
      () => false,
    )
    if (!mounted) return context.skip()
    try {
      const path = join(disk, 'call.wav')
      const { taken, result } = await record(path, 100_000)
      expect(taken).toBeLessThan(1000)
      expect(result).toMatchObject({ end: { kind: 'error', code: 'ENOSPC' }, bytes: 131_072, hasFile: true })
      const { channels } = await readWavFile(path)
      expect(channels[0]).toHaveLength((131_072 - 44) / 2)
      expect(channels[0]!.subarray(160, 320)).toEqual(tone)
      expect(await readdir(disk)).toEqual(['call.wav'])
    } finally {
      await run('umount', [disk])
    }
  })

  it('behaves the same in memory, to whole samples of all channels', async () => {
    const files = new MemoryFiles()
    files.space = 100_001
    const { result } = await record('/calls/a.wav', 100_000, files, { tracks: 'stereo' })
    expect(result).toMatchObject({ end: { kind: 'error', code: 'ENOSPC' }, bytes: 100_000, hasFile: true })
    expect([...files.files.keys()]).toEqual(['/calls/a.wav'])
    expect(readWavBytes(files.files.get('/calls/a.wav')!).channels).toHaveLength(2)
  })

  it('leaves nothing without space for any audio', async () => {
    const files = new MemoryFiles()
    files.space = 44
    const { result } = await record('/calls/a.wav', 100_000, files)
    expect(result).toMatchObject({ end: { code: 'ENOSPC' }, bytes: 0, hasFile: false })
    expect(files.files.size).toBe(0)
  })
})

describe('a disk that fails', () => {
  it('ends the recording when it is 5 s behind, and keeps what was accepted', async () => {
    const files = new MemoryFiles()
    const { promise, resolve } = Promise.withResolvers<void>()
    files.gate = promise
    const recorder = await startRecording({ path: '/calls/a.wav', format: 'wav', tracks: 'in' }, files)
    let taken = 0
    for (; !recorder.hasEnded; taken++) {
      recorder.frame(tone, undefined)
      await new Promise(setImmediate)
    }
    expect(taken / 50).toBeGreaterThanOrEqual(5)
    expect(taken / 50).toBeLessThan(6.1)
    resolve()
    const { end, durationMs } = await recorder.done
    expect(end).toMatchObject({ kind: 'error', code: 'too_slow' })
    expect(durationMs).toBeGreaterThan(5000)
    readWavBytes(files.files.get('/calls/a.wav')!)
  })

  it.each(['before', 'during'])('gives a WAV up after 10 s without progress, %s its end', async (when) => {
    const clock = new TestClock()
    const files = new MemoryFiles()
    files.gate = new Promise(() => {})
    const failures: FileFailure[] = []
    const onFailure = (failure: FileFailure) => failures.push(failure)
    const options = { path: '/calls/a.wav', bytesPerSecond: 16_000, onFailure, files, timers: clock }
    const file = new RecordingFile(options)
    const format = new WavFormat(8000, 1)
    await new Promise(setImmediate)
    file.write(format.begin())
    file.write(new Uint8Array(16_000))
    const finish = () => file.finish(format, 1e9)
    const ending = when === 'during' ? finish() : undefined
    await new Promise(setImmediate)
    clock.advance(9_999)
    expect(failures).toEqual([])
    clock.advance(1)
    expect(failures).toMatchObject([{ code: 'too_slow' }])
    expect(await (ending ?? finish())).toMatchObject({ bytes: 0, failure: { code: 'too_slow' } })
    expect(clock.running).toBe(0)
  })

  it('loses nothing if it catches up', async () => {
    const files = new MemoryFiles()
    const recorder = await startRecording({ path: '/calls/a.wav', format: 'wav', tracks: 'in' }, files)
    for (let i = 0; i < 20; i++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      files.gate = promise
      for (let k = 0; k < 200; k++) recorder.frame(tone, undefined)
      resolve()
      await new Promise(setImmediate)
    }
    recorder.stop()
    expect(await recorder.done).toMatchObject({ end: { kind: 'stopped' }, durationMs: 80_000 })
  })

  it.each(['write', 'sync', 'rename'] as const)('is reported when it cannot %s', async (what) => {
    const files = new MemoryFiles()
    files.failing[what] = 'EIO'
    const { result } = await record('/calls/a.wav', 200, files)
    expect(result).toMatchObject({
      end: { kind: 'error', code: 'EIO' },
      bytes: 0,
      durationMs: 0,
      hasFile: false,
    })
    expect(files.files.has('/calls/a.wav')).toBe(false)
    expect(files.log.at(-1)).toBe('close')
  })

  it('ends the recording at once if writing is forbidden', async () => {
    const files = new MemoryFiles()
    files.failing.open = 'EACCES'
    const { taken, result } = await record('/calls/a.wav', 1000, files)
    expect(taken).toBeLessThan(100)
    expect(result).toMatchObject({ end: { kind: 'error', code: 'EACCES' }, bytes: 0, hasFile: false })
    expect(files.log).toEqual(['open'])
  })

  it('keeps the file if only the folder cannot be synchronised', async () => {
    const files = new MemoryFiles()
    files.failing.folder = 'EIO'
    const { result } = await record('/calls/a.wav', 60, files)
    expect(result).toMatchObject({ end: { kind: 'error', code: 'EIO' }, durationMs: 1200, hasFile: true })
  })

  it('writes the sizes, synchronises and renames in this order', async () => {
    const files = new MemoryFiles()
    await record('/calls/a.wav', 10, files)
    expect(files.log).toEqual(['open', 'write', 'write', 'sync', 'rename', 'folder', 'close'])
  })
})

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { convertToMp4 } from './convert-mp4.ts'

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0
const { signal } = new AbortController()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'convert-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a conversion to MP4', () => {
  it('makes H.264 and AAC of the same duration, with one size of the picture', async ({ skip }) => {
    if (!hasFfmpeg) skip('ffmpeg is not installed')
    const from = join(folder, 'a %d.webm')
    const to = join(folder, 'a %d.mp4.new')
    const inputs = ['-f', 'lavfi', '-i', 'testsrc=s=320x240:d=2', '-f', 'lavfi', '-i', 'sine=d=2']
    const made = spawnSync('ffmpeg', [...inputs, '-c:v', 'libvpx', '-c:a', 'libopus', from])
    expect(made.status).toBe(0)
    await convertToMp4(from, to, { maxMs: 60_000, signal })
    const entries = 'stream=codec_name,width,height:format=duration'
    const { stdout } = spawnSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', to])
    const { streams, format } = JSON.parse(String(stdout))
    expect(streams).toEqual([{ codec_name: 'h264', width: 1280, height: 720 }, { codec_name: 'aac' }])
    expect(Math.abs(format.duration - 2)).toBeLessThan(0.1)
  })

  it('rejects with the words of the program, and opens nothing but files', async ({ skip }) => {
    if (!hasFfmpeg) skip('ffmpeg is not installed')
    const from = join(folder, 'bad.webm')
    writeFileSync(from, 'not a webm')
    await expect(convertToMp4(from, join(folder, 'x'), { maxMs: 60_000, signal })).rejects.toThrow(
      /ffmpeg ended with .*(?:EBML|Invalid)/,
    )
  })

  it('rejects if the program is missing, lasts too long, or is no longer wanted', async () => {
    const run = (program: string, maxMs: number, wanted = signal) =>
      convertToMp4('a', join(folder, 'b'), { maxMs, signal: wanted, program })
    await expect(run('no-such-program', 1000)).rejects.toThrow('ENOENT')
    const slow = join(folder, 'slow')
    writeFileSync(slow, '#!/bin/sh\nexec sleep 60\n', { mode: 0o700 })
    await expect(run(slow, 50)).rejects.toThrow('SIGKILL')
    await expect(run(slow, 60_000, AbortSignal.timeout(50))).rejects.toThrow()
  })
})

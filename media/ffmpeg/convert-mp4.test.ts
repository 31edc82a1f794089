import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../edge/testing/test-clock.ts'
import { mp4Converter } from './convert-mp4.ts'
import { type Ffmpeg, findFfmpeg } from './ffmpeg.ts'
import { FakeFfmpeg } from './testing/fake-ffmpeg.ts'

const options = { maxMs: 60_000, signal: new AbortController().signal }

let installed: Ffmpeg | string
let folder: string
beforeAll(async () => {
  installed = await findFfmpeg('/usr/bin/ffmpeg')
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'convert-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a conversion to MP4', () => {
  it('makes H.264 and AAC of the same duration, with one size of the picture', async ({ skip }) => {
    if (typeof installed === 'string') return skip(`no ffmpeg: ${installed}`)
    const from = join(folder, 'a %d.webm')
    const to = join(folder, 'a %d.mp4.new')
    const inputs = ['-f', 'lavfi', '-i', 'testsrc=s=320x240:d=2', '-f', 'lavfi', '-i', 'sine=d=2']
    const made = spawnSync(installed.program, [...inputs, '-c:v', 'libvpx', '-c:a', 'libopus', from])
    expect(made.status).toBe(0)
    await mp4Converter(installed)(from, to, options)
    const entries = 'stream=codec_name,width,height:format=duration'
    const { stdout } = spawnSync('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', to])
    const { streams, format } = JSON.parse(String(stdout))
    expect(streams).toEqual([{ codec_name: 'h264', width: 1280, height: 720 }, { codec_name: 'aac' }])
    expect(Math.abs(format.duration - 2)).toBeLessThan(0.1)
  })

  it('rejects with the words of ffmpeg', async ({ skip }) => {
    if (typeof installed === 'string') return skip(`no ffmpeg: ${installed}`)
    const from = join(folder, 'bad.webm')
    writeFileSync(from, 'not a webm')
    const converted = mp4Converter(installed)(from, join(folder, 'x'), options)
    await expect(converted).rejects.toThrow(/ffmpeg ended with .*(?:EBML|Invalid)/)
  })

  it('rejects without ffmpeg', async () => {
    await expect(mp4Converter(undefined)('/a', '/b', options)).rejects.toThrow('ffmpeg expected')
  })

  it('ends ffmpeg if it lasts too long, or is no longer wanted', async () => {
    const ffmpeg = new FakeFfmpeg()
    const clock = new TestClock()
    const convert = mp4Converter(ffmpeg, clock)
    const from = join(folder, 'a.webm')
    writeFileSync(from, 'a webm')
    const slow = convert(from, '/b', options)
    clock.advance(60_000)
    await expect(slow).rejects.toThrow('60000 ms')
    const end = new AbortController()
    const unwanted = convert(from, '/b', { ...options, signal: end.signal })
    end.abort()
    await expect(unwanted).rejects.toThrow('ended')
    expect(ffmpeg.processes.map(({ isKilled }) => isKilled)).toEqual([true, true])
    await expect(convert('/a', '/b', { ...options, signal: end.signal })).rejects.toThrow()
    expect(ffmpeg.processes).toHaveLength(2)
  })

  it('feeds ffmpeg the file, and ends it if the file cannot be read', async () => {
    const ffmpeg = new FakeFfmpeg()
    const convert = mp4Converter(ffmpeg)
    const from = join(folder, 'a.webm')
    writeFileSync(from, 'a webm')
    const converted = convert(from, '/b', options)
    const { stdin, args } = ffmpeg.last
    expect(await text(stdin)).toBe('a webm')
    expect(args.slice(0, args.indexOf('-i'))).toContain('-max_pixels')
    expect([args.includes('pipe:0'), args.some((each) => each.includes(from))]).toEqual([true, false])
    ffmpeg.last.end(0)
    await converted
    await expect(convert(folder, '/b', options)).rejects.toThrow('EISDIR')
    expect(ffmpeg.last.isKilled).toBe(true)
  })
})

import { readdir, readFile } from 'node:fs/promises'
import { MPEGDecoder } from 'mpg123-decoder'
import { describe, expect, it } from 'vitest'
import { goertzel, sine } from '../codecs/tone.ts'
import type { RecordRequest } from '../types.ts'
import { Mp3Format } from './mp3-format.ts'
import { type Recorder, startRecording } from './recorder.ts'
import { MemoryFiles } from './testing/recording-files.ts'

/** Delay of the decoder output, in samples. */
const delay = 1105

async function decode(bytes: Uint8Array) {
  const decoder = new MPEGDecoder()
  await decoder.ready
  const { channelData, sampleRate, samplesDecoded, errors } = decoder.decode(bytes)
  const channels = channelData.map((channel) => Float32Array.from(channel))
  decoder.free()
  return { channels, sampleRate, samples: samplesDecoded, errors }
}

/** Writes frames with a tone on each channel; silence for 0 Hz. */
async function say(recorder: Recorder, left: number, right: number, ms: number): Promise<void> {
  const rate = recorder.sampleRate
  const [a, b] = [left, right].map((hz) => (hz ? sine(hz, ms, rate) : new Int16Array((ms * rate) / 1000)))
  for (let at = 0, i = 0; at < a!.length; at += rate / 50, i++) {
    recorder.frame(a!.subarray(at, at + rate / 50), b!.subarray(at, at + rate / 50))
    if (i % 50 === 49) await new Promise(setImmediate)
  }
}

async function recorded(more: Partial<RecordRequest>, speak: (recorder: Recorder) => Promise<void>) {
  const files = new MemoryFiles()
  const recorder = await startRecording({ path: '/calls/a.mp3', format: 'mp3', tracks: 'in', ...more }, files)
  await speak(recorder)
  recorder.stop()
  const result = await recorder.done
  const bytes = files.files.get('/calls/a.mp3')!
  return { result, bytes, ...(await decode(bytes)) }
}

describe('a recording in MP3', () => {
  it.each([
    [8000, 'in', 24],
    [8000, 'stereo', 48],
    [16_000, 'in', 32],
    [16_000, 'stereo', 64],
  ] as const)('at %i Hz, %s, has the recorded sound at %i kbit/s', async (sampleRate, tracks, kilobits) => {
    const { result, bytes, channels, samples, errors, ...rest } = await recorded(
      { sampleRate, tracks },
      (recorder) => say(recorder, 440, 1000, 2010),
    )
    expect([errors, rest.sampleRate]).toEqual([[], sampleRate])
    expect(result).toMatchObject({ end: { kind: 'stopped' }, hasFile: true, bytes: bytes.length })
    expect(result.durationMs).toBe(Math.round((samples * 1000) / sampleRate))
    // The last frames are padded.
    expect(result.durationMs - 2010).toBeLessThan(250)
    expect((bytes.length * 8) / result.durationMs).toBeCloseTo(kilobits, 1)
    const middle = (channel: number) => channels[channel]!.subarray(sampleRate / 2, (sampleRate * 3) / 2)
    expect(goertzel(middle(0), 440, sampleRate)).toBeGreaterThan(0.99)
    if (tracks === 'stereo') expect(goertzel(middle(1), 1000, sampleRate)).toBeGreaterThan(0.99)
    const peak = middle(0).reduce((most, v) => Math.max(most, v), 0)
    expect(peak).toBeCloseTo(8000 / 32_768, 1)
  })

  it('starts with the speech, and contains its last word', async () => {
    const { channels } = await recorded({}, async (recorder) => {
      await say(recorder, 0, 0, 1000)
      await say(recorder, 440, 0, 1000)
    })
    const loud = channels[0]!.map((v) => (Math.abs(v) > 0.1 ? 1 : 0))
    expect(Math.abs(loud.indexOf(1) - 8000 - delay)).toBeLessThan(80)
    expect(Math.abs(loud.lastIndexOf(1) - 16_000 - delay)).toBeLessThan(80)
  })

  it('exists however short it is', async () => {
    const { result, samples } = await recorded({}, (recorder) => say(recorder, 440, 0, 20))
    expect(result.hasFile).toBe(true)
    expect(samples).toBeGreaterThan(160 + delay)
  })

  it('is cut to whole frames if trimmed', async () => {
    const { channels, result, bytes, errors } = await recorded({ trim: true }, async (recorder) => {
      await say(recorder, 0, 0, 2000)
      await say(recorder, 440, 0, 1000)
      await say(recorder, 0, 0, 3000)
    })
    expect(errors).toEqual([])
    expect(bytes.length % 216).toBe(0)
    expect(result.durationMs).toBeGreaterThanOrEqual(180 + 1000 + 200)
    expect(result.durationMs).toBeLessThan(180 + 1000 + 200 + 300)
    const loud = channels[0]!.map((v) => (Math.abs(v) > 0.1 ? 1 : 0))
    expect((loud.lastIndexOf(1) - loud.indexOf(1)) / 8).toBeCloseTo(1000, -2)
  })

  it('keeps whole frames on a full disk', async () => {
    const files = new MemoryFiles()
    files.space = 10_000
    const recorder = await startRecording({ path: '/calls/a.mp3', format: 'mp3', tracks: 'in' }, files)
    for (let i = 0; i < 20 && !recorder.hasEnded; i++) await say(recorder, 440, 0, 1000)
    const result = await recorder.done
    expect(result).toMatchObject({ end: { kind: 'error', code: 'ENOSPC' }, bytes: 46 * 216, hasFile: true })
    expect((await decode(files.files.get('/calls/a.mp3')!)).errors).toEqual([])
  })

  it('starts cleanly with a reused encoder', async () => {
    const first = await recorded({}, (recorder) => say(recorder, 440, 0, 1000))
    for (let i = 0; i < 3; i++) {
      await recorded({ tracks: 'stereo', sampleRate: 16_000 }, (recorder) => say(recorder, 700, 300, 500))
      const again = await recorded({}, (recorder) => say(recorder, 440, 0, 1000))
      expect(again.bytes.equals(first.bytes)).toBe(true)
    }
  })

  it('has its own encoder', async () => {
    const [a, b] = await Promise.all([Mp3Format.create(8000, 1), Mp3Format.create(8000, 1)])
    const silent = new Int16Array(160)
    const parts: Buffer[][] = [[], []]
    for (let i = 0; i < 50; i++) {
      parts[0]!.push(Buffer.from(a.encode(sine(440, 20), undefined)))
      parts[1]!.push(Buffer.from(b.encode(silent, undefined)))
    }
    parts[0]!.push(Buffer.from(a.finish()))
    parts[1]!.push(Buffer.from(b.finish()))
    const quiet = await decode(Buffer.concat(parts[1]!))
    expect(quiet.channels[0]!.every((v) => Math.abs(v) < 0.001)).toBe(true)
    const loud = await decode(Buffer.concat(parts[0]!))
    expect(loud.channels[0]!.some((v) => Math.abs(v) > 0.2)).toBe(true)
  })

  it('loads the encoder from the package', async () => {
    const folder = new URL('../../node_modules/wasm-media-encoders/wasm/', import.meta.url)
    expect(await readdir(folder)).toContain('mp3.wasm')
    expect((await readFile(new URL('mp3.wasm', folder))).subarray(0, 4).toString('latin1')).toBe('\0asm')
  })
})

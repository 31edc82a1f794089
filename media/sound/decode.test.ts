import { describe, expect, it } from 'vitest'
import { dominant, goertzel } from '../codecs/tone.ts'
import { decodeAudio, formatOf } from './decode.ts'
import { aiffFile, floatSine, mp3File, OggWriter, oggOpusFile, wavFile } from './testing/audio-files.ts'

const rates = [8000, 16_000, 48_000] as const
const level = (samples: Int16Array) => Math.sqrt(samples.reduce((sum, v) => sum + v * v, 0) / samples.length)
const fullLevel = (0.5 * 32_768) / Math.SQRT2
/** Without the first and last 100 ms. */
const middle = (samples: Int16Array, rate: number) => samples.subarray(rate / 10, samples.length - rate / 10)
/** Positions of the rising edges of loud parts, in ms. */
const onset = (samples: Int16Array, rate: number) =>
  (samples.findIndex((sample) => Math.abs(sample) > 2000) / rate) * 1000

const text = (value: string) => Buffer.from(value, 'latin1')

describe('AIFF', () => {
  it.each(rates)('keeps a tone at %d Hz', async (rate) => {
    const samples = await decodeAudio(aiffFile(floatSine(1000, 1, 44_100), 44_100), rate, 60)
    expect(samples.length / rate).toBeCloseTo(1, 2)
    expect(goertzel(middle(samples, rate), 1000, rate)).toBeGreaterThan(0.99)
    expect(level(middle(samples, rate)) / fullLevel).toBeGreaterThan(0.9)
  })
})

describe('MP3', () => {
  it.each(rates)('keeps a tone at %d Hz', async (rate) => {
    const file = await mp3File([floatSine(1000, 1, 44_100)], 44_100)
    const samples = await decodeAudio(file, rate, 60)
    expect(samples.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(samples.length / rate).toBeGreaterThan(0.99)
    expect(samples.length / rate).toBeLessThan(1.1)
    expect(goertzel(middle(samples, rate), 1000, rate)).toBeGreaterThan(0.99)
    expect(level(middle(samples, rate)) / fullLevel).toBeGreaterThan(0.9)
  })

  it('mixes stereo down', async () => {
    const file = await mp3File([floatSine(500, 1, 48_000), floatSine(2000, 1, 48_000)], 48_000)
    const samples = middle(await decodeAudio(file, 8000, 60), 8000)
    expect(goertzel(samples, 500)).toBeGreaterThan(0.4)
    expect(goertzel(samples, 2000)).toBeGreaterThan(0.4)
  })

  it('skips tags and damage', async () => {
    const file = await mp3File([floatSine(1000, 2, 16_000)], 16_000)
    const tag = Buffer.concat([text('ID3\x03\0\0\0\0\x07\x68'), Buffer.alloc(1000)])
    for (let at = 2000; at < 16_000; at += 1000) {
      const damaged = Buffer.concat([tag, file])
      damaged.fill(0x55, at, at + 600)
      const samples = await decodeAudio(damaged, 8000, 60)
      expect(samples.length / 8000).toBeGreaterThan(1.7)
      expect(samples.length / 8000).toBeLessThan(2.2)
      expect(dominant(samples.subarray(0, 800))).toBe(1000)
      expect(dominant(samples.subarray(-2400, -1600))).toBe(1000)
    }
  })

  it('is rejected without audio, and if too long', async () => {
    const tag = Buffer.concat([text('ID3\x03\0\0\0\0\x07\x68'), Buffer.alloc(1000)])
    await expect(decodeAudio(tag, 8000, 60)).rejects.toThrow('MP3: audio expected')
    const file = await mp3File([floatSine(1000, 3, 8000)], 8000)
    await expect(decodeAudio(file, 8000, 2)).rejects.toThrow('MP3: at most 2 s expected')
  })

  it('never fails otherwise, with any truncation', async () => {
    const file = await mp3File([floatSine(1000, 0.2, 16_000)], 16_000)
    for (let length = 1; length < file.length; length += 97) {
      const outcome = await decodeAudio(file.subarray(0, length), 8000, 60).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.message).toMatch(/^(MP3|Audio): /)
    }
  })
})

describe('Ogg with Opus', () => {
  it.each(rates)('keeps a tone at %d Hz, and its length to the sample', async (rate) => {
    const samples = await decodeAudio(await oggOpusFile(floatSine(1000, 1, 48_000)), rate, 60)
    expect(samples.length).toBe(rate)
    expect(goertzel(middle(samples, rate), 1000, rate)).toBeGreaterThan(0.99)
    expect(level(middle(samples, rate)) / fullLevel).toBeGreaterThan(0.9)
  })

  it('skips the pre-skip', async () => {
    const silence = new Float32Array(4800)
    const file = (preSkip: number) =>
      oggOpusFile(Float32Array.of(...silence, ...floatSine(1000, 1, 48_000)), { preSkip })
    const plain = onset(await decodeAudio(await file(312), 48_000, 60), 48_000)
    const skipped = onset(await decodeAudio(await file(312 + 2400), 48_000, 60), 48_000)
    expect(plain).toBeGreaterThan(99)
    expect(plain).toBeLessThan(102)
    expect(plain - skipped).toBeCloseTo(50, 5)
  })

  it('applies the output gain', async () => {
    const tone = floatSine(1000, 1, 48_000)
    const plain = await decodeAudio(await oggOpusFile(tone), 8000, 60)
    const louder = await decodeAudio(await oggOpusFile(tone, { gain: -6 * 256 }), 8000, 60)
    expect(level(middle(louder, 8000)) / level(middle(plain, 8000))).toBeCloseTo(10 ** (-6 / 20), 2)
  })

  it('ends where the last page says, also for a recording from within a stream', async () => {
    for (const offset of [0, 1_000_000]) {
      const file = await oggOpusFile(floatSine(1000, 1, 48_000), { end: 312 + 47_040, offset })
      expect((await decodeAudio(file, 16_000, 60)).length).toBe(15_680)
    }
  })

  it('accepts stereo, and tags longer than a page', async () => {
    const tone = floatSine(1000, 1, 48_000)
    const stereo = Float32Array.from({ length: 96_000 }, (_, i) => (i % 2 === 0 ? tone[i / 2]! : 0))
    const samples = await decodeAudio(await oggOpusFile(stereo, { channels: 2, tags: 150_000 }), 8000, 60)
    expect(samples.length).toBe(8000)
    expect(level(middle(samples, 8000)) / fullLevel).toBeCloseTo(0.5, 1)
  })

  const tone = floatSine(1000, 0.5, 48_000)
  const wrong: [string, () => Promise<Buffer>, string][] = [
    ['Vorbis', () => oggOpusFile(tone, { head: (h) => h.write('\x01vorbis\0', 'latin1') }), 'found Vorbis'],
    ['FLAC', () => oggOpusFile(tone, { head: (h) => h.write('\x7fFLAC\0', 'latin1') }), 'found FLAC'],
    [
      'six channels',
      () => oggOpusFile(tone, { head: (h) => h.writeUInt8(6, 9) }),
      '1 or 2 channels expected, found 6',
    ],
    ['ambisonics', () => oggOpusFile(tone, { head: (h) => h.writeUInt8(2, 18) }), 'family 0 or 1'],
    ['a new version', () => oggOpusFile(tone, { head: (h) => h.writeUInt8(16, 8) }), 'version 1'],
    ['no audio', async () => (await oggOpusFile(tone)).subarray(0, 28 + 19), 'audio expected'],
    ['two streams', async () => Buffer.concat([await oggOpusFile(tone), otherStream()]), 'one stream'],
  ]
  const otherStream = () => {
    const writer = new OggWriter(8)
    writer.packets([text('fishead\0')], 0)
    return Buffer.concat(writer.all)
  }
  it.each(wrong)('is rejected with %s', async (name, make, message) => {
    const file = await make()
    // The second stream starts before the end of the first.
    const bytes =
      name === 'two streams' ? Buffer.concat([file.subarray(0, 28 + 19), otherStream(), file]) : file
    await expect(decodeAudio(bytes, 8000, 60)).rejects.toThrow(message)
  })

  it('is rejected if too long', async () => {
    await expect(decodeAudio(await oggOpusFile(tone), 8000, 0.3)).rejects.toThrow('Ogg: at most 0.3 s')
  })

  it('never fails otherwise, with any truncation or damage', async () => {
    const file = await oggOpusFile(tone)
    for (let at = 4; at < file.length; at += 61) {
      const damaged = Buffer.from(file)
      damaged.fill(at, at, at + 5)
      for (const bytes of [file.subarray(0, at), damaged]) {
        const outcome = await decodeAudio(bytes, 8000, 60).catch((error: Error) => error)
        if (outcome instanceof Error) expect(outcome.message).toMatch(/^Ogg: /)
      }
    }
  })
})

describe('audio', () => {
  it('is detected by content', () => {
    expect(formatOf(wavFile(new Float32Array(8), 8000))).toBe('wav')
    expect(formatOf(text('\xff\xfb\x90\0'))).toBe('mp3')
    expect(formatOf(text('FORM\0\0\n\0AIFF'))).toBe('aiff')
    expect(formatOf(text('FORM\0\0\0\0AIFC'))).toBe('aiff')
  })

  const others: [string, string, string][] = [
    ['an empty file', '', 'an empty file'],
    ['a page', '<!doctype html><p>Not found', 'a text or a web page'],
    ['JSON', '{"error":"gone"}', 'a text or a web page'],
    ['FLAC', 'fLaC\0\0\0\x22', 'FLAC'],
    ['MP4', '\0\0\0\x20ftypM4A ', 'MP4'],
    ['AAC', '\xff\xf1\x50\x80', 'AAC'],
    ['another FORM', 'FORM\0\0\0\x04ILBM', 'something else'],
    ['anything', '\x01\x02\x03\x04', 'something else'],
  ]
  it.each(others)('is not %s', (_name, content, found) => {
    expect(() => formatOf(text(content))).toThrow(
      `Audio: WAV, AIFF, MP3 or Ogg with Opus expected, found ${found}`,
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { ComfortNoise } from '../rtp/comfort-noise.ts'
import type { RecordingResult, RecordRequest } from '../types.ts'
import { Recorder, startRecording } from './recorder.ts'
import type { RecordingFormat } from './recording-format.ts'
import { MemoryFiles, type ReadWav, readWavBytes } from './testing/recording-files.ts'
import { WavFormat } from './wav-format.ts'

const request: RecordRequest = { path: '/calls/a.wav', format: 'wav', tracks: 'in' }
const constant = (value: number): Int16Array => new Int16Array(160).fill(value)
const word = sine(400, 20, 8000, 8000)

function noise(level: number): () => Int16Array {
  const maker = new ComfortNoise(5)
  return () => {
    const frame = new Int16Array(160)
    maker.fill(level, frame)
    return frame
  }
}

/** Writes frames until the recording ends, and returns their number. The disk may write after each second. */
async function say(recorder: Recorder, frame: () => Int16Array | undefined, ms: number): Promise<number> {
  for (let i = 0; i < ms / 20; i++) {
    if (recorder.hasEnded) return i
    recorder.frame(frame(), undefined)
    if (i % 50 === 49) await new Promise(setImmediate)
  }
  return ms / 20
}

async function start(more: Partial<RecordRequest> = {}) {
  const files = new MemoryFiles()
  const recorder = await startRecording({ ...request, ...more }, files)
  const read = async (): Promise<ReadWav & { readonly result: RecordingResult }> => {
    const result = await recorder.done
    return { ...readWavBytes(files.files.get(request.path)!), result }
  }
  return { files, recorder, read }
}

describe('a recording', () => {
  it.each([
    ['in', [[100, -100]]],
    ['out', [[7, 9]]],
    ['both', [[107, -91]]],
    [
      'stereo',
      [
        [100, -100],
        [7, 9],
      ],
    ],
  ] as const)('has the tracks of %s', async (tracks, expected) => {
    const { recorder, read } = await start({ tracks })
    recorder.frame(constant(100), constant(7))
    recorder.frame(constant(-100), constant(9))
    recorder.frame(undefined, undefined)
    recorder.stop()
    const { channels, result } = await read()
    expect(channels.map((samples) => [samples[0], samples[160], samples[320]])).toEqual(
      expected.map((values) => [...values, 0]),
    )
    expect(result).toEqual({
      end: { kind: 'stopped' },
      durationMs: 60,
      bytes: 44 + 480 * 2 * channels.length,
      hasFile: true,
    })
  })

  it('contains every sample', async () => {
    const sample = fc.integer({ min: -32_768, max: 32_767 })
    const frame = fc.option(fc.array(sample, { minLength: 1, maxLength: 8 }))
    const full = (some: number[] | null): Int16Array | undefined =>
      some ? Int16Array.from({ length: 160 }, (_, i) => some[i % some.length]!) : undefined
    const frames = fc.array(fc.tuple(frame, frame), { minLength: 1, maxLength: 130 })
    const property = fc.asyncProperty(frames, async (said) => {
      const { recorder, read } = await start({ tracks: 'stereo' })
      for (const [left, right] of said) recorder.frame(full(left), full(right))
      recorder.stop()
      const { channels } = await read()
      for (const side of [0, 1] as const) {
        const expected = said.flatMap((pair) => [...(full(pair[side]) ?? constant(0))])
        expect([...channels[side]!]).toEqual(expected)
      }
    })
    await fc.assert(property, { numRuns: 25 })
  })

  it('mixes without wrapping', async () => {
    const { recorder, read } = await start({ tracks: 'both' })
    recorder.frame(constant(30_000), constant(30_000))
    recorder.frame(constant(-30_000), constant(-30_000))
    recorder.stop()
    const { channels } = await read()
    expect([channels[0]![0], channels[0]![160]]).toEqual([32_767, -32_768])
  })

  it('accepts frames of 16 kHz if requested', async () => {
    const { recorder, read } = await start({ sampleRate: 16_000 })
    expect(recorder.sampleRate).toBe(16_000)
    recorder.frame(new Int16Array(320).fill(5), undefined)
    recorder.stop()
    const { rate, channels, result } = await read()
    expect([rate, channels[0]!.length, result.durationMs]).toEqual([16_000, 320, 20])
  })

  it('leaves no file without audio', async () => {
    const { recorder, files } = await start()
    recorder.stop()
    expect(await recorder.done).toEqual({ end: { kind: 'stopped' }, durationMs: 0, bytes: 0, hasFile: false })
    expect(files.files.size).toBe(0)
  })
})

describe('a recording ends', () => {
  it('after silence of the far end, with or without room noise', async () => {
    for (const quiet of [() => undefined, noise(-60)]) {
      const { recorder, read } = await start({ endSilenceMs: 2000 })
      await say(recorder, () => word, 1000)
      expect(await say(recorder, quiet, 5000)).toBe(100)
      expect((await read()).result).toMatchObject({ end: { kind: 'silence' }, durationMs: 3000 })
    }
  })

  it('not while the far end speaks, nor by a click in silence', async () => {
    const { recorder } = await start({ endSilenceMs: 400 })
    let at = 0
    expect(await say(recorder, () => (at++ % 15 < 2 ? word : undefined), 10_000)).toBe(500)
    at = 0
    // Three frames of silence precede.
    expect(await say(recorder, () => (at++ === 10 ? word : undefined), 10_000)).toBe(17)
    expect((await recorder.done).end).toEqual({ kind: 'silence' })
  })

  it('if the far end never speaks', async () => {
    const { recorder } = await start({ initialSilenceMs: 3000, endSilenceMs: 500 })
    expect(await say(recorder, noise(-65), 10_000)).toBe(150)
    expect((await recorder.done).end).toEqual({ kind: 'no-input' })
    const other = await start({ endSilenceMs: 500 })
    expect(await say(other.recorder, () => undefined, 10_000)).toBe(25)
    expect((await other.recorder.done).end).toEqual({ kind: 'no-input' })
  })

  it.each([
    [undefined, -43, -47],
    [44, -43, -47],
    [24, -33, -37],
    [0, -21, -25],
    [100, -51, -53],
  ] as const)(
    'after silence by its sensitivity (%s: %i dB is not silent, %i dB is)',
    async (sensitivity, said, silent) => {
      const frameOf = (level: number) => sine(400, 20, 8000, 32_767 * 10 ** ((level + 3.01) / 20))
      const request = { ...(sensitivity !== undefined && { sensitivity }), initialSilenceMs: 200 }
      const heard = await start(request)
      expect(await say(heard.recorder, () => frameOf(said), 160)).toBe(8)
      expect(await say(heard.recorder, () => undefined, 400)).toBe(20)
      heard.recorder.stop()
      const deaf = await start(request)
      expect(await say(deaf.recorder, () => frameOf(silent), 400)).toBe(10)
      expect((await deaf.recorder.done).end).toEqual({ kind: 'no-input' })
    },
  )

  it('at its maximum length, without omitted pauses', async () => {
    const { recorder, read } = await start({ maxMs: 1000, endSilenceMs: 300 })
    await say(recorder, () => word, 400)
    recorder.pause('skip')
    recorder.pause('silence')
    await say(recorder, () => undefined, 6000)
    recorder.resume()
    recorder.resume()
    expect(await say(recorder, () => word, 5000)).toBe(30)
    expect((await read()).result).toMatchObject({ end: { kind: 'limit' }, durationMs: 1000 })
  })

  it('at its maximum length including silent pauses, but not by their silence', async () => {
    const { recorder, read } = await start({ maxMs: 2000, endSilenceMs: 300 })
    await say(recorder, () => word, 400)
    recorder.pause('silence')
    await say(recorder, () => undefined, 600)
    recorder.resume()
    expect(await say(recorder, () => word, 5000)).toBe(50)
    expect((await read()).result).toMatchObject({ end: { kind: 'limit' }, durationMs: 2000 })
  })

  it.each([false, true])('in a pause that is never resumed (trim: %s)', async (trim) => {
    const { recorder, read } = await start({ maxMs: 3000, trim })
    await say(recorder, () => word, 1000)
    recorder.pause('silence')
    expect(await say(recorder, () => undefined, 60_000)).toBe(100)
    const { end, durationMs } = (await read()).result
    expect([end, durationMs]).toEqual([{ kind: 'limit' }, trim ? 1200 : 3000])
  })

  it('with a terminator, and with no other digit', async () => {
    const { recorder } = await start({ terminators: '#9' })
    await say(recorder, () => word, 100)
    for (const digit of ['1', '', '*', '#9']) recorder.digit(digit)
    expect(recorder.hasEnded).toBe(false)
    recorder.digit('9')
    recorder.digit('#')
    recorder.stop()
    expect(await recorder.done).toMatchObject({ end: { kind: 'terminator', digit: '9' }, durationMs: 100 })
  })

  it('with an error when the encoder fails, at once or at the end, keeping the audio so far', async () => {
    const fail = (): never => {
      throw new Error('out of memory')
    }
    for (const when of ['encode', 'finish'] as const) {
      const format = new WavFormat(8000, 1)
      const encode = format.encode.bind(format)
      let frames = 0
      if (when === 'finish') format.finish = fail
      else format.encode = (left) => (++frames > 5 ? fail() : encode(left, undefined))
      const files = new MemoryFiles()
      const recorder = new Recorder(request, format, files)
      await say(recorder, () => word, when === 'encode' ? 5000 : 100)
      recorder.stop()
      expect(await recorder.done).toMatchObject({
        end: { kind: 'error', code: 'encoder', message: 'out of memory' },
        durationMs: 100,
        hasFile: true,
      })
      readWavBytes(files.files.get(request.path)!)
    }
  })

  it.each([false, true])(
    'before it is longer than the sizes in a WAV can tell (paused: %s)',
    async (paused) => {
      const files = new MemoryFiles()
      files.open = async () => ({
        write: async (_bytes, _offset, length) => ({ bytesWritten: length }),
        truncate: async () => {},
        sync: async () => {},
        close: async () => {},
      })
      files.rename = async () => {}
      const bytes = new Uint8Array(32 * 1024 * 1024)
      const huge = { bytesPerSecond: bytes.length, begin: () => new Uint8Array(44), encode: () => bytes }
      const rest = {
        finish: () => new Uint8Array(0),
        playable: (length: number) => length,
        header: () => new Uint8Array(0),
      }
      const format = {
        ...huge,
        ...rest,
        durationMs: () => 1,
        lengthOf: () => 0,
        close: () => {},
      } satisfies RecordingFormat
      const recorder = new Recorder(request, format, files)
      if (paused) recorder.pause('silence')
      for (let i = 0; i < 200 && !recorder.hasEnded; i++) {
        recorder.frame(undefined, undefined)
        await new Promise(setImmediate)
      }
      const { end, bytes: length } = await recorder.done
      expect(end).toEqual({ kind: 'limit' })
      expect(length).toBeLessThan(2 ** 32)
      expect(length).toBeGreaterThan(2 ** 32 - 2 * bytes.length)
    },
  )
})

describe('a pause', () => {
  it('is omitted, or silent', async () => {
    const { recorder, read } = await start()
    recorder.frame(constant(1), undefined)
    recorder.pause('skip')
    recorder.frame(constant(2), undefined)
    recorder.resume()
    recorder.frame(constant(3), undefined)
    recorder.pause('silence')
    recorder.frame(constant(4), undefined)
    recorder.resume()
    recorder.frame(constant(5), undefined)
    recorder.stop()
    recorder.pause('skip')
    recorder.frame(constant(6), undefined)
    const { channels } = await read()
    expect([0, 1, 2, 3].map((i) => channels[0]![i * 160])).toEqual([1, 3, 0, 5])
    expect(channels[0]).toHaveLength(640)
  })

  it('keeps the file from counting as abandoned', async () => {
    const { recorder, files } = await start()
    recorder.frame(word, undefined)
    recorder.pause('skip')
    for (let minute = 1; minute <= 3; minute++) {
      await say(recorder, () => undefined, 60_000)
    }
    expect(files.log.filter((what) => what === 'truncate').length).toBeGreaterThanOrEqual(5)
    recorder.stop()
    expect((await recorder.done).durationMs).toBe(20)
  })
})

describe('trimming', () => {
  it('cuts silence off both ends only', async () => {
    const quiet = noise(-62)
    const { recorder, read } = await start({ trim: true })
    await say(recorder, quiet, 3000)
    await say(recorder, () => word, 500)
    await say(recorder, quiet, 4000)
    await say(recorder, () => word, 500)
    await say(recorder, quiet, 6000)
    recorder.stop()
    const { channels, result } = await read()
    // 200 ms at both ends; a word is recognised with its second frame.
    expect(result.durationMs).toBe(180 + 500 + 4000 + 500 + 200)
    expect(channels[0]!.subarray(1440, 1600)).toEqual(word)
    expect(channels[0]!.length).toBe(result.durationMs * 8)
  })

  it('keeps nothing of silence', async () => {
    const { recorder, files } = await start({ trim: true, initialSilenceMs: 1000 })
    await say(recorder, noise(-62), 3000)
    expect(await recorder.done).toMatchObject({ end: { kind: 'no-input' }, hasFile: false })
    expect(files.files.size).toBe(0)
  })

  it('evaluates the recorded side', async () => {
    const { recorder, read } = await start({ trim: true, tracks: 'stereo' })
    for (let i = 0; i < 50; i++) recorder.frame(undefined, undefined)
    for (let i = 0; i < 20; i++) recorder.frame(undefined, word)
    for (let i = 0; i < 50; i++) recorder.frame(undefined, undefined)
    recorder.stop()
    const { channels } = await read()
    expect(channels[0]!.length).toBe((9 + 20 + 10) * 160)
    expect(channels[1]!.subarray(1440, 1600)).toEqual(word)
  })
})

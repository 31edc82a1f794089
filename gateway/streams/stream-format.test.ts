import { describe, expect, it } from 'vitest'
import { sine, toneSnr } from '../../media/codecs/tone.ts'
import { ChunkDecoder, ChunkEncoder, formatOf, tapRateOf } from './stream-format.ts'

type Options = Omit<Parameters<typeof formatOf>[0], 'url'>
const format = (options: Options = {}) => formatOf({ url: '', ...options })

describe('a format', () => {
  it('is µ-law in messages of 20 ms, unless it is said to be another', () => {
    expect(format()).toEqual({ codec: 'PCMU', sampleRate: 8000, packetMs: 20 })
    expect(format({ codec: 'L16' })).toEqual({ codec: 'L16', sampleRate: 16_000, packetMs: 20 })
    for (const sampleRate of [undefined, 8000, 16_000] as const)
      expect(format({ codec: 'G722', ...(sampleRate && { sampleRate }) }).sampleRate).toBe(16_000)
  })

  it.each([
    [{ codec: 'PCMA', sampleRate: 16_000 }, 'PCMA has 8000 samples'],
    [{ codec: 'G722', sampleRate: 24_000 }, 'G722 has 16000, or 8000 samples'],
    [{ packetMs: 30 }, '20 to 120 ms, in steps of 20'],
    [{ packetMs: 0 }, '20 to 120 ms'],
    [{ packetMs: 140 }, '20 to 120 ms'],
  ] as const)('is not %j', (options, message) => {
    expect(() => format(options)).toThrow(expect.objectContaining({ code: 'bad_stream' }))
    expect(() => format(options)).toThrow(message)
  })
})

const formats: readonly (readonly [Options, bytes: number, least: number])[] = [
  [{ codec: 'PCMU' }, 160, 30],
  [{ codec: 'PCMA', packetMs: 60 }, 480, 30],
  [{ codec: 'G722' }, 160, 15],
  [{ codec: 'L16', sampleRate: 8000 }, 320, 60],
  [{ codec: 'L16', packetMs: 40 }, 1280, 60],
  [{ codec: 'L16', sampleRate: 24_000, packetMs: 40 }, 1920, 50],
  [{ codec: 'L16', sampleRate: 48_000 }, 1920, 60],
]

describe.each(formats)('sound as %j', (options, bytes, least) => {
  it('has %i octets a message, and comes back as it was', () => {
    const wanted = format(options)
    const rate = tapRateOf(wanted)
    const encoder = new ChunkEncoder(wanted)
    const decoder = new ChunkDecoder(wanted)
    const input = sine(1000, 480, rate, 8000)
    const heard: number[] = []
    for (let at = 0; at < 480; at += 20) {
      const samples = input.slice((at * rate) / 1000, ((at + 20) * rate) / 1000)
      const chunk = encoder.take({ atMs: at, samples })
      if (!chunk) continue
      expect(chunk.atMs % wanted.packetMs).toBe(0)
      expect(Buffer.from(chunk.payload, 'base64').length).toBe(bytes)
      heard.push(...decoder.read(chunk.payload))
    }
    expect(heard.length).toBe(input.length)
    // The filters have filled by then.
    const settled = Int16Array.from(heard.slice((200 * rate) / 1000))
    expect(toneSnr(settled, 1000, rate)).toBeGreaterThan(least)
  })
})

it('reads audio of any length, and says what is none', () => {
  expect(new ChunkDecoder(format()).read('/85O')).toEqual(Int16Array.from([0, 988, -988]))
  expect(new ChunkDecoder(format()).read('')).toEqual(new Int16Array(0))
  expect(() => new ChunkDecoder(format()).read('<>')).toThrow('media.payload: base64')
  const linear = new ChunkDecoder(format({ codec: 'L16' }))
  expect(linear.read(Buffer.from('e80318fc', 'hex').toString('base64'))).toEqual(
    Int16Array.from([1000, -1000]),
  )
  expect(() => linear.read('AAAA')).toThrow('two octets')
})

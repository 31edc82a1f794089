import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { dominant, goertzel } from '../codecs/tone.ts'
import { FairQueue } from './fair-queue.ts'
import { createSounds } from './sounds.ts'
import { floatSine, mp3File, oggOpusFile, wavFile } from './testing/audio-files.ts'

import { jobsOf, setUp, turn } from './testing/sounds-setup.ts'

describe('speech', () => {
  it('is rendered once for concurrent equal requests, and then cached', async () => {
    const { threads, sounds, seen } = setUp()
    const source = { kind: 'speech', text: 'Hello' } as const
    const both = [sounds.prepare(source), sounds.prepare({ ...source, voice: 'unknown' })]
    await turn()
    threads.answer(8)
    const [first, second] = await Promise.all(both)
    expect(second!.samples).toBe(first!.samples)
    expect((await sounds.prepare(source)).samples).toBe(first!.samples)
    expect(threads.jobs).toEqual([{ voice: 'slt', text: 'Hello', rate: 8000 }])
    expect(seen).toEqual(['built-in ok', 'speech making', 'speech sharing', 'speech memory'])
    const other = sounds.prepare({ ...source, voice: 'rms' })
    await turn()
    expect(threads.jobs.length).toBe(2)
    threads.answer(8)
    await other
  })

  it('is rendered again after a failure', async () => {
    const { threads, sounds } = setUp()
    const failed = sounds.prepare({ kind: 'speech', text: 'Hello' })
    await turn()
    threads.reply({ error: 'Speech: exit code 1' })
    await expect(failed).rejects.toThrow('Speech: exit code 1')
    const again = sounds.prepare({ kind: 'speech', text: 'Hello' })
    await turn()
    threads.answer(8)
    expect((await again).samples.length).toBe(8)
  })

  it('is not cached beyond the limit', async () => {
    const { threads, sounds } = setUp({ cacheBytes: 10 })
    for (let i = 0; i < 2; i++) {
      const said = sounds.prepare({ kind: 'speech', text: 'Hello' })
      await turn()
      threads.answer(8)
      await said
    }
    expect(threads.jobs.length).toBe(2)
  })

  it('is rendered again for another rate', async () => {
    const { threads, sounds } = setUp()
    for (const rate of [8000, 16_000, 48_000] as const) {
      const said = sounds.prepare({ kind: 'speech', text: 'Hello' }, rate)
      await turn()
      threads.answer(8)
      expect((await said).sampleRate).toBe(rate)
    }
    expect(threads.jobs.map(({ rate }) => rate)).toEqual([8000, 16_000, 48_000])
  })

  it('has pauses, and warnings of faulty markup', async () => {
    const { threads, sounds } = setUp()
    const warnings: string[] = []
    const text = 'One<break time="1ms"/>two <blink>'
    const warn = (message: string) => warnings.push(message)
    const said = sounds.prepare({ kind: 'speech', text }, 8000, { warn })
    await turn()
    threads.answer(1)
    await turn()
    threads.answer(1)
    expect([...(await said).samples]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    expect(threads.jobs.map((job) => job.text)).toEqual(['One', 'two'])
    await sounds.prepare({ kind: 'speech', text }, 8000, { warn })
    expect(warnings.filter((warning) => warning.includes('<blink> is not known'))).toHaveLength(2)
  })

  it('is cancelled when no request waits for it', async () => {
    const { threads, sounds, seen } = setUp()
    const controller = new AbortController()
    const given = { signal: controller.signal }
    const first = sounds.prepare({ kind: 'speech', text: 'One' }, 8000, given)
    const second = sounds.prepare({ kind: 'speech', text: 'Two' }, 8000, given)
    await turn()
    controller.abort()
    await expect(first).rejects.toThrow('cancelled')
    await expect(second).rejects.toThrow('cancelled')
    threads.answer(1)
    await turn()
    expect([threads.jobs.length, seen]).toEqual([1, []])
  })

  it('of a long text is joined from its pieces', async () => {
    const { threads, sounds } = setUp()
    const said = sounds.prepare({ kind: 'speech', text: `${'a'.repeat(200)}. ${'b'.repeat(200)}.` })
    await turn()
    threads.answer(2)
    await turn()
    threads.answer(3)
    expect([...(await said).samples]).toEqual([1, 1, 2, 2, 2])
  })

  it('requires an existing voice', () => {
    expect(() => createSounds({ voice: 'unknown' })).toThrow('one of slt')
  })
})

describe('other sounds', () => {
  const { sounds } = setUp()

  it('share one buffer for silence, up to an hour', async () => {
    const longest = (await sounds.prepare({ kind: 'silence', ms: 3_600_000 })).samples
    const short = (await sounds.prepare({ kind: 'silence', ms: 100 })).samples
    expect([longest.length, short.length]).toEqual([28_800_000, 800])
    expect(short.buffer).toBe(longest.buffer)
  })

  it.each([8000, 16_000, 48_000] as const)('are silence of a length at %d Hz', async (rate) => {
    const { samples, sampleRate } = await sounds.prepare({ kind: 'silence', ms: 250 }, rate)
    expect(sampleRate).toBe(rate)
    expect(samples.length).toBe(rate / 4)
    expect(samples.every((sample) => sample === 0)).toBe(true)
    for (const ms of [-1, Number.NaN, 3_600_001]) {
      await expect(sounds.prepare({ kind: 'silence', ms })).rejects.toThrow('0 to 3600000 ms')
      await expect(sounds.prepare({ kind: 'tone', frequencies: [400], ms })).rejects.toThrow('0 to 600000 ms')
    }
  })

  it('include ringing tones, cached by country and rate', async () => {
    const first = await sounds.prepare({ kind: 'ringtone', country: 'uk' })
    expect((await sounds.prepare({ kind: 'ringtone', country: 'GB' })).samples).toBe(first.samples)
    expect(first.samples.length).toBe(24_000)
    expect((await sounds.prepare({ kind: 'ringtone', country: 'uk' }, 48_000)).samples.length).toBe(144_000)
  })

  it('include tones', async () => {
    const tone = { kind: 'tone', frequencies: [1000], ms: 100 } as const
    const { samples } = await sounds.prepare(tone, 16_000)
    expect(goertzel(samples, 1000, 16_000)).toBeGreaterThan(0.95)
    expect((await sounds.prepare({ ...tone }, 16_000)).samples).toBe(samples)
  })
})

describe('audio', () => {
  it('is decoded once for each content and rate', async () => {
    const { sounds, audio, seen } = setUp()
    const source = () => ({ kind: 'audio', bytes: Uint8Array.of(1, 2, 3) }) as const
    const both = [sounds.prepare(source()), sounds.prepare(source())]
    await jobsOf(audio, 1)
    await turn()
    audio.answer(4)
    const [first, second] = await Promise.all(both)
    expect(second!.samples).toBe(first!.samples)
    expect((await sounds.prepare(source())).samples).toBe(first!.samples)
    expect(seen.toSorted()).toEqual(['audio making', 'audio memory', 'audio sharing'])
    const wide = sounds.prepare(source(), 48_000)
    await jobsOf(audio, 2)
    audio.answer(4)
    await wide
    expect(audio.jobs[1]).toMatchObject({ rate: 48_000, maxSeconds: 600 })
  })

  it('counts with an overhead, so that empty sounds are limited', async () => {
    const { sounds, audio, seen } = setUp({ cacheBytes: 3000 })
    for (const byte of [1, 2, 3, 1]) {
      const prepared = sounds.prepare({ kind: 'audio', bytes: Uint8Array.of(byte) })
      const count = audio.jobs.length
      await jobsOf(audio, count + 1)
      audio.answer(0)
      await prepared
    }
    expect(seen).toEqual(Array(4).fill('audio making'))
  })

  it('that is large does not delay the small', async () => {
    const { sounds, audio } = setUp()
    const large = sounds.prepare({ kind: 'audio', bytes: new Uint8Array(600_000) })
    await jobsOf(audio, 1)
    const small = sounds.prepare({ kind: 'audio', bytes: Uint8Array.of(1) })
    await jobsOf(audio, 2)
    audio.answer(4)
    await small
    const closed = expect(large).rejects.toThrow('closed')
    await sounds.close()
    await closed
  })

  it('of one customer does not delay another, even for the same content', async () => {
    const { sounds, audio } = setUp()
    const queued = vi.spyOn(FairQueue.prototype, 'push')
    onTestFinished(() => queued.mockRestore())
    const ask = (customer: string, byte: number) =>
      sounds.prepare({ kind: 'audio', bytes: Uint8Array.of(byte) }, 8000, { customer })
    const flood = [1, 2, 3, 4].map((byte) => ask('p1', byte))
    await vi.waitFor(() => expect(queued).toHaveBeenCalledTimes(4), { timeout: 20_000, interval: 5 })
    const other = ask('p2', 4)
    await vi.waitFor(() => expect(queued).toHaveBeenCalledTimes(5), { timeout: 20_000, interval: 5 })
    for (let i = 0; i < 3; i++) audio.answer(4)
    await other
    const rest = Promise.allSettled(flood)
    await sounds.close()
    expect((await rest).map(({ status }) => status).toSorted()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
  })

  it('is rejected if too large', async () => {
    const { sounds, seen } = setUp({ maxAudioBytes: 10 })
    const bytes = new Uint8Array(11)
    await expect(sounds.prepare({ kind: 'audio', bytes })).rejects.toThrow('Audio: at most 10 bytes')
    expect(seen).toEqual(['audio failure'])
  })

  it('of any format is decoded in the real thread', async () => {
    const sounds = createSounds({ voice: 'slt', maxAudioSeconds: 2 })
    const tone = floatSine(1000, 1, 48_000)
    for (const bytes of [wavFile(tone, 48_000), await mp3File([tone], 48_000), await oggOpusFile(tone)]) {
      const { samples } = await sounds.prepare({ kind: 'audio', bytes }, 16_000)
      expect(samples.buffer).toBeInstanceOf(SharedArrayBuffer)
      expect(dominant(samples, 16_000)).toBe(1000)
    }
    const page = sounds.prepare({ kind: 'audio', bytes: Buffer.from('<html>') })
    await expect(page).rejects.toThrow(
      'Audio: WAV, AIFF, MP3 or Ogg with Opus expected, found a text or a web page',
    )
    const long = sounds.prepare({ kind: 'audio', bytes: wavFile(new Float32Array(24_000), 8000) })
    await expect(long).rejects.toThrow('WAV: at most 2 s expected')
    await sounds.close()
  })
})

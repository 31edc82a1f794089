import { afterAll, describe, expect, it } from 'vitest'
import { FakeThreads, FakeTimers } from './fake-thread.ts'
import { createSounds } from './sounds.ts'

const setUp = (cacheBytes?: number) => {
  const threads = new FakeThreads()
  const sounds = createSounds({
    voice: 'slt',
    cacheBytes,
    timers: new FakeTimers(),
    startThread: threads.start,
  })
  return { threads, sounds }
}
/** Lets the promises that are under way go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('speech', () => {
  it('is rendered once for equal requests at once, and then kept', async () => {
    const { threads, sounds } = setUp()
    const source = { kind: 'speech', text: 'Hello' } as const
    const both = [sounds.prepare(source), sounds.prepare({ ...source, voice: 'nobody' })]
    await turn()
    threads.speak(8)
    const [first, second] = await Promise.all(both)
    expect(second!.samples).toBe(first!.samples)
    expect((await sounds.prepare(source)).samples).toBe(first!.samples)
    expect(threads.jobs).toEqual([{ voice: 'slt', text: 'Hello' }])
    const other = sounds.prepare({ ...source, voice: 'rms' })
    await turn()
    expect(threads.jobs.length).toBe(2)
    threads.speak(8)
    await other
  })

  it('is rendered again after a failure', async () => {
    const { threads, sounds } = setUp()
    const failed = sounds.prepare({ kind: 'speech', text: 'Hello' })
    await turn()
    threads.reply({ error: 'exit code 1' })
    await expect(failed).rejects.toThrow('Speech: exit code 1')
    const again = sounds.prepare({ kind: 'speech', text: 'Hello' })
    await turn()
    threads.speak(8)
    expect((await again).samples.length).toBe(8)
  })

  it('is not kept beyond the limit', async () => {
    const { threads, sounds } = setUp(10)
    for (let i = 0; i < 2; i++) {
      const said = sounds.prepare({ kind: 'speech', text: 'Hello' })
      await turn()
      threads.speak(8)
      await said
    }
    expect(threads.jobs.length).toBe(2)
  })

  it('of a long text is joined from its pieces', async () => {
    const { threads, sounds } = setUp()
    const said = sounds.prepare({ kind: 'speech', text: `${'a'.repeat(200)}. ${'b'.repeat(200)}.` })
    await turn()
    threads.speak(2)
    await turn()
    threads.speak(3)
    expect([...(await said).samples]).toEqual([1, 1, 2, 2, 2])
  })

  it('needs a voice that is there', () => {
    expect(() => createSounds({ voice: 'nobody' })).toThrow('one of slt')
  })
})

describe('other sounds', () => {
  const { sounds } = setUp()

  it('are silence of a length', async () => {
    const { samples, sampleRate } = await sounds.prepare({ kind: 'silence', ms: 250 })
    expect(sampleRate).toBe(8000)
    expect(samples.length).toBe(2000)
    expect(samples.every((sample) => sample === 0)).toBe(true)
    for (const ms of [-1, Number.NaN, 600_001]) {
      await expect(sounds.prepare({ kind: 'silence', ms })).rejects.toThrow('0 to 600000 ms')
      await expect(sounds.prepare({ kind: 'ringtone', ms })).rejects.toThrow('0 to 600000 ms')
    }
  })

  it('are ringing tones, kept by country', async () => {
    const first = await sounds.prepare({ kind: 'ringtone', country: 'uk' })
    expect((await sounds.prepare({ kind: 'ringtone', country: 'GB' })).samples).toBe(first.samples)
    expect(first.samples.length).toBe(24_000)
  })

  it('are WAV files, and a wrong one is refused', async () => {
    await expect(sounds.prepare({ kind: 'wav', bytes: new Uint8Array(100) })).rejects.toThrow('WAV: RIFF')
  })
})

describe('the real voice', () => {
  const sounds = createSounds({ voice: 'slt' })
  afterAll(() => sounds.close())

  it.each(['slt', 'rms', 'awb', 'kal', 'kal16'])('%s says a sentence', { timeout: 20_000 }, async (voice) => {
    const text = 'Hello, welcome to Trunkline. Press one for sales.'
    const { samples } = await sounds.prepare({ kind: 'speech', text, voice })
    expect(samples.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(samples.length / 8000).toBeGreaterThan(2.5)
    expect(samples.length / 8000).toBeLessThan(6)
    const level = Math.sqrt(samples.reduce((sum, v) => sum + v * v, 0) / samples.length)
    expect(level).toBeGreaterThan(800)
    expect(level).toBeLessThan(8000)
  })

  it('does not speak the markup', { timeout: 20_000 }, async () => {
    const plain = await sounds.prepare({ kind: 'speech', text: 'Hello there' })
    const marked = await sounds.prepare({
      kind: 'speech',
      text: '<speak><voice name="x">Hello there</voice></speak>',
    })
    expect(marked.samples).toBe(plain.samples)
  })
})

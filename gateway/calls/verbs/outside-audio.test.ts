import { describe, expect, it } from 'vitest'
import type { CallControl, CallStream, CollectResult } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'

const speech = { language: 'de-AT', hints: ['ja'] }

describe('collecting speech from a call', () => {
  it('recognises the caller from the start of the prompt, and stops it at the first words', async () => {
    const t = setUp()
    let result: CollectResult | undefined
    const sounds = [{ kind: 'speech', text: 'Well?' }] as const
    const { port } = t.arrive(async (call) => {
      result = await call.collect({ prompt: { sounds }, digits: false, speech })
      await call.sleep(1000)
    })
    await settle()
    const [heard] = t.recogniser.opened
    expect(heard?.request).toEqual({ sampleRate: 16_000, language: 'de-AT', hints: ['ja'] })
    expect(port.taps[0]?.request).toEqual({ tracks: 'in', sampleRate: 16_000 })
    port.taps[0]?.hear({ track: 'in', atMs: 0, samples: new Int16Array(320) })
    expect(heard?.heard).toBe(320)
    expect(port.playing).toBeDefined()
    heard?.partial('ja')
    expect(port.playing).toBeUndefined()
    heard?.final('ja', 0.9)
    await settle()
    expect(result).toEqual({ reason: 'speech', digits: '', speech: { text: 'ja', confidence: 0.9 } })
    expect([heard?.state, port.taps[0]?.closed]).toEqual(['closed', true])
  })

  it('survives a listener that fails', async () => {
    const t = setUp()
    let result: CollectResult | undefined
    const onPartial = () => {
      throw new Error('a defect of who listens')
    }
    t.arrive(async (call) => {
      result = await call.collect({ digits: false, speech: { onPartial } })
    })
    await settle()
    t.recogniser.opened[0]?.partial('ja')
    t.clock.advance(1000)
    t.recogniser.opened[0]?.finish()
    await settle()
    expect(result?.speech).toEqual({ text: 'ja' })
  })

  it('goes on with the call when the recogniser fails', async () => {
    const t = setUp()
    let result: CollectResult | undefined
    const { port, leg } = t.arrive(async (call) => {
      result = await call.collect({ digits: false, speech })
      await call.sleep(1000)
    })
    await settle()
    t.recogniser.opened[0]?.fail()
    await settle()
    expect(result).toEqual({ reason: 'error', digits: '' })
    expect([leg.isEnded, port.taps[0]?.closed]).toEqual([false, true])
  })

  it('ends with the call', async () => {
    const t = setUp()
    const { leg, port } = t.arrive((call) => call.collect({ speech }).then(() => {}))
    await settle()
    leg.end({ code: 'normal' })
    await settle()
    expect([t.recogniser.opened[0]?.state, port.taps[0]?.closed]).toEqual(['closed', true])
    expect([t.calls.count, t.clock.running]).toEqual([0, 0])
  })
})

describe('streams of a call', () => {
  const started = async (
    script: (call: CallControl, keep: (stream: CallStream) => void) => Promise<void>,
  ) => {
    const t = setUp()
    const kept: CallStream[] = []
    const made = t.arrive(async (call) => {
      await script(call, (stream) => kept.push(stream))
      await call.sleep(60_000)
    })
    await settle()
    return { ...t, ...made, kept }
  }

  it('answer, receive the caller’s digits beside a collection, and end with the call', async () => {
    let result: CollectResult | undefined
    const t = await started(async (call, keep) => {
      keep(await call.startStream({ url: 'wss://ai.example' }))
      result = await call.collect({ maxDigits: 2 })
    })
    const [stream] = t.streams.started
    expect(t.far.requests).toContain('answer')
    expect(stream?.source.port).toBe(t.port)
    t.leg.digit('4')
    t.leg.digit('2')
    await settle()
    expect(stream?.digits).toEqual(['4', '2'])
    expect(result?.digits).toBe('42')
    stream?.source.sendDigits('9')
    expect(t.far.requests).toContain('digits 9')
    t.leg.end({ code: 'normal' })
    expect(await t.kept[0]?.ended).toEqual({ kind: 'stopped' })
  })

  it('are stopped by name, which is free afterwards', async () => {
    const found: boolean[] = []
    const t = await started(async (call, keep) => {
      keep(await call.startStream({ url: 'wss://a.example', name: 'a' }))
      await expect(call.startStream({ url: 'wss://b.example', name: 'a' })).rejects.toMatchObject({
        code: 'bad_stream',
      })
      found.push(call.stopStream('b'), call.stopStream('a'), call.stopStream('a'))
      keep(await call.startStream({ url: 'wss://c.example', name: 'a' }))
    })
    expect(found).toEqual([false, true, false])
    expect(await t.kept[0]?.ended).toEqual({ kind: 'stopped' })
    expect(t.streams.started.map(({ options }) => options.url)).toEqual([
      'wss://a.example',
      'wss://c.example',
    ])
    t.leg.digit('1')
    expect(t.streams.started.map(({ digits }) => digits)).toEqual([[], ['1']])
  })

  it('are four at once at most', async () => {
    const t = await started(async (call) => {
      for (let i = 0; i < 4; i++) await call.startStream({ url: 'wss://ai.example' })
      await expect(call.startStream({ url: 'wss://ai.example' })).rejects.toMatchObject({
        code: 'bad_stream',
      })
    })
    t.streams.started[0]?.end({ kind: 'closed' })
    await settle()
    expect(t.leg.isEnded).toBe(false)
    expect(t.streams.started).toHaveLength(4)
  })

  it('fail their verb with the fault of the options', async () => {
    const t = setUp()
    t.streams.refusal = Object.assign(new Error('The URL is not one.'), { code: 'bad_stream' })
    let failure: unknown
    t.arrive(async (call) => {
      failure = await call.startStream({ url: 'x' }).catch((error) => error)
      await call.sleep(1000)
    })
    await settle()
    expect(failure).toMatchObject({ name: 'VerbFailed', code: 'bad_stream', message: 'The URL is not one.' })
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeCall } from '../../../handlers/testing/fake-call.ts'
import type { CollectOptions } from '../../../handlers/verbs.ts'
import { nextOf, RealtimeTestGateway } from './testing/realtime-test-gateway.ts'

let gateway: RealtimeTestGateway

beforeEach(async () => {
  gateway = await RealtimeTestGateway.start()
})
afterEach(() => gateway.close())

const v3 = { agent: '@signalwire/nodejs/realtime-api/3.13.0', event_acks: undefined }
const tts = [{ type: 'tts', params: { text: 'Hello' } }]

describe('collect', () => {
  it('reads the collection options, and reports digits', async () => {
    const { ask, application, call } = await gateway.taken()
    call.collects.push({ reason: 'terminator', digits: '12', terminator: '#' })
    const speech = { end_silence_timeout: 2, speech_timeout: 20, language: 'de-DE', hints: ['ja'] }
    const digits = { max: 4, digit_timeout: 3, terminators: '#' }
    await ask('calling.collect', { control_id: 'k', digits, speech, initial_timeout: 7 })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      maxDigits: 4,
      interDigitTimeoutMs: 3000,
      terminators: '#',
      digits: true,
      holdTimers: true,
      initialTimeoutMs: 7000,
      speech: { language: 'de-DE', hints: ['ja'], endSilenceMs: 2000, maxSpeechMs: 20_000 },
    })
    expect(await nextOf(application, 'collect')).toEqual({
      state: 'finished',
      final: true,
      result: { type: 'digit', params: { digits: '12', terminator: '#' } },
    })
  })

  it('reports recognised speech with its confidence in per cent', async () => {
    const { ask, application, call } = await gateway.taken()
    call.collects.push({ reason: 'speech', digits: '', speech: { text: 'yes', confidence: 0.5 } })
    await ask('calling.collect', { control_id: 'k', speech: {}, start_input_timers: true })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({ digits: false, holdTimers: false })
    expect(await nextOf(application, 'collect')).toMatchObject({
      result: { type: 'speech', params: { text: 'yes', confidence: 50 } },
    })
  })

  it('reports partial results and the start of input on request', async () => {
    const { ask, application, call } = await gateway.taken()
    call.during.set('startCollect', (options: CollectOptions) => {
      options.onInput?.('digits')
      options.onDigits?.('1')
      options.speech?.onPartial?.('ye')
    })
    const wishes = { digits: { max: 2 }, speech: {}, partial_results: true, send_start_of_input: true }
    await ask('calling.collect', { control_id: 'k', ...wishes })
    expect(await nextOf(application, 'collect')).toEqual({
      state: 'collecting',
      result: { type: 'start_of_input', params: { type: 'digits' } },
    })
    expect(await nextOf(application, 'collect')).toMatchObject({
      state: 'collecting',
      final: false,
      result: { type: 'digit', params: { digits: '1' } },
    })
    expect(await nextOf(application, 'collect')).toMatchObject({
      state: 'collecting',
      final: false,
      result: { type: 'speech', params: { text: 'ye' } },
    })
  })

  it.each([
    ['no-input', 'no_input'],
    ['error', 'error'],
  ] as const)(
    'returns %s to clients 3.x, and no digits to 4.2, which would otherwise wait for ever',
    async (reason, type) => {
      const old = new FakeCall()
      old.collects.push({ reason, digits: '' })
      const three = await gateway.taken(old, v3)
      await three.ask('calling.collect', { control_id: 'k', digits: { max: 1 } })
      expect(await nextOf(three.application, 'collect')).toMatchObject({
        state: 'finished',
        result: { type },
      })
      await three.application.socket.close()
      const four = await gateway.taken(new FakeCall())
      four.call.collects.push({ reason, digits: '' })
      await four.ask('calling.collect', { control_id: 'k', digits: { max: 1 } })
      expect(await nextOf(four.application, 'collect')).toMatchObject({
        result: { type: 'digit', params: { digits: '', terminator: '' } },
      })
    },
  )

  it('continues until it is stopped in continuous mode', async () => {
    const { ask, application, call } = await gateway.taken(new FakeCall(), v3)
    for (const digits of ['1', '2']) call.collects.push({ reason: 'complete', digits })
    await ask('calling.collect', { control_id: 'k', digits: { max: 1 }, continuous: true })
    for (const digits of ['1', '2'])
      expect(await nextOf(application, 'collect')).toMatchObject({
        state: 'collecting',
        final: true,
        result: { type: 'digit', params: { digits } },
      })
    await ask('calling.collect.start_input_timers', { control_id: 'k' })
    await ask('calling.collect.stop', { control_id: 'k' })
    expect(await nextOf(application, 'collect')).toMatchObject({
      state: 'finished',
      result: { type: 'no_input' },
    })
    expect(call.names).toEqual([...Array(3).fill('startCollect'), 'startTimers', 'stop'])
  })

  it('plays a prompt under the id of the prompt', async () => {
    const { ask, application, call } = await gateway.taken()
    call.collects.push({ reason: 'complete', digits: '7' })
    const id = 'x.prompt'
    await ask('calling.play_and_collect', {
      control_id: id,
      play: tts,
      volume: 2,
      collect: { digits: { max: 1 } },
    })
    expect(call.verbs.at(-1)?.[1]).toMatchObject({
      prompt: { sounds: [{ kind: 'speech', text: 'Hello' }], volumeDb: 2 },
    })
    expect(await application.event('calling.call.collect')).toMatchObject({ control_id: id, final: true })
    expect(await ask('calling.play_and_collect.stop', { control_id: id })).toMatchObject({ code: '404' })
  })
})

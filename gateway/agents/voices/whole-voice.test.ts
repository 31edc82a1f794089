import { expect, test } from 'vitest'
import type { VoiceEngine, VoiceRequest } from '../../../media/types.ts'
import { WholeVoice } from './whole-voice.ts'

const open = (
  speak: (request: VoiceRequest, signal?: AbortSignal) => Promise<Int16Array<SharedArrayBuffer>>,
) => {
  const engine: VoiceEngine = { speak, close: async () => {} }
  const voice = new WholeVoice('flite', engine, 'slt')
  const events: unknown[] = []
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const begin = (options: { voice?: string } = {}) =>
    voice.speak(
      'Hello',
      { rate: 8000, language: 'en', projectId: 'p', ...options },
      {
        onAudio: (samples) => events.push(samples),
        onEnd: () => {
          events.push('end')
          resolve()
        },
        onFailure: ({ kind, message }) => {
          events.push({ kind, message })
          resolve()
        },
      },
    )
  return { begin, events, over }
}

test('the samples of the engine are delivered as a copy', async () => {
  const samples = new Int16Array(new SharedArrayBuffer(4))
  samples.set([1, 2])
  const requests: VoiceRequest[] = []
  const { begin, events, over } = open(async (request) => {
    requests.push(request)
    return samples
  })
  begin({ voice: 'rms' })
  await over
  expect(requests).toEqual([{ text: 'Hello', rate: 8000, voice: 'rms', language: 'en', customer: 'p' }])
  expect(events).toEqual([Int16Array.of(1, 2), 'end'])
  expect((events[0] as Int16Array).buffer).not.toBe(samples.buffer)
})

test('a failure does not contain the message of the engine, which may contain the text', async () => {
  const { begin, events, over } = open(() => Promise.reject(new Error('cannot say Hello')))
  begin()
  await over
  expect(events).toEqual([{ kind: 'server', message: 'the voice flite failed' }])
})

test('cancelling aborts the engine and silences the voice', async () => {
  const given = Promise.withResolvers<AbortSignal>()
  const { begin, events } = open((_request, signal) => {
    given.resolve(signal!)
    return new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(new Error('x'))))
  })
  const utterance = begin()
  const signal = await given.promise
  utterance.cancel()
  expect(signal.aborted).toBe(true)
  await new Promise((resolve) => setImmediate(resolve))
  expect(events).toEqual([])
})

import { expect, test } from 'vitest'
import { FakeVoice } from './testing/fake-parts.ts'
import { call, open, opened, settle, tone } from './testing/open-pipeline.ts'

test('an empty answer has failed', async () => {
  const { model, link, log } = await opened()
  link.commit('Hello')
  model.last.write(' ')
  model.last.end()
  await settle()
  expect(log.take().at(-1)).toBe('A failed')
})

test('a model that fails before its first word is asked once more, then the next one', async () => {
  const { model, spare, link, log, clock } = await opened()
  link.commit('Hello')
  await settle()
  model.last.fail()
  clock.advance(0)
  expect(model.answers).toHaveLength(2)
  model.last.fail()
  spare.model.last.write('Good day. ')
  spare.model.last.fail()
  await settle()
  expect(log.take()).toEqual([
    'A begins',
    'A first token',
    'A1 text Good day.',
    'warning model_server',
    'A1 audio 800',
    'A1 ends',
    'A failed',
  ])
  link.commit('Still there?')
  model.last.fail('limited', 60_000)
  spare.model.last.fail('unauthorised')
  expect(log.take()).toEqual(['failure model unauthorised'])
  link.commit('Hello?')
  expect(log.take()).toEqual([])
})

test('a voice that fails is replaced, in the same piece', async () => {
  const voice = new FakeVoice('broken', false)
  const { model, spare, link, log, warnings } = await opened(
    { languages: [{ name: 'English', code: 'en', voice: 'Acme.rachel', voiceSettings: { speed: 2 } }] },
    voice,
  )
  link.commit('Hello')
  model.last.write('First sentence. Second sentence. Third sentence. ')
  expect(voice.spoken[0]!.options).toEqual({
    rate: 8000,
    projectId: 'p',
    voice: 'rachel',
    language: 'en',
    settings: { speed: 2 },
  })
  voice.spoken[0]!.fail()
  await settle()
  expect(voice.texts).toHaveLength(2)
  expect(spare.voice.texts).toEqual(['First sentence.', 'Third sentence.'])
  voice.spoken[1]!.fail()
  await settle()
  expect(spare.voice.texts.toSorted()).toEqual(['First sentence.', 'Second sentence.', 'Third sentence.'])
  expect(spare.voice.spoken[0]!.options).toEqual({ rate: 8000, projectId: 'p', language: 'en' })
  expect(log.take().filter((line) => line.includes('ends'))).toEqual(['A1 ends', 'A2 ends', 'A3 ends'])
  expect(warnings).toHaveLength(2)
})

test('an unknown voice is replaced by the first one, with a warning', async () => {
  const { log, link, voice } = open({ languages: [{ name: 'English', code: 'en', voice: 'other.one' }] })
  await settle()
  expect(log.take()).toEqual(['ready', 'warning voice_unknown'])
  link.say('Hello to you.')
  expect(voice.texts).toEqual(['Hello to you.'])
})

test('a session without a working voice has failed', async () => {
  const voice = new FakeVoice('broken', false)
  const { spare, link, log } = await opened({ languages: [{ name: 'E', code: 'en', voice: 'spare' }] }, voice)
  spare.voice.speak = voice.speak.bind(voice)
  link.say('Hello to you.')
  voice.spoken[0]!.fail()
  voice.spoken[1]!.fail()
  expect(log.take().at(-1)).toBe('failure voice server')
})

test('a recognition that fails is opened again once, then the next recogniser takes over', async () => {
  const { recogniser, spare, log, link } = await opened()
  recogniser.last.fail()
  expect(recogniser.opened).toHaveLength(2)
  recogniser.last.listener.onTranscript({ text: 'hello', isFinal: true })
  recogniser.last.fail()
  expect(recogniser.opened).toHaveLength(3)
  recogniser.last.fail()
  expect(spare.hearing.opened).toHaveLength(1)
  recogniser.opened[0]!.listener.onTranscript({ text: 'late', isFinal: true })
  link.hear(new Int16Array(160))
  expect(spare.hearing.last.written).toBe(160)
  spare.hearing.last.fail('unauthorised')
  expect(log.take()).toEqual([
    'warning recogniser_failed',
    'heard final hello',
    'warning recogniser_failed',
    'warning recogniser_failed',
    'failure recogniser unauthorised',
  ])
})

test('a change of language waits for the caller to be silent', async () => {
  const { recogniser, link } = await opened()
  for (let i = 0; i < 10; i++) link.hear(tone())
  expect(recogniser.last.voices).toEqual([true])
  link.change({ language: { name: 'German', code: 'de' } })
  expect(recogniser.opened).toHaveLength(1)
  for (let i = 0; i < 10; i++) link.hear(new Int16Array(160))
  expect(recogniser.opened[0]!.voices).toEqual([true, false])
  // The last words are still to come.
  expect(recogniser.opened).toHaveLength(1)
  recogniser.last.listener.onTranscript({ text: 'hello', isFinal: true })
  for (let i = 0; i < 15; i++) link.hear(new Int16Array(160))
  expect(recogniser.opened[0]!.isClosed).toBe(true)
  expect(recogniser.last.request.language).toBe('de')
  for (let i = 0; i < 25; i++) link.hear(new Int16Array(160))
  link.change({ endOfSpeechMs: 400 })
  expect(recogniser.opened).toHaveLength(3)
  for (let i = 0; i < 25; i++) link.hear(new Int16Array(160))
  link.change({ endOfSpeechMs: 400 })
  expect(recogniser.opened).toHaveLength(3)
})

test('a recognition that gives no text is opened again on demand', async () => {
  const { recogniser, link, log } = await opened()
  link.revive()
  expect(recogniser.opened).toHaveLength(2)
  expect(recogniser.opened[0]!.isClosed).toBe(true)
  Object.assign(recogniser, { isStreaming: false })
  link.revive()
  expect(recogniser.opened).toHaveLength(2)
  link.close()
  link.revive()
  expect(recogniser.opened).toHaveLength(2)
  expect(log.take()).toEqual([])
})

test('discarding a prepared answer leaves what is being said', async () => {
  const { model, link, log } = await opened()
  link.say('Welcome to Trunkline.')
  link.prepare('Hello')
  const prepared = model.last
  link.interrupt(undefined, false)
  expect(prepared.isCancelled).toBe(true)
  link.prepare('Hello you')
  link.discard()
  expect(model.last.isCancelled).toBe(true)
  await settle()
  expect(log.take().at(-1)).toBe('A completed')
})

test('after its close, a session does nothing', async () => {
  const { engine, link, log, model, recogniser, clock } = await opened()
  link.commit('Hello')
  link.close()
  expect(engine.running).toBe(0)
  expect(recogniser.last.isClosed).toBe(true)
  expect(model.last.isCancelled).toBe(true)
  link.say('a')
  link.answer(undefined)
  link.interrupt(undefined, false)
  link.message({ role: 'user', content: 'x' }, true)
  link.result(call('x'), 'y', true)
  link.hear(tone())
  await settle()
  expect(log.take()).toEqual([])
  expect(model.answers).toHaveLength(1)
  expect(clock.running).toBe(0)
})

import { expect, test } from 'vitest'
import type { EngineMessage } from '../../engine.ts'
import { FakeVoice } from './testing/fake-parts.ts'
import { call, open, opened, settle } from './testing/open-pipeline.ts'

test('a session is ready after its opening, and hears', async () => {
  const { log, recogniser, link } = open({ hints: ['Trunkline'] })
  expect(log.take()).toEqual([])
  await settle()
  expect(log.take()).toEqual(['ready'])
  expect(recogniser.last.request).toEqual({
    rate: 8000,
    hints: ['Trunkline'],
    isSemantic: true,
    endOfSpeechMs: 700,
    language: 'en-US',
  })
  link.hear(new Int16Array(160))
  recogniser.last.listener.onTranscript({ text: 'hello', isFinal: false })
  recogniser.last.listener.onTurn('eager')
  expect(recogniser.last.written).toBe(160)
  expect(log.take()).toEqual(['heard partial hello', 'turn eager'])
})

test('a turn is answered piece by piece, each with its text', async () => {
  const { model, link, log } = await opened()
  link.commit('Who are you?')
  expect(model.last.messages).toEqual(['system: Be kind.', 'user: Who are you?'])
  await settle()
  expect(log.take()).toEqual(['A begins'])
  model.last.write('I am the agent, at your ')
  await settle()
  expect(log.take()).toEqual(['A first token', 'A1 text I am the agent,', 'A1 audio 800', 'A1 ends'])
  model.last.write('service. What can I do?')
  model.last.end()
  await settle()
  expect(log.take()).toEqual([
    'A2 text at your service.',
    'A3 text What can I do?',
    'A2 audio 800',
    'A2 ends',
    'A3 audio 800',
    'A3 ends',
    'A completed',
  ])
  link.commit('Nothing.')
  expect(model.last.messages.slice(1)).toEqual([
    'user: Who are you?',
    'assistant: I am the agent, at your service. What can I do?',
    'user: Nothing.',
  ])
})

test('the voice begins with the token that ends the first clause', async () => {
  const { model, link, voice } = await opened()
  link.commit('Who are you?')
  for (const token of ['Good', ' day', ' to', ' you']) model.last.write(token)
  await settle()
  expect(voice.texts).toEqual([])
  model.last.write('.')
  await settle()
  expect(voice.texts).toEqual(['Good day to you.'])
})

test('pieces keep their order, and the next one is requested before the former has ended', async () => {
  const voice = new FakeVoice('slow', false)
  const { model, link, log } = await opened({}, voice)
  link.commit('Go on.')
  model.last.write('First sentence. Second sentence. Third sentence. ')
  await settle()
  log.take()
  expect(voice.texts).toEqual(['First sentence.', 'Second sentence.'])
  voice.spoken[1]!.audio(20)
  voice.spoken[1]!.end()
  expect(log.take()).toEqual([])
  voice.spoken[0]!.audio(40)
  expect(log.take()).toEqual(['A1 audio 320'])
  voice.spoken[0]!.end()
  expect(log.take()).toEqual(['A1 ends', 'A2 audio 160', 'A2 ends'])
  expect(voice.texts).toHaveLength(3)
})

test('speech far ahead of the caller is not requested', async () => {
  const voice = new FakeVoice('slow', false)
  const { model, link, clock } = await opened({}, voice)
  link.commit('Tell me a story.')
  model.last.write('Part one is here. Part two is here. Part three is here. Part four is here. ')
  await settle()
  voice.spoken[0]!.audio(30_000)
  voice.spoken[0]!.end()
  expect(voice.texts).toHaveLength(2)
  clock.advance(9_000)
  expect(voice.texts).toHaveLength(2)
  clock.advance(1_000)
  expect(voice.texts).toHaveLength(3)
})

test('a change of the time of day does not move the lead of the speech', async () => {
  const voice = new FakeVoice('slow', false)
  const { model, link, clock } = await opened({}, voice)
  link.commit('Tell me a story.')
  model.last.write('Part one is here. Part two is here. Part three is here. Part four is here. ')
  await settle()
  voice.spoken[0]!.audio(30_000)
  clock.setForward(3_600_000)
  voice.spoken[0]!.end()
  expect(voice.texts).toHaveLength(2)
})

test('a prepared answer has no effect until its turn is committed', async () => {
  const { model, link, log, voice } = await opened()
  link.prepare('Hang up')
  expect(model.last.messages.at(-1)).toBe('user: Hang up')
  model.last.write('Good bye to you. ')
  model.last.end('hangup')
  await settle()
  expect(voice.texts).toEqual(['Good bye to you.'])
  expect(log.take()).toEqual([])
  link.commit('Hang up')
  await settle()
  expect(log.take()).toEqual([
    'A begins',
    'A first token',
    'A1 text Good bye to you.',
    'A1 audio 800',
    'A1 ends',
    'A calls hangup',
    'A completed',
  ])
  expect(model.answers).toHaveLength(1)
  link.result({ id: 'id-hangup', name: 'hangup', args: '{}' }, 'Done.', true)
  expect(model.last.messages.slice(1)).toEqual([
    'user: Hang up',
    'assistant: Good bye to you.',
    'tool: Done.',
  ])
})

test('a prepared answer to another text is thrown away, with its calls', async () => {
  const { model, link, log } = await opened()
  link.prepare('Hang up')
  model.answers[0]!.write('Good bye. ')
  model.answers[0]!.end('hangup')
  link.commit('Hang up the picture')
  await settle()
  expect(log.take()).toEqual(['A begins'])
  expect(model.last.messages.at(-1)).toBe('user: Hang up the picture')
  expect(model.last.messages).toHaveLength(2)
  link.prepare('Wait')
  expect(model.answers).toHaveLength(2)
})

test('a prepared answer is discarded by an interruption, which keeps what was heard before', async () => {
  const { model, link } = await opened()
  link.commit('Hello')
  model.last.write('Good morning to you. ')
  model.last.end()
  await settle()
  link.prepare('And')
  link.interrupt(undefined, false)
  expect(model.last.isCancelled).toBe(true)
  link.commit('And then?')
  expect(model.last.messages).toContain('assistant: Good morning to you.')
})

test('a failed preparation is no failure', async () => {
  const { model, spare, link, log, clock } = await opened()
  link.prepare('Hello')
  model.last.fail('unauthorised')
  spare.model.last.fail('unauthorised')
  clock.advance(0)
  await settle()
  expect(log.take()).toEqual([])
  link.commit('Hello')
  expect(model.answers).toHaveLength(2)
})

test('the model goes on when all of its calls have results', async () => {
  const { model, link, log } = await opened()
  link.commit('Weather and time?')
  model.last.write('One moment please. ')
  model.last.end('weather', 'time')
  await settle()
  expect(log.take().filter((line) => line.includes('calls'))).toEqual(['A calls weather', 'A calls time'])
  link.result(call('time'), 'noon', false)
  expect(model.answers).toHaveLength(1)
  link.result(call('weather'), 'sun', true)
  expect(model.answers).toHaveLength(2)
  expect(model.last.messages.slice(2)).toEqual(['assistant: One moment please.', 'tool: noon', 'tool: sun'])
  await settle()
  expect(log.take()).toEqual(['B begins'])
})

test('results that want no answer are kept for the next one', async () => {
  const { model, link } = await opened()
  link.commit('Note this.')
  model.last.end('note')
  await settle()
  link.result(call('note'), 'noted', false)
  expect(model.answers).toHaveLength(1)
  link.commit('Thanks.')
  expect(model.last.messages.slice(2)).toEqual(['assistant: ', 'tool: noted', 'user: Thanks.'])
})

test('a result is answered while the former answer is still delivered, and follows it', async () => {
  const voice = new FakeVoice('slow', false)
  const { model, link, log } = await opened({}, voice)
  link.commit('Weather?')
  model.last.write('Let me see that. ')
  model.last.end('weather')
  await settle()
  expect(log.take()).toEqual(['A begins', 'A first token', 'A1 text Let me see that.', 'A calls weather'])
  link.result(call('weather'), 'sun', true)
  model.last.write('The sun is shining. ')
  model.last.end()
  await settle()
  expect(log.take()).toEqual([])
  for (const utterance of voice.spoken) {
    utterance.audio(20)
    utterance.end()
  }
  await settle()
  expect(log.take()).toEqual([
    'A1 audio 160',
    'A1 ends',
    'A completed',
    'B begins',
    'B first token',
    'B1 text The sun is shining.',
    'B1 audio 160',
    'B1 ends',
    'B completed',
  ])
})

test('an interruption leaves in the history what was heard', async () => {
  const { model, link, log, voice } = await opened()
  link.commit('Tell me.')
  model.last.write('First of all, listen to me. Then go. And so ')
  await settle()
  log.take()
  const answer = log.idOf('A')
  link.interrupt({ answer, item: `${answer}.1`, ms: 60, text: 'First of' }, false)
  expect(model.last.isCancelled).toBe(true)
  expect(voice.spoken.length).toBeGreaterThan(0)
  await settle()
  expect(log.take()).toEqual(['A cancelled'])
  link.commit('Stop.')
  expect(model.last.messages.slice(1)).toEqual(['user: Tell me.', 'assistant: First of', 'user: Stop.'])
})

test('a delivered answer of which nothing was heard leaves the history', async () => {
  const { model, link } = await opened()
  link.commit('Tell me.')
  model.last.write('First of all, listen. ')
  model.last.end()
  await settle()
  link.interrupt(undefined, false)
  link.commit('Stop.')
  expect(model.last.messages.slice(1)).toEqual(['user: Tell me.', 'user: Stop.'])
})

test('a forgotten answer takes its turn with it, but no function that ran', async () => {
  const { model, link, log } = await opened()
  link.commit('I want to')
  model.last.write('You want what? ')
  await settle()
  link.interrupt({ answer: log.idOf('A'), item: '', ms: 40, text: 'You' }, true)
  link.commit('I want to pay')
  expect(model.last.messages.slice(1)).toEqual(['user: I want to pay'])
  model.last.write('I will charge you. ')
  model.last.end('pay')
  await settle()
  link.result(call('pay'), 'paid', false)
  link.interrupt(undefined, true)
  link.commit('I want to pay ten')
  expect(model.last.messages.slice(1)).toEqual(['assistant: ', 'tool: paid', 'user: I want to pay ten'])
})

test('calls of an answer that never began are not in the history', async () => {
  const voice = new FakeVoice('slow', false)
  const { model, link, log } = await opened({}, voice)
  link.commit('Weather?')
  model.last.write('Let me see that. ')
  model.last.end('weather')
  await settle()
  link.result(call('weather'), 'sun', true)
  model.last.end('more')
  link.interrupt({ answer: log.idOf('A'), item: '', ms: 40, text: 'Let me' }, false)
  await settle()
  expect(log.take().at(-1)).toBe('A cancelled')
  link.commit('Stop')
  expect(model.last.messages.slice(1)).toEqual([
    'user: Weather?',
    'assistant: Let me',
    'tool: sun',
    'user: Stop',
  ])
})

test('a result whose call is no longer in the history brings it along', async () => {
  const { model, link } = await opened()
  link.commit('Start over.')
  model.last.end('reset')
  await settle()
  link.change({ history: [{ role: 'user', content: 'Hi' }], prompt: 'Be short.' })
  link.result(call('reset'), 'done', true)
  const messages: readonly EngineMessage[] = model.last.request.messages
  expect(messages).toEqual([
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '', calls: [call('reset')] },
    { role: 'tool', callId: 'id-reset', name: 'reset', content: 'done' },
  ])
})

test('exact text is spoken as it is, and before an answer that has no words yet', async () => {
  const { model, link, log } = await opened()
  link.say('Welcome to Trunkline. How are you?')
  await settle()
  expect(log.take().filter((line) => line.includes('text'))).toEqual([
    'A1 text Welcome to Trunkline.',
    'A2 text How are you?',
  ])
  link.commit('Fine.')
  await settle()
  link.say('One moment.')
  await settle()
  expect(log.take()).toEqual([
    'B begins',
    'C begins',
    'C1 text One moment.',
    'C1 audio 800',
    'C1 ends',
    'C completed',
  ])
  model.last.write('I am glad. ')
  model.last.end()
  await settle()
  expect(log.take()).toEqual([
    'B first token',
    'B1 text I am glad.',
    'B1 audio 800',
    'B1 ends',
    'B completed',
  ])
})

test('instructions are the last message, and messages are answered when wanted', async () => {
  const { model, link } = await opened()
  link.answer('Greet the caller.')
  expect(model.last.messages).toEqual(['system: Be kind.', 'system: Greet the caller.'])
  link.message({ role: 'user', content: 'Text' }, true)
  expect(model.answers).toHaveLength(1)
  model.last.write('Good morning. ')
  model.last.end()
  await settle()
  expect(model.answers).toHaveLength(2)
  expect(model.last.messages.slice(1)).toEqual(['user: Text', 'assistant: Good morning.'])
})

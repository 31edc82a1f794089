import { expect, it } from 'vitest'
import { opened, tone } from './testing/open-pipeline.ts'

const german = { name: 'German', code: 'de' }
const kinds = [
  ['a stream', true, 100],
  ['files', false, 400],
] as const

const setUp = async (isStreaming = true) => {
  const { recogniser, link, log } = await opened()
  Object.assign(recogniser, { isStreaming })
  return {
    link,
    log,
    recogniser,
    voice: (frames = 10) => {
      for (let i = 0; i < frames; i++) link.hear(tone())
    },
    silence: (frames: number) => {
      for (let i = 0; i < frames; i++) link.hear(new Int16Array(160))
    },
    heard: (text: string) => recogniser.opened[0]!.listener.onTranscript({ text, isFinal: true }),
    isChanged: () => recogniser.opened.length > 1,
  }
}

it.each(kinds)('waits at most some seconds for words: %s', async (_what, isStreaming, frames) => {
  const { link, voice, silence, isChanged } = await setUp(isStreaming)
  voice()
  link.change({ language: german })
  silence(10 + frames - 1)
  expect(isChanged()).toBe(false)
  silence(1)
  expect(isChanged()).toBe(true)
})

it.each(kinds)('waits no longer if noise begins again and again: %s', async (_what, isStreaming, frames) => {
  const { link, voice, silence, isChanged } = await setUp(isStreaming)
  voice()
  link.change({ language: german })
  // 65 silent frames follow the end of each noise, and three more pass before the next one counts as voice.
  for (let silent = 0; silent < frames; silent += 68) {
    expect(isChanged()).toBe(false)
    silence(75)
    voice()
  }
  expect(isChanged()).toBe(true)
})

it('does not begin the wait anew with another change', async () => {
  const { link, voice, silence, isChanged } = await setUp()
  voice()
  link.change({ language: german })
  for (let i = 0; i < 11; i++) {
    link.change({ hints: [`word ${i}`] })
    silence(10)
  }
  expect(isChanged()).toBe(true)
})

it('waits for the texts of all files', async () => {
  const { link, log, voice, silence, heard, isChanged } = await setUp(false)
  voice()
  silence(20)
  voice()
  silence(20)
  link.change({ language: german })
  silence(5)
  heard('one')
  silence(50)
  expect(isChanged()).toBe(false)
  heard('two')
  silence(1)
  expect(isChanged()).toBe(true)
  expect(log.take()).toEqual(['heard final one', 'heard final two'])
})

it('takes no words for owed that files did not have long ago', async () => {
  const { link, voice, silence, heard, isChanged } = await setUp(false)
  voice()
  silence(420)
  voice()
  silence(20)
  heard('one')
  link.change({ language: german })
  expect(isChanged()).toBe(true)
})

it('waits for the further final texts of a stream', async () => {
  const { link, log, voice, silence, heard, isChanged } = await setUp()
  voice()
  link.change({ language: german })
  silence(12)
  heard('one')
  silence(14)
  expect(isChanged()).toBe(false)
  heard('two')
  silence(14)
  expect(isChanged()).toBe(false)
  silence(1)
  expect(isChanged()).toBe(true)
  expect(log.take()).toEqual(['heard final one', 'heard final two'])
})

it('awaits no words that have come before the end of the voice', async () => {
  const { link, voice, silence, heard, isChanged } = await setUp()
  voice()
  link.change({ language: german })
  heard('one')
  silence(24)
  expect(isChanged()).toBe(false)
  silence(1)
  expect(isChanged()).toBe(true)
})

it('awaits words after a final text that came while the caller spoke', async () => {
  const { link, voice, silence, heard, isChanged } = await setUp()
  voice()
  link.change({ language: german })
  heard('one')
  voice(1)
  silence(60)
  expect(isChanged()).toBe(false)
})

import { expect, it } from 'vitest'
import { VoiceTable } from './voice-table.ts'

const table = {
  'polly.*': { engine: 'cloud', voice: 'nova', language: 'en-US' },
  'polly.Vicki': { engine: 'cloud', voice: 'onyx', language: 'de-DE' },
  'polly.v*': { engine: 'built-in', voice: 'rms' },
  house: { engine: 'cloud' },
}

it('finds voices by name, by the closest beginning, and else the default', () => {
  const voices = new VoiceTable(table, 'house')
  expect(voices.choose('Polly.Joanna', undefined)).toEqual(table['polly.*'])
  expect(voices.choose('polly.vicki', undefined)).toEqual(table['polly.Vicki'])
  expect(voices.choose('polly.Victor', undefined)).toEqual(table['polly.v*'])
  expect(voices.choose('KAL', undefined)).toEqual({ engine: 'built-in', voice: 'kal' })
  for (const name of [undefined, '', 'woman', 'alice', 'constructor'])
    expect(voices.choose(name, undefined)).toEqual({ engine: 'cloud' })
  expect(voices.choose('polly.Joanna', 'fr-FR')).toEqual({ ...table['polly.*'], language: 'fr-FR' })
})

it('takes man and woman for built-in voices where the default is one', () => {
  const voices = new VoiceTable({}, 'slt')
  expect(voices.choose('man', undefined)).toEqual({ engine: 'built-in', voice: 'rms' })
  expect(voices.choose('nobody', undefined)).toEqual({ engine: 'built-in', voice: 'slt' })
})

it('needs a default that is there', () => {
  expect(() => new VoiceTable(table, 'nobody')).toThrow('one of slt')
})

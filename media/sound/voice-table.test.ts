import { expect, it } from 'vitest'
import { type VoiceChoice, VoiceTable } from './voice-table.ts'

const table = {
  'polly.*': { engine: 'cloud', voice: 'nova', language: 'en-US' },
  'polly.Vicki': { engine: 'cloud', voice: 'onyx', language: 'de-DE' },
  'polly.v*': { engine: 'built-in', voice: 'rms' },
  house: { engine: 'cloud' },
}

it('finds voices by name, by the closest beginning, and else the default', () => {
  const voices = new VoiceTable(table, 'house')
  const found = (choice: VoiceChoice) => ({ choice, warnings: [] })
  expect(voices.choose('Polly.Joanna', undefined)).toEqual(found(table['polly.*']))
  expect(voices.choose('polly.vicki', undefined)).toEqual(found(table['polly.Vicki']))
  expect(voices.choose('polly.Victor', undefined)).toEqual(found(table['polly.v*']))
  expect(voices.choose('KAL', undefined)).toEqual(found({ engine: 'built-in', voice: 'kal' }))
  for (const name of [undefined, '', 'woman'])
    expect(voices.choose(name, undefined)).toEqual(found({ engine: 'cloud' }))
  expect(voices.choose('polly.Joanna', 'fr-FR')).toEqual(found({ ...table['polly.*'], language: 'fr-FR' }))
})

it('takes man and woman for built-in voices where the default is one', () => {
  const voices = new VoiceTable({}, 'slt')
  expect(voices.choose('man', undefined).choice).toEqual({ engine: 'built-in', voice: 'rms' })
})

it.each(['alice', 'constructor', '../x', 'x'.repeat(60)])(
  'has the default speak for %s, and says so',
  (name) => {
    const { choice, warnings } = new VoiceTable(table, 'house').choose(name, undefined)
    expect(choice).toEqual({ engine: 'cloud' })
    expect(warnings).toEqual([
      expect.stringMatching(/^The voice ".{1,40}" is not known; the default voice speaks$/),
    ])
  },
)

it.each(['..', 'de/../../admin', 'de\r\nX-Evil: 1', 'de-', '-'.repeat(60), `de${'-a'.repeat(20)}`, 'ü'])(
  'has the own language of the voice for %j, and says so',
  (language) => {
    const { choice, warnings } = new VoiceTable(table, 'house').choose('polly.Vicki', language)
    expect(choice).toEqual(table['polly.Vicki'])
    expect(warnings).toEqual([
      expect.stringMatching(/^The language ".{1,60}" is not one of BCP 47; it is left out$/),
    ])
  },
)

it.each(['de', 'de-AT', 'en_US', 'zh-cmn-Hans-CN', 'cmn-CN', 'es-419', 'x-house-style'])(
  'takes the language %s',
  (language) => {
    const { choice, warnings } = new VoiceTable(table, 'house').choose(undefined, language)
    expect([choice.language, warnings]).toEqual([language, []])
  },
)

it('needs a default that is there', () => {
  expect(() => new VoiceTable(table, 'nobody')).toThrow('one of slt')
})

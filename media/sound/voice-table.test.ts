import { expect, it } from 'vitest'
import { type VoiceChoice, type VoiceEntry, VoiceTable } from './voice-table.ts'

const table = {
  'polly.*': { engine: 'cloud', voice: 'nova', language: 'en-US' },
  'polly.Vicki': { engine: 'cloud', voice: 'onyx', language: 'de-DE' },
  'polly.v*': { engine: 'built-in', voice: 'rms' },
  house: { engine: 'cloud' },
}

it('finds voices by name, by the longest prefix, and else the default', () => {
  const voices = new VoiceTable(table, 'house')
  const found = (choice: VoiceChoice) => ({ choice, warnings: [] })
  expect(voices.choose({ name: 'Polly.Joanna' })).toEqual(found(table['polly.*']))
  expect(voices.choose({ name: 'polly.vicki' })).toEqual(found(table['polly.Vicki']))
  expect(voices.choose({ name: 'polly.Victor' })).toEqual(found(table['polly.v*']))
  expect(voices.choose({ name: 'KAL' })).toEqual(found({ engine: 'built-in', voice: 'kal' }))
  for (const name of [undefined, '', 'woman'])
    expect(voices.choose({ name })).toEqual(found({ engine: 'cloud' }))
  expect(voices.choose({ name: 'polly.Joanna', language: 'fr-FR' })).toEqual(
    found({ ...table['polly.*'], language: 'fr-FR' }),
  )
})

it('uses built-in voices for man and woman if the default is one', () => {
  const voices = new VoiceTable({}, 'slt')
  expect(voices.choose({ name: 'man' }).choice).toEqual({ engine: 'built-in', voice: 'rms' })
})

it.each(['alice', 'constructor', '../x', 'x'.repeat(60)])(
  'has the default speak for %s, and says so',
  (name) => {
    const { choice, warnings } = new VoiceTable(table, 'house').choose({ name })
    expect(choice).toEqual({ engine: 'cloud' })
    expect(warnings).toEqual([
      expect.stringMatching(/^The voice ".{1,40}" is not known; the default voice speaks$/),
    ])
  },
)

it.each(['..', 'de/../../admin', 'de\r\nX-Evil: 1', 'de-', '-'.repeat(60), `de${'-a'.repeat(20)}`, 'ü'])(
  'has the own language of the voice for %j, and says so',
  (language) => {
    const { choice, warnings } = new VoiceTable(table, 'house').choose({ name: 'polly.Vicki', language })
    expect(choice).toEqual(table['polly.Vicki'])
    expect(warnings).toEqual([
      expect.stringMatching(/^The language ".{1,60}" is not one of BCP 47; it is left out$/),
    ])
  },
)

it.each(['de', 'de-AT', 'en_US', 'zh-cmn-Hans-CN', 'cmn-CN', 'es-419', 'x-house-style'])(
  'takes the language %s',
  (language) => {
    const { choice, warnings } = new VoiceTable(table, 'house').choose({ language })
    expect([choice.language, warnings]).toEqual([language, []])
  },
)

const gendered: Record<'anna' | 'otto' | 'ian' | 'plain', VoiceEntry> = {
  anna: { engine: 'cloud', voice: 'anna', language: 'de-DE', gender: 'female' },
  otto: { engine: 'cloud', voice: 'otto', language: 'de', gender: 'male' },
  ian: { engine: 'cloud', voice: 'ian', language: 'en-GB', gender: 'male' },
  plain: { engine: 'cloud' },
}

it.each([
  ['anna', { gender: 'female' }, 'anna'],
  ['anna', { gender: 'Male' }, 'otto'],
  ['anna', { gender: 'man', language: 'en-US' }, 'ian'],
  ['plain', { gender: 'male' }, 'otto'],
  ['ian', { gender: 'male', language: 'de' }, 'ian'],
  ['ian', { name: 'woman', language: 'de-AT' }, 'anna'],
  ['anna', { name: 'Anna', gender: 'male' }, 'anna'],
  ['anna', { name: 'woman', gender: 'male' }, 'otto'],
  ['slt', { gender: 'male' }, 'otto'],
  ['slt', { gender: 'male', language: 'fr' }, 'rms'],
  ['kal', { gender: 'female', language: 'en' }, 'slt'],
  ['kal', { gender: 'male' }, 'kal'],
])('with the default %s selects for %j the voice %s', (fallback, wanted, voice) => {
  const { choice, warnings } = new VoiceTable(gendered, fallback).choose(wanted)
  expect([choice.voice, warnings]).toEqual([voice, []])
  expect(choice).not.toHaveProperty('gender')
})

it('infers the gender of an entry without a voice from the built-in default', () => {
  const voices = new VoiceTable({ house: { engine: 'built-in', language: 'en' } }, 'rms')
  expect(voices.choose({ gender: 'male' }).choice.voice).toBe('rms')
  expect(voices.choose({ gender: 'female' }).choice.voice).toBe('slt')
})

it('uses the default if no voice has the gender, and warns if it is known to be of the other', () => {
  const warning = 'No voice is known to be male; the default voice speaks'
  const known = new VoiceTable({ anna: gendered.anna }, 'anna').choose({ gender: 'male' })
  expect([known.choice.voice, known.warnings]).toEqual(['anna', [warning]])
  expect(new VoiceTable({ plain: gendered.plain }, 'plain').choose({ gender: 'male' }).warnings).toEqual([])
  const french = new VoiceTable(gendered, 'anna').choose({ gender: 'male', language: 'fr' })
  expect([french.choice, french.warnings]).toEqual([
    { engine: 'cloud', voice: 'anna', language: 'fr' },
    [warning],
  ])
})

it('uses the gender for an unknown voice too, and ignores an invalid one', () => {
  const voices = new VoiceTable(gendered, 'anna')
  const unknown = voices.choose({ name: 'Polly.Matthew', gender: 'male' })
  expect(unknown.choice.voice).toBe('otto')
  expect(unknown.warnings).toEqual(['The voice "Polly.Matthew" is not known; another speaks'])
  const neither = voices.choose({ gender: 'x'.repeat(60) })
  expect(neither.choice.voice).toBe('anna')
  expect(neither.warnings).toEqual([
    expect.stringMatching(/^The gender "x{30}…" is neither male nor female; it is left out$/),
  ])
})

it('requires an existing default', () => {
  expect(() => new VoiceTable(table, 'unknown')).toThrow('one of slt')
})

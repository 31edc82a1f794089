import { describe, expect, it } from 'vitest'
import { builtInText, piecesOf, voiceByName } from './built-in-text.ts'

describe('text for the built-in voice', () => {
  it('is plain ASCII on one line', () => {
    expect(builtInText('  Caf\u00e9\u0000\n na\u00efve \u2019tis \u201cso\u201d\u2026 \u{1f600} ')).toBe(
      'Cafe naive \'tis "so"...',
    )
  })

  it('is rejected if nothing is left', () => {
    for (const nothing of ['', ' ', '...', '\u4f60\u597d'])
      expect(() => builtInText(nothing)).toThrow('letters or digits')
  })

  it('selects voices by name and by synonym', () => {
    expect(['SLT', ' man', 'woman', 'alice', 'toString'].map(voiceByName)).toEqual([
      'slt',
      'rms',
      'slt',
      undefined,
      undefined,
    ])
  })
})

describe('long texts', () => {
  it('stay whole up to 250 characters', () => {
    expect(piecesOf('One. Two.')).toEqual(['One. Two.'])
  })

  it('are cut after a sentence, else a clause, else a word', () => {
    const words = (count: number) => 'word '.repeat(count).trim()
    expect(piecesOf(`${words(40)}. ${words(40)}.`)).toEqual([`${words(40)}.`, `${words(40)}.`])
    expect(piecesOf(`${words(40)}, ${words(40)}.`)).toEqual([`${words(40)},`, `${words(40)}.`])
    expect(piecesOf(words(60))).toEqual([words(50), words(10)])
  })

  it('lose no character and make no long piece', () => {
    const text = `${'x'.repeat(600)} ${'Some words, and more. '.repeat(60)}`.trim()
    const pieces = piecesOf(text)
    expect(pieces.every((piece) => piece.length <= 251)).toBe(true)
    expect(pieces.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
  })
})

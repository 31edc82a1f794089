import { describe, expect, it } from 'vitest'
import { glyphs } from './glyphs.ts'
import { drawText, type TextMask } from './lettering.ts'

const textOf = ({ alpha, width }: TextMask): string =>
  Array.from({ length: alpha.length / width }, (_, row) =>
    [...alpha.subarray(row * width, (row + 1) * width)].map((a) => (a > 127 ? '#' : ' ')).join(''),
  ).join('\n')

const isSame = (a: string, b: string) => textOf(drawText(a, 30, 900)) === textOf(drawText(b, 30, 900))

/** Returns the rows of a text that have ink. */
const inkedRows = (text: string): number[] => {
  const { alpha, width, height } = drawText(text, 30, 900)
  return Array.from({ length: height }, (_, row) => row).filter((row) =>
    alpha.subarray(row * width, (row + 1) * width).some((a) => a > 127),
  )
}

describe('a text', () => {
  it.each(Object.keys(glyphs))('has a picture for %s, within its height', (letter) => {
    const { alpha, width, height } = drawText(letter, 30, 900)
    expect([width % 2, height, alpha.length]).toEqual([0, 30, width * height])
    expect(inkedRows(letter).length).toBeGreaterThan(1)
  })

  it('has all letters of Latin-1 and Latin Extended-A, each with its own accent', () => {
    const letters = Array.from({ length: 0x180 - 0xc0 }, (_, at) => String.fromCodePoint(0xc0 + at)).filter(
      (letter) => /\p{L}/u.test(letter),
    )
    expect(letters.filter((letter) => isSame(letter, '?'))).toEqual([])
    const pictures = [...'eèéêëēĕėęě'].map((letter) => textOf(drawText(letter, 30, 900)))
    expect(new Set(pictures).size).toBe(10)
    // The same letter from parts.
    expect(isSame('é', 'e\u0301')).toBe(true)
  })

  it('keeps accents above and below their letter', () => {
    expect(Math.min(...inkedRows('Á'))).toBeLessThan(Math.min(...inkedRows('A')) - 2)
    expect(Math.min(...inkedRows('á'))).toBeLessThan(Math.min(...inkedRows('a')) - 2)
    expect(Math.max(...inkedRows('ç'))).toBeGreaterThan(Math.max(...inkedRows('c')) + 2)
    // The accent takes the place of the dot.
    expect(isSame('ī', 'i\u0304')).toBe(true)
    expect(Math.min(...inkedRows('ı'))).toBeGreaterThan(Math.min(...inkedRows('i')))
  })

  it('has other letters as Latin ones, a question mark for each run of unknown ones, and no box', () => {
    expect(isSame('Ирина Щукина', 'Irina Shchukina')).toBe(true)
    expect(isSame('Ελένη', 'Eleni')).toBe(true)
    expect(isSame('王小明 Li', '? Li')).toBe(true)
    expect(isSame('O’Brien', "O'Brien")).toBe(true)
    expect(isSame('a\u200db\u202e', 'ab')).toBe(true)
    expect(isSame('\ud800', '?') || drawText('\ud800', 30, 900).width === 0).toBe(true)
  })

  it('is cut with an ellipsis where it is too long, and is empty where nothing fits', () => {
    const long = drawText('The Right Honourable Wolfgang von Nowhere', 20, 100)
    expect(long.width).toBeLessThanOrEqual(100)
    expect(textOf(long).trimEnd().length).toBeGreaterThan(0)
    expect(drawText('W', 20, 6).width).toBe(0)
    expect(drawText('', 20, 100).width).toBe(0)
    expect(drawText(' \u0301', 20, 100).width).toBe(0)
    expect(drawText('x'.repeat(10_000), 20, 1280).width).toBeLessThanOrEqual(1280)
  })
})

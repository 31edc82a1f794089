import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heardOfItem, heardText } from './heard-text.ts'

describe('heard text', () => {
  const text = 'one two three four'

  it('has whole words, by the share of the audio', () => {
    expect(heardOfItem({ text, heardMs: 0, totalMs: 1800 })).toBe('')
    expect(heardOfItem({ text, heardMs: 900, totalMs: 1800 })).toBe('one two')
    expect(heardOfItem({ text, heardMs: 300, totalMs: 1800 })).toBe('one')
    expect(heardOfItem({ text, heardMs: 1800, totalMs: 1800 })).toBe(text)
  })

  it('follows the times of the engine', () => {
    const times = [
      { end: 3, ms: 1000 },
      { end: 7, ms: 1100 },
      { end: 13, ms: 1200 },
      { end: 18, ms: 1800 },
    ]
    expect(heardOfItem({ text, heardMs: 1150, totalMs: 1800, times })).toBe('one two')
    expect(heardOfItem({ text, heardMs: 999, totalMs: 1800, times })).toBe('')
  })

  it('assumes the usual pace while audio is still to come', () => {
    expect(heardOfItem({ text, heardMs: 300, totalMs: 300, isComplete: false })).toBe('one')
    expect(heardOfItem({ text, heardMs: 5000, totalMs: 5000, isComplete: false })).toBe(text)
  })

  it('ends at the first item that was cut', () => {
    expect(
      heardText([
        { text: 'Hello.', heardMs: 500, totalMs: 500 },
        { text, heardMs: 900, totalMs: 1800 },
        { text: 'never', heardMs: 10, totalMs: 10 },
      ]),
    ).toBe('Hello. one two')
  })

  it('is always a beginning of the text, and grows with the time', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(2000), fc.nat(2000), (any, a, b) => {
        const less = Math.min(a, b)
        const more = Math.max(a, b)
        const short = heardOfItem({ text: any, heardMs: less, totalMs: 2000 })
        expect(any.startsWith(short)).toBe(true)
        expect(heardOfItem({ text: any, heardMs: more, totalMs: 2000 }).startsWith(short)).toBe(true)
      }),
    )
  })
})

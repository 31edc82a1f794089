import { expect, it } from 'vitest'
import { type Characters, jsonDepth } from './json.ts'

it('finds how deep brackets are nested, without those inside of strings', () => {
  expect(jsonDepth('')).toBe(0)
  expect(jsonDepth('7')).toBe(0)
  expect(jsonDepth('{"a":[{"b":[]},1]}')).toBe(4)
  expect(jsonDepth('[[],[],[]]')).toBe(2)
  expect(jsonDepth(String.raw`["[[[","\"[[","\\",["\u005b["]]`)).toBe(2)
  // A bracket that closes nothing makes no room for more.
  expect(jsonDepth('[[[')).toBe(3)
  expect(jsonDepth('"never closed [[[[')).toBe(0)
  expect(jsonDepth(String.raw`\"[[`)).toBe(0)
})

/** A text that counts how often a character of it is read. */
const counted = (text: string): Characters & { readonly reads: number } => {
  let reads = 0
  return {
    length: text.length,
    charCodeAt: (at) => {
      reads++
      return text.charCodeAt(at)
    },
    get reads() {
      return reads
    },
  }
}

it.each(['\\"', '"', '\\', '[', '"\\\\', '["', '"a"', '{"\\""', ']['])(
  'reads each character of %j over and over no more than once',
  (pump) => {
    const text = counted(pump.repeat((512 << 10) / pump.length))
    jsonDepth(text)
    expect(text.reads).toBeLessThanOrEqual(text.length)
  },
)

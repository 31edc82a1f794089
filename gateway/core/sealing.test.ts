import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Sealing } from './sealing.ts'

const secret = new Uint8Array(32).fill(5)
const sealing = new Sealing(secret, 'tests')

it('gives back what was sealed, and never shows it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 8 }), fc.string(), (text, context) => {
      const sealed = sealing.seal(text, context)
      expect(sealing.open(sealed, context)).toBe(text)
      expect(sealing.seal(text, context)).not.toBe(sealed)
      expect(Buffer.from(sealed, 'base64url').includes(text)).toBe(false)
    }),
  )
})

it('opens nothing that was changed, cut off, moved elsewhere, or sealed for another purpose', () => {
  const sealed = sealing.seal('a secret', 'row 1')
  const bytes = Buffer.from(sealed, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    expect(() => sealing.open(changed.toString('base64url'), 'row 1')).toThrow()
    expect(() => sealing.open(bytes.subarray(0, at).toString('base64url'), 'row 1')).toThrow()
  }
  expect(() => sealing.open(sealed, 'row 2')).toThrow()
  expect(() => new Sealing(secret, 'others').open(sealed, 'row 1')).toThrow()
  expect(() => new Sealing(new Uint8Array(32), 'tests').open(sealed, 'row 1')).toThrow()
})

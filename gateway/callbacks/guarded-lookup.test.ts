import { expect, it } from 'vitest'
import { literalOf } from './guarded-lookup.ts'

it('knows an address from a name', () => {
  expect(literalOf({ hostname: '[::1]' })).toBe('::1')
  expect(literalOf({ hostname: '127.0.0.1' })).toBe('127.0.0.1')
  expect(literalOf({ hostname: 'ai.example' })).toBeUndefined()
})

import { expect, test } from 'vitest'
import { urlWith } from './url-with.ts'

test('parameters of the URL take precedence, lists are repeated', () => {
  expect(
    urlWith('wss://a.b/c?model=mine', { model: 'x', n: 1, is: true, keys: ['a b', 'c'], no: undefined }),
  ).toBe('wss://a.b/c?model=mine&n=1&is=true&keys=a+b&keys=c')
})

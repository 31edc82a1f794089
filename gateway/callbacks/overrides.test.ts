import { expect, it } from 'vitest'
import { readOverrides } from './overrides.ts'

it('reads times, retries and what they are for', () => {
  expect(readOverrides('https://x.example/a#ct=300&rt=4000&tt=9000&rc=2&rp=ct,5xx')).toEqual({
    connectMs: 300,
    readMs: 4000,
    totalMs: 9000,
    retries: 2,
    retryOn: new Set(['ct', '5xx']),
  })
  expect(readOverrides('https://x.example/a#ot=300')).toEqual({ connectMs: 300 })
})

it('keeps them within bounds', () => {
  expect(readOverrides('https://x.example/#ct=1&rt=99999&tt=99999&rc=99')).toEqual({
    connectMs: 100,
    readMs: 15_000,
    totalMs: 15_000,
    retries: 5,
  })
})

it.each([
  'https://x.example/',
  'https://x.example/#',
  'https://x.example/#section',
  'https://x.example/#ct=-1&rt=x&rp=7',
])('finds none in %s', (url) => {
  expect(readOverrides(url)).toEqual({})
})

import { expect, it } from 'vitest'
import { slugOf } from './names.ts'

it.each([
  ['Main line', 'main-line'],
  ['  --Main__line!! ', 'main__line'],
  ['a--b', 'a--b'],
  ['Ünïcödé', 'n-c-d'],
  ['---', ''],
  ['', ''],
  ['x'.repeat(100), 'x'.repeat(60)],
  [`${'-'.repeat(500_000)}!`, ''],
])('makes %.20j into a part of an address', (text, slug) => {
  expect(slugOf(text)).toBe(slug)
})

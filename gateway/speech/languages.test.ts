import { expect, it } from 'vitest'
import { urlOf } from './languages.ts'

const table = { de: 'ws://de', 'de-CH': 'ws://ch', '': 'ws://none' }

it.each([
  ['de-AT-1996', 'ws://de'],
  ['DE-ch', 'ws://ch'],
  [' de ', 'ws://de'],
  ['en', undefined],
  ['', undefined],
  [undefined, undefined],
])('of %j is %j', (language, url) => {
  expect(urlOf(language, table)).toBe(url)
})

it('is not looked for where no language can be meant, however long that is', () => {
  const looked: string[] = []
  const watched = { ...table, [`de${'-a'.repeat(40)}`]: 'ws://long' }
  for (const language of ['de/..', `de${'-a'.repeat(40)}`, 'de-\n'])
    looked.push(urlOf(language, watched) ?? 'none')
  expect(looked).toEqual(['none', 'none', 'none'])
})

import { expect, it } from 'vitest'
import { unheardText } from './unheard-text.ts'

const text = 'This call is recorded. Press one for sales, two for service. Goodbye.'

it.each([
  ['', text],
  ['This call', text],
  ['this call is recorded', 'Press one for sales, two for service. Goodbye.'],
  ['This call is recorded. Press one for', 'Press one for sales, two for service. Goodbye.'],
  ['This call is recorded. Press one for sales, two for service.', 'Goodbye.'],
  [text, ''],
])('After “%s”, the text goes on with “%s”.', (spoken, rest) => {
  expect(unheardText(text, spoken)).toBe(rest)
})

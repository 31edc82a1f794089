import { expect, it } from 'vitest'
import { withoutUrlSecrets } from './secret-mask.ts'

it.each([
  ['https://me:pass@app.example/x?token=1#part', 'https://(secret)@app.example/x?(secret)#part'],
  ['https://me:p@ss@app.example/x', 'https://(secret)@app.example/x'],
  ['wss://app.example/a@b', 'wss://app.example/a@b'],
  ['Is it 10:30? Call me@example.com.', 'Is it 10:30? Call me@example.com.'],
])('of a URL, user and query are hidden: %s', (text, shown) => {
  expect(withoutUrlSecrets(text)).toBe(shown)
})

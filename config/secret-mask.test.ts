import { expect, it } from 'vitest'
import { maskedLine, withoutUrlSecrets } from './secret-mask.ts'

it.each([
  ['https://me:pass@app.example/x?token=1#part', 'https://(secret)@app.example/x?(secret)#part'],
  ['https://me:p@ss@app.example/x', 'https://(secret)@app.example/x'],
  ['wss://app.example/a@b', 'wss://app.example/a@b'],
  ['Is it 10:30? Call me@example.com.', 'Is it 10:30? Call me@example.com.'],
])('of a URL, user and query are hidden: %s', (text, shown) => {
  expect(withoutUrlSecrets(text)).toBe(shown)
})

it('the path of a URL for streams is hidden in a line, with its key', () => {
  const line = '- { url: "rtmps://live.example/app/key?sign=1", rtmp://b.example/a/b }'
  expect(maskedLine(line, 0, [])).toBe(
    `- { url: "rtmps://live.example/${'•'.repeat(14)}", rtmp://b.example/••• }`,
  )
})

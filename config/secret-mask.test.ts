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

it.each([
  ['- { url: "rtmps://live.example/', 'app/key?sign=1', '", streams: 3 }'],
  ['url: "rtmp://h/', 'app/my key', '"'],
  ['url: "rtmp://h/', 'app/a\\"my key', '" # main'],
  ["url: 'rtmp://h/", "app/it''s my key", "', next: 1"],
  ['url: "rtmp://h/', 'app/my key', ''],
  ['url: "rtmp://h/', "app/it's \\", ''],
  ['url: rtmp://h/', 'app/my key, "b" }', ''],
  ['url: "rtmp://my host/', 'app/key', '"'],
  ['args: "-f flv rtmp://h/', 'app/my key"', ''],
])('the path of a URL for streams is hidden in a line, with its key: %s', (start, secret, end) => {
  expect(maskedLine(start + secret + end, 0, [])).toBe(start + '•'.repeat(secret.length) + end)
})

it('hides the paths of URLs for streams in linear time', () => {
  const started = performance.now()
  for (const part of ['rtmp://', 'rtmp://h/', '"rtmp://h/\\', "'rtmp://h/''"])
    maskedLine(part.repeat(20_000 / part.length), 0, [])
  expect(performance.now() - started).toBeLessThan(2_000)
})

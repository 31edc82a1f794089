import { expect, it } from 'vitest'
import { redirectUriFault } from './redirect-uris.ts'

it.each([
  'https://app.example/callback',
  'https://app.example:8443/a/b?x=1',
  'http://localhost:5173/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:9000/',
])('a web client may have %s', (uri) => {
  expect(redirectUriFault(uri, false)).toBeUndefined()
})

it.each([
  'com.example.app:/oauth',
  'com.example.app://callback',
  'http://127.0.0.1/cb',
  'https://app.example/cb',
])('a native client may have %s', (uri) => {
  expect(redirectUriFault(uri, true)).toBeUndefined()
})

it.each([
  ['callback', 'absolute'],
  ['/callback', 'absolute'],
  ['https://app.example/*', 'absolute'],
  ['https://app.example/a b', 'absolute'],
  ['https:\\\\app.example', 'absolute'],
  ['https://app.example/cb#part', 'fragment'],
  ['https://app.example/cb#', 'fragment'],
  ['https://user@app.example/cb', 'user'],
  ['https://app.example/a/../cb', '..'],
  ['https://app.example/a/%2e%2E/cb', '..'],
  ['http://app.example/cb', 'https'],
  ['http://localhost.app.example/cb', 'https'],
  ['com.example.app:/oauth', 'native'],
])('rejects %s for a web client', (uri, word) => {
  expect(redirectUriFault(uri, false)).toContain(word)
})

it.each(['javascript:alert(1)', 'data:text/html,x', 'myapp:/cb', 'file:///etc/passwd'])(
  'rejects %s for a native client',
  (uri) => {
    expect(redirectUriFault(uri, true)).toContain('domain name')
  },
)

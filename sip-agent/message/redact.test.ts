import { expect, it } from 'vitest'
import { redactMessage } from './redact.ts'

const invite = (lines: readonly string[], body = '') =>
  ['INVITE sip:1@x.example SIP/2.0', 'Call-ID: c-1', ...lines, '', body].join('\r\n')

it.each([
  [
    'the response of a digest',
    'Authorization: Digest username="ann", realm="x", nonce="n", response="0a1b", cnonce="c1"',
    'Authorization: Digest username="ann", realm="x", nonce="n", response="[redacted]", cnonce="[redacted]"',
  ],
  [
    'a response without quotes, for a proxy',
    'PROXY-AUTHORIZATION : digest response=0a1b,username="ann"',
    'PROXY-AUTHORIZATION : digest response="[redacted]",username="ann"',
  ],
  [
    'a folded response',
    'Authorization: Digest username="ann",\r\n response="0a1b"',
    'Authorization: Digest username="ann",\r\n response="[redacted]"',
  ],
  ['a token', 'Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  [
    'a token after a folded field',
    'Subject: one\r\n two\r\nproxy-authorization: Bearer abc.def',
    'Subject: one\r\n two\r\nproxy-authorization: Bearer [redacted]',
  ],
  [
    'the proof of a server',
    'Authentication-Info: rspauth="0a1b", qop=auth',
    'Authentication-Info: rspauth="[redacted]", qop=auth',
  ],
])('removes %s', (_what, line, redacted) => {
  expect(redactMessage(invite([line, 'Max-Forwards: 70']))).toBe(invite([redacted, 'Max-Forwards: 70']))
})

it('keeps challenges, which hold no secret', () => {
  const text = invite(['WWW-Authenticate: Digest realm="x", nonce="n"'])
  expect(redactMessage(text)).toBe(text)
})

it('removes the keys of media', () => {
  const sdp = [
    'm=audio 1 RTP/SAVP 0',
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20',
    'a=crypto:2 AES_256_CM_HMAC_SHA1_80 inline:abc',
    'k=clear:secret',
    'a=ice-pwd:secret',
    'a=fingerprint:sha-256 AA:BB',
  ].join('\r\n')
  expect(redactMessage(invite([], sdp))).toBe(
    invite(
      [],
      [
        'm=audio 1 RTP/SAVP 0',
        'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:[redacted]',
        'a=crypto:2 AES_256_CM_HMAC_SHA1_80 inline:[redacted]',
        'k=[redacted]',
        'a=ice-pwd:[redacted]',
        'a=fingerprint:sha-256 AA:BB',
      ].join('\r\n'),
    ),
  )
})

it('removes the secrets of a message after empty lines', () => {
  const message = (token: string, key: string) =>
    `\r\n\r\n${invite([`Authorization: Bearer ${token}`], `k=${key}`)}`
  expect(redactMessage(message('abc', 'def'))).toBe(message('[redacted]', '[redacted]'))
  expect(redactMessage('\r\n\r\n')).toBe('\r\n\r\n')
})

it.each([
  'Content-Type: application/dtmf-relay',
  'c : application/dtmf',
  'Content-Type:\r\n application/dtmf-relay',
  'Content-Type: \r\n \t\r\n  application/dtmf-relay',
])('removes the digits of an INFO with %j', (field) => {
  for (const start of ['', '\r\n']) {
    const text = `${start}INFO sip:1@x SIP/2.0\r\n${field}\r\n\r\nSignal=7\r\nDuration=160\r\n`
    expect(redactMessage(text)).not.toContain('7')
  }
})

it('reads hostile texts in linear time', () => {
  const took = (text: string) => {
    const began = performance.now()
    redactMessage(text)
    return performance.now() - began
  }
  for (const part of [
    'response=',
    'Authorization: ',
    'a=crypto:',
    '\r\n ',
    ' ',
    '\r\na=crypto:1 inline',
    '\r\n',
    '\r\nc:',
  ])
    expect(
      took(invite([`Authorization: Digest ${part.repeat(60_000 / part.length)}`], part.repeat(10_000))),
    ).toBeLessThan(500)
})

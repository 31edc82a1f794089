import { describe, expect, it } from 'vitest'
import { isResponse, userAgentOf } from './scan.ts'

const request = (...lines: string[]) =>
  Buffer.from(['OPTIONS sip:1@a.example SIP/2.0', 'Via: x', ...lines, '', ''].join('\r\n'))

describe('the User-Agent', () => {
  it.each([
    [request('User-Agent: Friendly-Scanner'), ' friendly-scanner'],
    [request('USER-AGENT \t: SIPVicious'), ' sipvicious'],
    [request('User-Agent:', '\tsundayddr', 'To: x'), '\r\n\tsundayddr\r'],
    [Buffer.from('OPTIONS sip:a SIP/2.0\nuser-agent:x\n\n'), 'x'],
    [request('X-User-Agent: friendly-scanner'), ''],
    [Buffer.from('INVITE sip:a SIP/2.0\r\nTo: x\r\n\r\nv=0\r\nUser-Agent: sipvicious\r\n'), ''],
    [Buffer.from(`INVITE sip:a SIP/2.0\r\nX: ${'y'.repeat(8_000)}\r\nUser-Agent: sipvicious\r\n\r\n`), ''],
    [Buffer.alloc(0), ''],
  ])('is found without a parser: %#', (bytes, expected) => {
    expect(userAgentOf(bytes).trimEnd()).toBe(expected.trimEnd())
  })

  it('is found in a part of a larger buffer', () => {
    const whole = Buffer.concat([Buffer.from('\nUser-Agent: other\r\n'), request('User-Agent: sipcli')])
    expect(userAgentOf(whole.subarray(20))).toBe(' sipcli\r')
  })
})

it.each([
  ['SIP/2.0 200 OK', true],
  ['\r\n\r\nsip/2.0 200 OK', true],
  ['SIP', false],
  ['INVITE sip:1@a.example SIP/2.0', false],
  ['sip:1@a.example', false],
  ['\r\n', false],
  ['', false],
])('%j is a response: %s', (text, expected) => {
  expect(isResponse(Buffer.from(text))).toBe(expected)
})

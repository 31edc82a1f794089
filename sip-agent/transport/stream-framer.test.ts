import { describe, expect, it } from 'vitest'
import { defaultMessageLimits } from '../message/limits.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { inviteText } from '../testing/messages.ts'
import { StreamFramer } from './stream-framer.ts'

const kinds = (framer: StreamFramer, text: string) =>
  [...framer.push(Buffer.from(text))].map((item) => item.kind)

describe('a stream', () => {
  it('is split into messages independent of its segments', () => {
    const whole = Buffer.from(inviteText.repeat(3))
    for (const size of [1, 7, 100, whole.length]) {
      const framer = new StreamFramer(defaultMessageLimits)
      let messages = 0
      for (let at = 0; at < whole.length; at += size) {
        for (const item of framer.push(whole.subarray(at, at + size))) if (item.kind === 'message') messages++
      }
      expect([size, messages, framer.isPartial]).toEqual([size, 3, false])
    }
  })
  it('answers a double CRLF between messages, not a single one', () => {
    const framer = new StreamFramer(defaultMessageLimits)
    expect(kinds(framer, `\r\n\r\n${inviteText}\r\n`)).toEqual(['ping', 'message'])
  })
  it.each([1, 2, 3])('answers a double CRLF that arrives in pieces of %i', (size) => {
    const framer = new StreamFramer(defaultMessageLimits)
    const came = (text: string) =>
      (text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).flatMap((piece) => kinds(framer, piece))
    expect(came('\r\n\r\n')).toEqual(['ping'])
    expect(came(`\r\n${inviteText}\r\n`)).toEqual(['message'])
    expect([came(inviteText), came('\r\n')]).toEqual([['message'], []])
  })
  it('continues after a message with malformed headers', () => {
    const framer = new StreamFramer(defaultMessageLimits)
    const bad = inviteText.replace('314159 INVITE', 'x INVITE')
    expect(kinds(framer, bad + inviteText)).toEqual(['bad', 'message'])
  })
  it.each([
    ['a line that is too long', `X-Long: ${'x'.repeat(9_000)}`],
    ['a line without a colon', 'no colon'],
    ['a control character', 'X-Odd: \u0001'],
  ])('continues after the body of a message with %s', (_what, line) => {
    const framer = new StreamFramer(defaultMessageLimits)
    const bad = inviteText.replace('Content-Length', `${line}\r\nContent-Length`)
    expect(kinds(framer, bad + inviteText)).toEqual(['bad', 'message'])
    const pieces = (bad + inviteText).match(/.{1,1000}/gs) ?? []
    expect(pieces.flatMap((piece) => kinds(framer, piece))).toEqual(['bad', 'message'])
  })
  it.each([
    ['two lengths', 'l: 4\r\nContent-Length: 9'],
    ['a folded length', 'Content-Length:\r\n 4'],
    ['no number as length', 'Content-Length: 4x'],
    ['no length', 'X-Other: 4'],
    ['a length beyond the limit', 'Content-Length: 70000'],
  ])('ends at a malformed head with %s', (_what, line) => {
    const framer = new StreamFramer(defaultMessageLimits)
    const bad = inviteText.replace('Content-Length: 4', `no colon\r\n${line}`)
    expect(() => kinds(framer, bad + inviteText)).toThrow(SipParseError)
  })
  it('ends at a malformed start line', () => {
    const framer = new StreamFramer(defaultMessageLimits)
    expect(() => kinds(framer, inviteText.replace('SIP/2.0', 'HTTP/1.1'))).toThrow(SipParseError)
  })
  it('ends without Content-Length', () => {
    const framer = new StreamFramer(defaultMessageLimits)
    expect(() => kinds(framer, inviteText.replace('Content-Length: 4\r\n', ''))).toThrow(SipParseError)
  })
  it.each(['Content-Length: 99999999', 'Content-Length: 4\r\nX: y'])('ends at its limits (%s)', (line) => {
    const framer = new StreamFramer({ ...defaultMessageLimits, messageBytes: 500 })
    expect(() => kinds(framer, inviteText.replace('Content-Length: 4', line))).toThrow(
      expect.objectContaining({ status: 413 }),
    )
  })
  it('limits the size of a head', () => {
    const framer = new StreamFramer({ ...defaultMessageLimits, messageBytes: 500 })
    expect(kinds(framer, 'INVITE sip:a@b SIP/2.0\r\nX: ')).toEqual([])
    expect(() => kinds(framer, 'x'.repeat(600))).toThrow(expect.objectContaining({ status: 413 }))
  })
})

import { describe, expect, it } from 'vitest'
import type { SipRequest } from '../../message/message.ts'
import { message } from '../../testing/messages.ts'
import { hasLooped, loopMark, ownMark } from '../loops.ts'
import { defaultUnderstood } from '../options.ts'
import { refusalOf } from './refusals.ts'

/** A request with changed or added lines. */
const request = (lines: Record<string, string> = {}, uri = 'sip:b@h', method = 'INVITE', body = '') => {
  const headers: Record<string, string> = {
    Via: 'SIP/2.0/UDP 192.0.2.9;branch=z9hG4bK1',
    From: '<sip:a@b>;tag=f',
    To: '<sip:b@h>',
    'Call-ID': 'c',
    CSeq: `1 ${method}`,
    ...lines,
    'Content-Length': String(body.length),
  }
  const text = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return message(`${method} ${uri} SIP/2.0\r\n${text.join('')}\r\n${body}`) as SipRequest
}

const facts = { understood: new Set(defaultUnderstood), isLooped: false, isMerged: false }

describe('a request is rejected', () => {
  it.each([
    ['an unknown method', request({}, 'sip:b@h', 'DANCE'), 501],
    ['a telephone number, where it is no call', request({}, 'tel:+4930123', 'OPTIONS'), 416],
    ['a telephone number in a call', request({ To: '<sip:b@h>;tag=t' }, 'tel:+4930123'), 416],
    ['another scheme', request({}, 'unknown:x'), 416],
    ['an unknown extension', request({ Require: 'sec-agree' }), 420],
    ['a packed body', request({ 'Content-Encoding': 'gzip' }, 'sip:b@h', 'INVITE', 'zip'), 415],
  ])('for %s', (_what, given, status) => {
    expect(refusalOf(given, facts)?.status).toBe(status)
  })
  it('but not for a tel URI without a domain in an INVITE, which the application can reject', () => {
    expect(refusalOf(request({}, 'tel:+4930123'), facts)).toBeUndefined()
  })
  it('but not for Max-Forwards 0 in a call, which ends at the agent', () => {
    expect(refusalOf(request({ 'Max-Forwards': '0' }), facts)).toBeUndefined()
  })
  it('with headers that help the sender', () => {
    const headers = (given: SipRequest) => Object.fromEntries(refusalOf(given, facts)?.headers ?? [])
    expect(headers(request({}, 'sip:b@h', 'DANCE'))).toMatchObject({
      Allow: expect.stringContaining('PRACK'),
    })
    expect(headers(request({ Require: '100rel, New, other' }))).toEqual({ Unsupported: 'new, other' })
    const packed = request({ 'Content-Encoding': 'gzip' }, 'sip:b@h', 'INVITE', 'zip')
    expect(headers(packed)).toEqual({ 'Accept-Encoding': 'identity' })
  })
  it('if it came by two paths or has looped', () => {
    expect(refusalOf(request(), { ...facts, isMerged: true })?.status).toBe(482)
    expect(refusalOf(request(), { ...facts, isLooped: true })?.status).toBe(482)
  })
  it('for its option tags only if they are not supported', () => {
    expect(refusalOf(request({ Require: 'timer,REPLACES' }), facts)).toBeUndefined()
    const none = { ...facts, understood: new Set<string>() }
    expect(refusalOf(request({ Require: 'timer' }), none)?.status).toBe(420)
  })
})

describe('a request is accepted', () => {
  it.each([
    ['in a dialog without hops', request({ 'Max-Forwards': '0', To: '<sip:b@h>;tag=t' })],
    ['for a sips URI', request({}, 'sips:b@h')],
    ['with a body that is not packed', request({ 'Content-Encoding': 'identity' }, 'sip:b@h', 'INVITE', 'x')],
    ['with Proxy-Require, which is for others', request({ 'Proxy-Require': 'new' })],
  ])('%s', (_what, given) => {
    expect(refusalOf(given, facts)).toBeUndefined()
  })
})

describe('a Via of the agent', () => {
  const back = (mark: string, uri = 'sip:b@h', tag = '') => {
    const via = `SIP/2.0/UDP proxy.example;branch=z9hG4bK2, SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1${mark}`
    return hasLooped(request({ Via: via, To: `<sip:b@h>${tag}` }, uri))
  }
  it('identifies a request that the agent made and that has returned, except within a dialog', () => {
    expect([back(ownMark), back(ownMark, 'sip:c@h'), back(ownMark, 'sip:b@h', ';tag=t')]).toEqual([
      true,
      true,
      false,
    ])
  })
  it('distinguishes a forwarded request that returns unchanged from one that was routed anew', () => {
    expect([back(loopMark('sip:b@h')), back(loopMark('sip:b@h'), 'sip:c@h')]).toEqual([true, false])
  })
  it('is distinguished from that of another sender', () => {
    expect([back('.0123456789ab'), hasLooped(request())]).toEqual([false, false])
  })
})

import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { MessageTrace } from './message-trace.ts'

const local = { protocol: 'udp', address: '192.0.2.1', port: 5060 } as const
const remote = { protocol: 'udp', address: '192.0.2.9', port: 5070 } as const
const flow = { local, remote }

const message = (callId: string, filler = 0) =>
  Buffer.from(`OPTIONS sip:x SIP/2.0\r\nCall-ID: ${callId}\r\nX: ${'x'.repeat(filler)}\r\n\r\n`)

const opened = (maxMessages = 100, maxBytes = 100_000) => {
  const clock = new FakeClock()
  return { clock, trace: new MessageTrace({ maxMessages, maxBytes }, clock) }
}

it('returns the messages of the Call-IDs in order, with time, direction and addresses', () => {
  const { clock, trace } = opened()
  trace.add('received', message('a'), flow)
  trace.add('received', message('b'), flow)
  clock.advance(20)
  trace.add('sent', message('a'), flow)
  trace.add('sent', message('c'), flow)
  const found = trace.find(['a', 'c'])
  expect(found.map(({ direction, callId }) => `${direction} ${callId}`)).toEqual([
    'received a',
    'sent a',
    'sent c',
  ])
  expect(found[0]).toMatchObject({ local, remote, text: message('a').toString() })
  expect((found[1]?.at ?? 0) - (found[0]?.at ?? 0)).toBe(20)
})

it('compares the whole Call-ID, also in the short form', () => {
  const { trace } = opened()
  trace.add('received', message('abc'), flow)
  trace.add('received', Buffer.from('OPTIONS sip:abc SIP/2.0\r\ni:ab\r\n\r\n'), flow)
  expect(trace.find(['ab'])).toHaveLength(1)
  expect(trace.find(['b'])).toHaveLength(0)
})

it('keeps no keep-alive and no STUN', () => {
  const { trace } = opened()
  trace.add('received', Buffer.from('\r\n\r\n'), flow)
  trace.add('received', Buffer.from([0, 1, 0, 0, 0x21, 0x12]), flow)
  expect(trace.size).toBe(0)
})

it('is not changed by a later use of the bytes', () => {
  const { trace } = opened()
  const bytes = message('a')
  trace.add('received', bytes, flow)
  bytes.fill(0)
  expect(trace.find(['a'])).toHaveLength(1)
})

describe('its limits', () => {
  it('replace the oldest messages', () => {
    const { trace } = opened(3)
    for (const id of ['a', 'b', 'c', 'd']) trace.add('sent', message(id), flow)
    expect(trace.find(['a', 'b', 'c', 'd']).map(({ callId }) => callId)).toEqual(['b', 'c', 'd'])
  })

  it('hold for any sizes of messages: the latest ones are whole', () => {
    const maxBytes = 5_000
    const { trace } = opened(40, maxBytes)
    const written: string[] = []
    let seed = 7
    for (let at = 0; at < 2_000; at++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      const id = `id-${at}`
      trace.add('sent', message(id, seed % 900), flow)
      written.push(id)
      const found = trace.find(written.slice(-60))
      expect(found.map(({ callId }) => callId)).toEqual(written.slice(-trace.size))
      expect(found.at(-1)?.text.endsWith('\r\n\r\n')).toBe(true)
      expect(found.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(maxBytes)
    }
  })

  it('keep a part of a message that is too large', () => {
    const { trace } = opened(10, 200)
    trace.add('sent', message('a', 1_000), flow)
    expect(trace.find(['a'])[0]?.text).toHaveLength(200)
  })
})

it('returns messages without secrets', () => {
  const { trace } = opened()
  const text = 'REGISTER sip:x SIP/2.0\r\nCall-ID: a\r\nAuthorization: Digest response="0a1b"\r\n\r\n'
  trace.add('received', Buffer.from(text), flow)
  expect(trace.find(['a'])[0]?.text).not.toContain('0a1b')
})

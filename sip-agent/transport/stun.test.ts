import { expect, it } from 'vitest'
import { isStun, stunAnswer } from './stun.ts'

/**
 * A binding request with the transaction id of RFC 5769 2.2, so that its mapped addresses can be compared.
 */
const request = (attributes = '') => {
  const body = Buffer.from(attributes, 'hex')
  const head = Buffer.from('000100002112a442b7e7a701bc34d686fa87dfae', 'hex')
  head.writeUInt16BE(body.length, 2)
  return Buffer.concat([head, body])
}

it.each([
  // RFC 5769 2.2 and 2.3: 192.0.2.1 port 32853, and its IPv6 twin.
  ['192.0.2.1', '0101000c2112a442b7e7a701bc34d686fa87dfae002000080001a147e112a643'],
  [
    '2001:db8:1234:5678:11:2233:4455:6677',
    '010100182112a442b7e7a701bc34d686fa87dfae002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9',
  ],
])('a binding request from %s receives that address', (address, expected) => {
  expect(stunAnswer(request(), address, 32_853)?.toString('hex')).toBe(expected)
})

it.each([
  ['::1', '2112a442b7e7a701bc34d686fa87dfaf'],
  ['2001:db8::', '0113a9fab7e7a701bc34d686fa87dfae'],
  ['fe80::1%eth0', 'df92a442b7e7a701bc34d686fa87dfaf'],
  ['::ffff:192.0.2.1', '2112a442b7e7a701bc3429793a87ddaf'],
])('%s is written in full', (address, expected) => {
  const received = stunAnswer(request(), address, 5060)?.subarray(28).toString('hex')
  expect(received).toBe(expected)
})

it('an unknown mandatory attribute gets 420, an unknown optional one is ignored', () => {
  const refused = stunAnswer(request('00060003616263008022000178000000'), '192.0.2.1', 1)
  expect(refused?.subarray(0, 2).toString('hex')).toBe('0111')
  expect(refused?.subarray(-8).toString('hex')).toBe('000a000200060000')
  expect(stunAnswer(request('8022000178000000'), '192.0.2.1', 1)?.readUInt16BE(0)).toBe(0x0101)
})

it.each([
  ['an indication', Buffer.from('001100002112a442b7e7a701bc34d686fa87dfae', 'hex')],
  ['a length that is not true', Buffer.from('000100042112a442b7e7a701bc34d686fa87dfae', 'hex')],
  ['an attribute beyond the end', request('80220009')],
])('%s gets no answer', (_what, bytes) => {
  expect(stunAnswer(bytes, '192.0.2.1', 1)).toBeUndefined()
})

it('is distinguished from SIP', () => {
  expect(isStun(request())).toBe(true)
  expect(isStun(Buffer.from('\r\n\r\nOPTIONS sip:a@b SIP/2.0\r\n'))).toBe(false)
  expect(isStun(Buffer.from([0, 1, 0, 0]))).toBe(false)
})

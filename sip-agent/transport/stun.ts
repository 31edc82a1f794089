import { isIPv4, isIPv6 } from 'node:net'
import { addressWords } from '../ip/address.ts'

const cookie = 0x2112a442
const headerLength = 20
const bindingRequest = 0x0001
const bindingSuccess = 0x0101
const bindingError = 0x0111
const errorCode = 0x0009
const unknownAttributes = 0x000a
const xorMappedAddress = 0x0020
/** Attributes below this value must be understood (RFC 5389 15). */
const optional = 0x8000

/** Returns whether bytes are a STUN message (RFC 5626 4.4.2): no SIP message has these bytes. */
export const isStun = (bytes: Buffer): boolean =>
  bytes.length >= headerLength && (bytes[0] as number) < 0x40 && bytes.readUInt32BE(4) === cookie

/** Returns the 16 bytes of an IPv6 address. */
const bytesOfIPv6 = (address: string): Buffer => {
  const out = Buffer.alloc(16)
  for (const [i, word] of (addressWords(address) ?? []).entries()) out.writeUInt32BE(word, i * 4)
  return out
}

const attribute = (type: number, value: Buffer): Buffer => {
  const out = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4)
  out.writeUInt16BE(type, 0)
  out.writeUInt16BE(value.length, 2)
  value.copy(out, 4)
  return out
}

const answer = (type: number, request: Buffer, ...attributes: Buffer[]): Buffer => {
  const header = Buffer.from(request.subarray(0, headerLength))
  header.writeUInt16BE(type, 0)
  header.writeUInt16BE(
    attributes.reduce((sum, each) => sum + each.length, 0),
    2,
  )
  return Buffer.concat([header, ...attributes])
}

/** Returns the address, XORed with the cookie and, for IPv6, the transaction id (RFC 5389 15.2). */
const mapped = (request: Buffer, address: string, port: number): Buffer => {
  const six = !isIPv4(address)
  const raw = six ? bytesOfIPv6(address) : Buffer.from(address.split('.').map(Number))
  const value = Buffer.alloc(4 + raw.length)
  value[1] = six ? 2 : 1
  value.writeUInt16BE(port ^ (cookie >>> 16), 2)
  for (const [i, byte] of raw.entries()) value[4 + i] = byte ^ (request[4 + i] as number)
  return attribute(xorMappedAddress, value)
}

/** Returns the types of the attributes; undefined if their lengths are inconsistent. */
const attributesOf = (request: Buffer): number[] | undefined => {
  const types: number[] = []
  if (request.readUInt16BE(2) !== request.length - headerLength) return undefined
  let at = headerLength
  while (at < request.length) {
    if (at + 4 > request.length) return undefined
    types.push(request.readUInt16BE(at))
    at += 4 + Math.ceil(request.readUInt16BE(at + 2) / 4) * 4
  }
  return at === request.length ? types : undefined
}

/**
 * Returns the response to a binding request from this address (RFC 5389 10.1.2, as the keep-alive of RFC 5626
 * 4.4.2). Returns undefined for other messages.
 */
export const stunAnswer = (request: Buffer, address: string, port: number): Buffer | undefined => {
  if (request.readUInt16BE(0) !== bindingRequest) return undefined
  const types = attributesOf(request)
  const plain = address.split('%', 1)[0] as string
  if (!types || !(isIPv4(plain) || isIPv6(plain))) return undefined
  const unknown = types.filter((type) => type < optional)
  if (unknown.length === 0) return answer(bindingSuccess, request, mapped(request, plain, port))
  const list = Buffer.alloc(unknown.length * 2)
  for (const [i, type] of unknown.entries()) list.writeUInt16BE(type, i * 2)
  const code = Buffer.from([0, 0, 4, 20, ...Buffer.from('Unknown Attribute')])
  return answer(bindingError, request, attribute(errorCode, code), attribute(unknownAttributes, list))
}

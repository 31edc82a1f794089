import { isIPv6 } from 'node:net'
import type { MessageBody } from '../operator/call-trace.ts'

/** Link type of packets that begin with their IP header (LINKTYPE_RAW). */
const rawIp = 101
const udp = 17
/** Maximum length of the text in one packet: 65,535 bytes less the headers. */
const maxText = 65_487

/**
 * Returns messages as a packet capture (libpcap). Each message becomes one UDP packet between the addresses
 * of its hop, whatever transport carried it. Readers then show it as SIP.
 */
export const pcapOf = (
  messages: readonly Pick<MessageBody, 'at' | 'direction' | 'local' | 'remote' | 'text'>[],
): Buffer => {
  const header = Buffer.alloc(24)
  header.writeUInt32LE(0xa1_b2_c3_d4, 0)
  header.writeUInt16LE(2, 4)
  header.writeUInt16LE(4, 6)
  header.writeUInt32LE(65_535, 16)
  header.writeUInt32LE(rawIp, 20)
  return Buffer.concat([header, ...messages.flatMap(packetOf)])
}

const packetOf = ({ at, direction, local, remote, text }: Parameters<typeof pcapOf>[0][number]): Buffer[] => {
  const [from, to] = direction === 'received' ? [remote, local] : [local, remote]
  const packet = ipPacket(endpointOf(from), endpointOf(to), Buffer.from(text).subarray(0, maxText))
  const record = Buffer.alloc(16)
  const ms = Date.parse(at)
  record.writeUInt32LE(Math.floor(ms / 1_000), 0)
  record.writeUInt32LE((ms % 1_000) * 1_000, 4)
  record.writeUInt32LE(packet.length, 8)
  record.writeUInt32LE(packet.length, 12)
  return [record, packet]
}

interface Endpoint {
  readonly address: Buffer
  readonly port: number
}

/** Reads `192.0.2.1:5060` or `[2001:db8::1]:5060`. */
const endpointOf = (text: string): Endpoint => {
  const colon = text.lastIndexOf(':')
  return {
    address: addressBytes(text.slice(0, colon).replace(/^\[|\]$/g, '')),
    port: Number(text.slice(colon + 1)),
  }
}

const addressBytes = (address: string): Buffer => {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser writes an embedded IPv4 address as two groups.
  const canonical = new URL(`http://[${address.split('%', 1)[0]}]/`).hostname.slice(1, -1)
  const [before = '', after] = canonical.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const missing = 8 - groups(before).length - groups(after ?? '').length
  const all = [...groups(before), ...Array.from({ length: missing }, () => '0'), ...groups(after ?? '')]
  return Buffer.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )
}

const ipPacket = (from: Endpoint, to: Endpoint, payload: Buffer): Buffer => {
  const datagram = Buffer.alloc(8)
  datagram.writeUInt16BE(from.port, 0)
  datagram.writeUInt16BE(to.port, 2)
  datagram.writeUInt16BE(8 + payload.length, 4)
  const isV6 = from.address.length === 16
  const length = 8 + payload.length
  const summed = [
    from.address,
    to.address,
    Buffer.from([0, udp, length >> 8, length & 255]),
    datagram,
    payload,
  ]
  datagram.writeUInt16BE(checksum(Buffer.concat(summed)) || 0xffff, 6)
  const header = isV6 ? ipv6Header(from, to, length) : ipv4Header(from, to, length)
  return Buffer.concat([header, datagram, payload])
}

const ipv4Header = (from: Endpoint, to: Endpoint, length: number): Buffer => {
  const header = Buffer.alloc(12)
  header[0] = 0x45
  header.writeUInt16BE(20 + length, 2)
  header[8] = 64
  header[9] = udp
  const whole = Buffer.concat([header, from.address, to.address])
  whole.writeUInt16BE(checksum(whole), 10)
  return whole
}

const ipv6Header = (from: Endpoint, to: Endpoint, length: number): Buffer => {
  const header = Buffer.alloc(8)
  header[0] = 0x60
  header.writeUInt16BE(length, 4)
  header[6] = udp
  header[7] = 64
  return Buffer.concat([header, from.address, to.address])
}

/** Returns the checksum of IP and UDP (RFC 1071). */
const checksum = (bytes: Buffer): number => {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 65_536)
  return ~sum & 0xffff
}

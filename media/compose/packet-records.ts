import type { Rendition } from '../types.ts'

/**
 * Packets from a composing process to its parent, in a pipe. A record is: the length of the packet (16 bits),
 * the kind (8 bits), the room (32 bits), and the packet.
 */
export interface PacketRecord {
  readonly room: number
  readonly rendition: Rendition
  readonly kind: 'rtp' | 'rtcp'
  readonly packet: Buffer
}

const headBytes = 7
/** Longest packet in a record. */
const maxPacketBytes = 2048
const kinds = [
  { rendition: 'low', kind: 'rtp' },
  { rendition: 'high', kind: 'rtp' },
  { rendition: 'low', kind: 'rtcp' },
  { rendition: 'high', kind: 'rtcp' },
] as const

/** Returns the records of packets of one rendition. */
export const writeRecords = (
  room: number,
  rendition: Rendition,
  kind: 'rtp' | 'rtcp',
  packets: readonly Buffer[],
): Buffer => {
  const code = kinds.findIndex((each) => each.rendition === rendition && each.kind === kind)
  const length = packets.reduce((sum, packet) => sum + headBytes + packet.length, 0)
  const records = Buffer.allocUnsafe(length)
  let at = 0
  for (const packet of packets) {
    records.writeUInt16BE(packet.length, at)
    records[at + 2] = code
    records.writeUInt32BE(room, at + 3)
    packet.copy(records, at + headBytes)
    at += headBytes + packet.length
  }
  return records
}

/** Splits the bytes of the pipe into records. */
export class RecordReader {
  readonly #onRecord: (record: PacketRecord) => void
  #rest: Buffer = Buffer.alloc(0)

  constructor(onRecord: (record: PacketRecord) => void) {
    this.#onRecord = onRecord
  }

  /** Processes the next bytes. Throws for a record that no composing process writes. */
  read(chunk: Buffer): void {
    let bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    while (bytes.length >= headBytes) {
      const length = bytes.readUInt16BE(0)
      const kind = kinds[bytes[2]!]
      if (!kind || length === 0 || length > maxPacketBytes) throw new Error('a malformed record')
      const end = headBytes + length
      if (bytes.length < end) break
      this.#onRecord({ room: bytes.readUInt32BE(3), ...kind, packet: bytes.subarray(headBytes, end) })
      bytes = bytes.subarray(end)
    }
    this.#rest = bytes
  }
}

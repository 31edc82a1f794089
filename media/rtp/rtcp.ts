/** RTCP packets (RFC 3550 section 6), built and parsed. */

const senderReportType = 200
const receiverReportType = 201
const descriptionType = 202
const byeType = 203
const cnameItem = 1
const blockBytes = 24
/** Seconds from 1900, the NTP epoch, to 1970. */
const ntpEpoch = 2_208_988_800

/** Sender information of a sender report (section 6.4.1). */
export interface SenderInfo {
  /** Wall clock at sending, in ms since the Unix epoch, with fractions. */
  readonly at: number
  /** RTP timestamp of the same moment. */
  readonly timestamp: number
  readonly packets: number
  /** Number of payload octets. */
  readonly octets: number
}

/** Reception report about one source. */
export interface ReportBlock {
  readonly ssrc: number
  /** Share lost, in 256ths. */
  readonly fractionLost: number
  /** Lost packets: signed, 24 bits. */
  readonly lost: number
  /** Highest sequence number, with the cycle count in the upper 16 bits. */
  readonly highestSequence: number
  /** Jitter in timestamp units. */
  readonly jitter: number
  /** Middle 32 bits of the NTP time of the last sender report received; 0 for none. */
  readonly lastReport: number
  /** Delay since that report, in 65536ths of a second. */
  readonly delay: number
}

/** One packet of a compound. */
export type RtcpPacket =
  | {
      readonly kind: 'sender'
      readonly ssrc: number
      readonly info: SenderInfo
      readonly blocks: readonly ReportBlock[]
    }
  | { readonly kind: 'receiver'; readonly ssrc: number; readonly blocks: readonly ReportBlock[] }
  | { readonly kind: 'description'; readonly ssrc: number; readonly cname: string }
  | { readonly kind: 'bye'; readonly ssrcs: readonly number[] }
  /** Feedback, extended reports and other well-formed packets. */
  | { readonly kind: 'other'; readonly type: number }

/**
 * Returns the middle 32 bits of the NTP time of `at` (ms since the Unix epoch): seconds modulo 65536, and
 * 65536ths.
 */
export function compactNtp(at: number): number {
  return Math.floor((at / 1000 + ntpEpoch) * 65536) % 0x100000000
}

/** Builds a compound; the first packet must be a report (section 6.1). */
export function buildRtcp(packets: readonly Exclude<RtcpPacket, { kind: 'other' }>[]): Buffer {
  return Buffer.concat(packets.map(build))
}

function build(packet: Exclude<RtcpPacket, { kind: 'other' }>): Buffer {
  switch (packet.kind) {
    case 'sender': {
      const info = Buffer.alloc(20)
      const seconds = Math.floor(packet.info.at / 1000)
      info.writeUInt32BE((seconds + ntpEpoch) % 0x100000000, 0)
      info.writeUInt32BE(Math.floor((packet.info.at / 1000 - seconds) * 0x100000000), 4)
      info.writeUInt32BE(packet.info.timestamp, 8)
      info.writeUInt32BE(packet.info.packets % 0x100000000, 12)
      info.writeUInt32BE(packet.info.octets % 0x100000000, 16)
      return frame(senderReportType, packet.blocks.length, [
        word(packet.ssrc),
        info,
        ...packet.blocks.map(block),
      ])
    }
    case 'receiver':
      return frame(receiverReportType, packet.blocks.length, [word(packet.ssrc), ...packet.blocks.map(block)])
    case 'description': {
      const name = Buffer.from(packet.cname, 'utf8').subarray(0, 255)
      // The item list ends with a zero; the chunk ends at a multiple of four.
      const chunk = Buffer.alloc(Math.ceil((4 + 2 + name.length + 1) / 4) * 4)
      chunk.writeUInt32BE(packet.ssrc, 0)
      chunk[4] = cnameItem
      chunk[5] = name.length
      name.copy(chunk, 6)
      return frame(descriptionType, 1, [chunk])
    }
    case 'bye':
      return frame(byeType, packet.ssrcs.length, packet.ssrcs.map(word))
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0, 0)
  return bytes
}

function block(report: ReportBlock): Buffer {
  const bytes = Buffer.alloc(blockBytes)
  bytes.writeUInt32BE(report.ssrc, 0)
  bytes[4] = report.fractionLost
  bytes.writeIntBE(report.lost, 5, 3)
  bytes.writeUInt32BE(report.highestSequence, 8)
  bytes.writeUInt32BE(report.jitter, 12)
  bytes.writeUInt32BE(report.lastReport, 16)
  bytes.writeUInt32BE(report.delay, 20)
  return bytes
}

function frame(type: number, count: number, body: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(4)
  const packet = Buffer.concat([header, ...body])
  packet[0] = 0x80 | count
  packet[1] = type
  packet.writeUInt16BE(packet.length / 4 - 1, 2)
  return packet
}

/**
 * Returns the sender of a compound that {@link parseRtcp} accepted: the first word after its first header; 0
 * if absent.
 */
export function rtcpSource(compound: Buffer): number {
  return compound.length >= 8 ? compound.readUInt32BE(4) : 0
}

/** Parses a compound; undefined if any part is malformed (section A.2). */
export function parseRtcp(compound: Buffer): RtcpPacket[] | undefined {
  const packets: RtcpPacket[] = []
  let at = 0
  while (at < compound.length) {
    if (at + 4 > compound.length || compound[at]! >> 6 !== 2) return undefined
    const end = at + 4 + compound.readUInt16BE(at + 2) * 4
    if (end > compound.length) return undefined
    const packet = parse(compound[at + 1]!, compound[at]! & 0x1f, compound.subarray(at + 4, end))
    if (!packet) return undefined
    packets.push(packet)
    at = end
  }
  return packets.length > 0 ? packets : undefined
}

function parse(type: number, count: number, body: Buffer): RtcpPacket | undefined {
  switch (type) {
    case senderReportType:
      return parseReport(body, 24, count)
    case receiverReportType:
      return parseReport(body, 4, count)
    case descriptionType:
      return parseDescription(body, count)
    case byeType: {
      if (body.length < count * 4) return undefined
      return { kind: 'bye', ssrcs: Array.from({ length: count }, (_, i) => body.readUInt32BE(i * 4)) }
    }
    default:
      return type >= 192 && type <= 223 ? { kind: 'other', type } : undefined
  }
}

function parseReport(body: Buffer, head: number, count: number): RtcpPacket | undefined {
  if (body.length < head + count * blockBytes) return undefined
  const ssrc = body.readUInt32BE(0)
  const blocks = Array.from({ length: count }, (_, i) => parseBlock(body, head + i * blockBytes))
  if (head === 4) return { kind: 'receiver', ssrc, blocks }
  const seconds = body.readUInt32BE(4) - ntpEpoch
  const info: SenderInfo = {
    at: (seconds + body.readUInt32BE(8) / 0x100000000) * 1000,
    timestamp: body.readUInt32BE(12),
    packets: body.readUInt32BE(16),
    octets: body.readUInt32BE(20),
  }
  return { kind: 'sender', ssrc, info, blocks }
}

function parseBlock(body: Buffer, at: number): ReportBlock {
  return {
    ssrc: body.readUInt32BE(at),
    fractionLost: body[at + 4]!,
    lost: body.readIntBE(at + 5, 3),
    highestSequence: body.readUInt32BE(at + 8),
    jitter: body.readUInt32BE(at + 12),
    lastReport: body.readUInt32BE(at + 16),
    delay: body.readUInt32BE(at + 20),
  }
}

/** Returns the first chunk's CNAME; a description without one is well-formed but unused. */
function parseDescription(body: Buffer, count: number): RtcpPacket | undefined {
  if (count === 0) return { kind: 'other', type: descriptionType }
  if (body.length < 4) return undefined
  for (let at = 4; at < body.length && body[at] !== 0; ) {
    const length = body[at + 1]
    if (length === undefined || at + 2 + length > body.length) return undefined
    if (body[at] === cnameItem) {
      return {
        kind: 'description',
        ssrc: body.readUInt32BE(0),
        cname: body.toString('utf8', at + 2, at + 2 + length),
      }
    }
    at += 2 + length
  }
  return { kind: 'other', type: descriptionType }
}

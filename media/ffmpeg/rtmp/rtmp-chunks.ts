import { brokenRtmp } from './rtmp-errors.ts'

/** Message of RTMP (Adobe, RTMP specification 1.0, section 5). */
export interface RtmpMessage {
  /** 1 to 6 are commands of the transport, 8 audio, 9 video, 18 data, 20 a command. */
  readonly type: number
  readonly stream: number
  /** In ms, modulo 2^32. */
  readonly timestamp: number
  readonly body: Buffer
}

/** Types of the messages of the transport, and of commands and data in AMF0 (sections 5.4 and 7.1). */
export const RtmpType = {
  chunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowSize: 5,
  peerBandwidth: 6,
  data: 18,
  command: 20,
} as const

/** Length of the chunks that are sent, which {@link chunkSizeMessage} announces. */
export const sentChunkBytes = 65_536
const firstChunkBytes = 128
/** Maximum length of a received message: a server sends short commands alone. */
const maxMessageBytes = 65_536
/** Maximum number of chunk streams of a server. */
const maxStreams = 16
/** Value of a timestamp of 3 bytes that announces one of 4 bytes. */
const extended = 0xff_ffff
/** Lengths of the message headers, by the format of the chunk (section 5.3.1.2). */
const headerBytes = [11, 7, 3, 0] as const

/** Returns a message of the transport with numbers of 32 bits. */
export const transportMessage = (type: number, ...numbers: readonly number[]): RtmpMessage => {
  const body = Buffer.alloc(4 * numbers.length)
  for (const [index, number] of numbers.entries()) body.writeUInt32BE(number, 4 * index)
  return { type, stream: 0, timestamp: 0, body }
}

/** Returns the message that announces {@link sentChunkBytes}. It must be the first one. */
export const chunkSizeMessage = (): RtmpMessage => transportMessage(RtmpType.chunkSize, sentChunkBytes)

/** Returns a message in chunks of a length. `chunkStream`: 2 to 63. */
export const writeChunks = (
  message: RtmpMessage,
  chunkStream: number,
  chunkBytes = sentChunkBytes,
): Buffer => {
  const { type, stream, timestamp, body } = message
  const isExtended = timestamp >= extended
  const head = Buffer.alloc(12)
  head[0] = chunkStream
  head.writeUIntBE(isExtended ? extended : timestamp, 1, 3)
  head.writeUIntBE(body.length, 4, 3)
  head[7] = type
  head.writeUInt32LE(stream, 8)
  const time = Buffer.alloc(isExtended ? 4 : 0)
  if (isExtended) time.writeUInt32BE(timestamp)
  const parts: Buffer[] = [head, time]
  for (let at = 0; at < body.length || at === 0; at += chunkBytes) {
    if (at > 0) parts.push(Buffer.from([0xc0 | chunkStream]), time)
    parts.push(body.subarray(at, at + chunkBytes))
  }
  return Buffer.concat(parts)
}

/** Header of the last message of a chunk stream. */
interface Header {
  readonly type: number
  readonly stream: number
  readonly length: number
  readonly timestamp: number
  readonly isExtended: boolean
}

/** State of one chunk stream of the server. */
interface Incoming {
  header: Header
  /** Bytes of a message that is not complete; undefined between messages. */
  body: Buffer | undefined
  received: number
}

/** Reads the messages of a server from chunks of any length, in at most 16 chunk streams. */
export class RtmpReader {
  #rest: Buffer = Buffer.alloc(0)
  #chunkBytes = firstChunkBytes
  readonly #streams = new Map<number, Incoming>()

  /** Returns the messages that are complete. Throws an RtmpError for one that is malformed or too long. */
  push(bytes: Buffer): readonly RtmpMessage[] {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const messages: RtmpMessage[] = []
    for (let length = this.#chunk(rest, messages); length > 0; length = this.#chunk(rest, messages))
      rest = rest.subarray(length)
    this.#rest = rest
    return messages
  }

  /** Reads a chunk. Returns its length; 0 if it is incomplete. */
  #chunk(bytes: Buffer, messages: RtmpMessage[]): number {
    const basic = basicHeader(bytes)
    if (!basic) return 0
    const { format, id, length } = basic
    const known = this.#streams.get(id)
    const headEnd = length + headerBytes[format]!
    if (bytes.length < headEnd) return 0
    const header = headerOf(bytes.subarray(length), format, known)
    const start = header.isExtended ? headEnd + 4 : headEnd
    const received = known?.received ?? 0
    const end = start + Math.min(this.#chunkBytes, header.length - received)
    if (bytes.length < end) return 0
    const incoming = known ?? this.#add(id, header)
    const hasOwnTime = header.isExtended && format < 3
    incoming.header = hasOwnTime ? { ...header, timestamp: bytes.readUInt32BE(headEnd) } : header
    incoming.body ??= Buffer.alloc(header.length)
    bytes.copy(incoming.body, received, start, end)
    incoming.received = received + end - start
    if (incoming.received === header.length) this.#complete(incoming, messages)
    return end
  }

  #add(id: number, header: Header): Incoming {
    if (this.#streams.size >= maxStreams) throw brokenRtmp(`at most ${maxStreams} chunk streams expected`)
    const incoming: Incoming = { header, body: undefined, received: 0 }
    this.#streams.set(id, incoming)
    return incoming
  }

  #complete(incoming: Incoming, messages: RtmpMessage[]): void {
    const { header, body } = incoming
    const { type, stream, timestamp } = header
    incoming.body = undefined
    incoming.received = 0
    if (!body) return
    if (type === RtmpType.chunkSize) this.#chunkBytes = chunkSizeOf(body)
    else if (type === RtmpType.abort) this.#abort(body)
    else messages.push({ type, stream, timestamp, body })
  }

  /** Forgets the begun message of a chunk stream (section 5.4.2). */
  #abort(body: Buffer): void {
    const incoming = body.length === 4 ? this.#streams.get(body.readUInt32BE()) : undefined
    if (!incoming) return
    incoming.body = undefined
    incoming.received = 0
  }
}

/** Reads the basic header of a chunk (section 5.3.1.1); undefined if it is incomplete. */
const basicHeader = (bytes: Buffer): { format: number; id: number; length: number } | undefined => {
  const [first, second, third] = bytes
  if (first === undefined) return undefined
  const format = first >> 6
  const id = first & 0x3f
  if (id > 1) return { format, id, length: 1 }
  if (second === undefined) return undefined
  if (id === 0) return { format, id: 64 + second, length: 2 }
  return third === undefined ? undefined : { format, id: 64 + second + 256 * third, length: 3 }
}

/** Reads the message header of a chunk, with the values that it takes from the one before. */
const headerOf = (bytes: Buffer, format: number, known: Incoming | undefined): Header => {
  if (!known && format !== 0) throw brokenRtmp('a whole chunk header expected')
  if (known && format === 3) return known.header
  if (known?.body) throw brokenRtmp('the rest of a message expected')
  const before = known?.header
  const time = bytes.readUIntBE(0, 3)
  const length = format < 2 ? bytes.readUIntBE(3, 3) : before!.length
  if (length > maxMessageBytes) throw brokenRtmp(`a message of at most ${maxMessageBytes} bytes expected`)
  return {
    type: format < 2 ? bytes[6]! : before!.type,
    stream: format === 0 ? bytes.readUInt32LE(7) : before!.stream,
    length,
    timestamp: format === 0 ? time : (before!.timestamp + time) % 0x1_0000_0000,
    isExtended: time === extended,
  }
}

const chunkSizeOf = (body: Buffer): number => {
  const size = body.length === 4 ? body.readUInt32BE() : 0
  if (size < 1 || size > 0x7fff_ffff) throw brokenRtmp('a chunk size from 1 expected')
  return size
}

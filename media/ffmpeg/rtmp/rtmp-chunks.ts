/** Message of RTMP (Adobe, RTMP specification 1.0, section 5). */
export interface RtmpMessage {
  /** 1 to 3 are commands of the transport, 8 audio, 9 video, 18 data, 20 a command. */
  readonly type: number
  readonly stream: number
  /** In ms, modulo 2^32. */
  readonly timestamp: number
  readonly body: Buffer
}

/** Length of the chunks that are sent, which {@link chunkSizeMessage} announces. */
export const sentChunkBytes = 65_536
const firstChunkBytes = 128
/** Maximum length of a received message: a server sends short commands alone. */
const maxMessageBytes = 65_536
const extended = 0xff_ffff

/** Returns the message that announces {@link sentChunkBytes}. It must be the first one. */
export const chunkSizeMessage = (): RtmpMessage => {
  const body = Buffer.alloc(4)
  body.writeUInt32BE(sentChunkBytes)
  return { type: 1, stream: 0, timestamp: 0, body }
}

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

/** State of one chunk stream of the server. */
interface Incoming {
  type: number
  stream: number
  length: number
  timestamp: number
  isExtended: boolean
  parts: Buffer[]
  received: number
}

/** Reads the messages of a server from chunks of any length. */
export class RtmpReader {
  #rest: Buffer = Buffer.alloc(0)
  #chunkBytes = firstChunkBytes
  readonly #streams = new Map<number, Incoming>()

  /** Returns the messages that are complete. Throws an Error for one that is malformed or too long. */
  push(bytes: Buffer): readonly RtmpMessage[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const messages: RtmpMessage[] = []
    for (let length = this.#chunk(messages); length > 0; length = this.#chunk(messages))
      this.#rest = this.#rest.subarray(length)
    return messages
  }

  /** Reads a chunk. Returns its length; 0 if it is incomplete. */
  #chunk(messages: RtmpMessage[]): number {
    const bytes = this.#rest
    if (bytes.length < 1) return 0
    const format = bytes[0]! >> 6
    const id = bytes[0]! & 0x3f
    if (id < 2) throw new Error('RTMP: a chunk stream from 2 to 63 expected')
    const headBytes = [11, 7, 3, 0][format]!
    const known = this.#streams.get(id)
    if (!known && format !== 0) throw new Error('RTMP: a whole chunk header expected')
    if (bytes.length < 1 + headBytes) return 0
    const next = headOf(bytes, format, known)
    let at = 1 + headBytes
    if (next.isExtended) at += 4
    const share = Math.min(this.#chunkBytes, next.length - next.received)
    if (bytes.length < at + share) return 0
    if (next.isExtended && format < 3) next.timestamp = bytes.readUInt32BE(at - 4)
    next.parts = [...next.parts, bytes.subarray(at, at + share)]
    next.received += share
    this.#streams.set(id, next)
    if (next.received === next.length) this.#complete(next, messages)
    return at + share
  }

  #complete(incoming: Incoming, messages: RtmpMessage[]): void {
    const { type, stream, timestamp, parts } = incoming
    const body = Buffer.concat(parts)
    incoming.parts = []
    incoming.received = 0
    if (type === 1 && body.length >= 4) this.#chunkBytes = Math.max(1, body.readUInt32BE(0) & 0x7fff_ffff)
    messages.push({ type, stream, timestamp, body })
  }
}

const headOf = (bytes: Buffer, format: number, known: Incoming | undefined): Incoming => {
  const before: Incoming = known ?? {
    type: 0,
    stream: 0,
    length: 0,
    timestamp: 0,
    isExtended: false,
    parts: [],
    received: 0,
  }
  const next = { ...before }
  if (format === 3) return next
  if (before.received > 0) throw new Error('RTMP: the rest of a message expected')
  const time = bytes.readUIntBE(1, 3)
  next.isExtended = time === extended
  next.timestamp = format === 0 ? time : (before.timestamp + time) % 0x1_0000_0000
  if (format < 2) {
    next.length = bytes.readUIntBE(4, 3)
    next.type = bytes[7]!
  }
  if (format === 0) next.stream = bytes.readUInt32LE(8)
  if (next.length > maxMessageBytes) throw new Error(`RTMP: at most ${maxMessageBytes} bytes expected`)
  return next
}

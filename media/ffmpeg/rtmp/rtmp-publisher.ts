import { randomBytes } from 'node:crypto'
import { type AmfValue, readAmf, writeAmf } from './amf0.ts'
import type { FlvTag } from './flv-reader.ts'
import {
  chunkSizeMessage,
  type RtmpMessage,
  RtmpReader,
  RtmpType,
  transportMessage,
  writeChunks,
} from './rtmp-chunks.ts'
import { brokenRtmp, RtmpError } from './rtmp-errors.ts'

/** Destination of a stream. The key is a secret. */
export interface RtmpTarget {
  /** Such as `rtmp://live.example.com/app`. */
  readonly tcUrl: string
  readonly app: string
  readonly key: string
}

/** Receiver of what an {@link RtmpPublisher} does. */
export interface RtmpPublisherListener {
  /** Sends bytes to the server. */
  send(bytes: Buffer): void
  /** Called once when the server accepts the stream. Tags before that are dropped. */
  onStart(): void
}

const version = 3
const handshakeBytes = 1536
const controlStream = 2
const commandStream = 3
const mediaStream = 4
/** Events of a user control message (section 7.1.7). */
const pingRequest = 6
const pingResponse = 7
/** Commands, by the numbers of their transactions. A server answers with the number. */
const Transaction = { connect: 1, release: 2, announce: 3, create: 4, publish: 5, end: 6, delete: 7 } as const

/**
 * Publishes a stream by RTMP (Adobe, RTMP specification 1.0). Without sockets: bytes come and go. It
 * acknowledges what it receives, answers pings, and passes over what it does not know.
 */
export class RtmpPublisher {
  readonly #target: RtmpTarget
  readonly #listener: RtmpPublisherListener
  readonly #reader = new RtmpReader()
  /** Bytes of the handshake so far; undefined after it. */
  #handshake: Buffer | undefined = Buffer.alloc(0)
  #isAnswered = false
  /** Transaction that the server has to answer next. */
  #awaited: number = Transaction.connect
  /** Id of the stream; undefined until the server has made it. */
  #stream: number | undefined
  #isStarted = false
  #hasEnded = false
  #receivedBytes = 0
  #acknowledgedBytes = 0
  /** Number of bytes that the server sends without an acknowledgement; undefined: any. */
  #window: number | undefined

  constructor(target: RtmpTarget, listener: RtmpPublisherListener) {
    this.#target = target
    this.#listener = listener
  }

  /** Begins the handshake. */
  start(): void {
    const hello = Buffer.concat([Buffer.from([version]), Buffer.alloc(8), randomBytes(handshakeBytes - 8)])
    this.#listener.send(hello)
  }

  /**
   * Receives bytes of the server, and ignores them after the end. Throws an {@link RtmpError} if the server
   * refuses the stream, or errs.
   */
  receive(bytes: Buffer): void {
    if (this.#hasEnded) return
    this.#receivedBytes += bytes.length
    const rest = this.#handshake ? this.#shake(bytes) : bytes
    if (!rest) return
    for (const message of this.#reader.push(rest)) {
      // The answer to a message may have ended the stream.
      if (this.#hasEnded) return
      this.#take(message)
    }
    this.#acknowledge()
  }

  /** Sends a tag. Returns false if the stream has not started. */
  publish({ type, timestamp, body }: FlvTag): boolean {
    const stream = this.#stream
    if (!this.#isStarted || stream === undefined) return false
    const content = type === RtmpType.data ? Buffer.concat([writeAmf('@setDataFrame'), body]) : body
    this.#send({ type, stream, timestamp, body: content }, mediaStream)
    return true
  }

  /**
   * Ends the stream. Announces that to the server if the stream has started, so that it waits for no more.
   * Idempotent.
   */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (!this.#isStarted || this.#stream === undefined) return
    this.#isStarted = false
    this.#command('FCUnpublish', Transaction.end, null, this.#target.key)
    this.#command('deleteStream', Transaction.delete, null, this.#stream)
  }

  /** Returns the bytes behind the handshake (section 5.2); undefined before its end. */
  #shake(bytes: Buffer): Buffer | undefined {
    const all = Buffer.concat([this.#handshake!, bytes])
    this.#handshake = all
    if (all.length > 0 && all[0] !== version)
      throw new RtmpError('The server speaks another version of RTMP.')
    if (all.length < 1 + handshakeBytes) return undefined
    if (!this.#isAnswered) this.#listener.send(all.subarray(1, 1 + handshakeBytes))
    this.#isAnswered = true
    if (all.length < 1 + 2 * handshakeBytes) return undefined
    this.#handshake = undefined
    this.#connect()
    return all.subarray(1 + 2 * handshakeBytes)
  }

  #connect(): void {
    const { app, tcUrl } = this.#target
    this.#send(chunkSizeMessage(), controlStream)
    const about = { app, type: 'nonprivate', flashVer: 'FMLE/3.0 (compatible)', tcUrl }
    this.#command('connect', Transaction.connect, about)
  }

  #take({ type, body }: RtmpMessage): void {
    if (type === RtmpType.command) this.#takeCommand(body)
    else if (type === RtmpType.windowSize && body.length === 4) this.#window = body.readUInt32BE()
    else if (type === RtmpType.peerBandwidth && body.length === 5)
      this.#send(transportMessage(RtmpType.windowSize, body.readUInt32BE()), controlStream)
    else if (type === RtmpType.userControl && body.length === 6 && body.readUInt16BE() === pingRequest)
      this.#answerPing(body)
  }

  #answerPing(body: Buffer): void {
    const answer = Buffer.from(body)
    answer.writeUInt16BE(pingResponse)
    this.#send({ type: RtmpType.userControl, stream: 0, timestamp: 0, body: answer }, controlStream)
  }

  /** Acknowledges once a window (section 5.4.3). */
  #acknowledge(): void {
    if (this.#window === undefined || this.#receivedBytes - this.#acknowledgedBytes < this.#window) return
    this.#acknowledgedBytes = this.#receivedBytes
    const count = this.#receivedBytes % 0x1_0000_0000
    this.#send(transportMessage(RtmpType.acknowledgement, count), controlStream)
  }

  #takeCommand(body: Buffer): void {
    const [name, transaction, , info] = readAmf(body)
    if (name === 'onStatus') this.#status(info)
    // The answers to `releaseStream` and `FCPublish` do not matter: some servers do not know these commands.
    if (transaction !== this.#awaited) return
    if (name === '_error') throw refusal(info)
    if (name !== '_result') return
    if (transaction === Transaction.connect) this.#createStream()
    else this.#publishTo(info)
  }

  #createStream(): void {
    const { key } = this.#target
    // Servers of the field expect the first two.
    this.#command('releaseStream', Transaction.release, null, key)
    this.#command('FCPublish', Transaction.announce, null, key)
    this.#command('createStream', Transaction.create, null)
    this.#awaited = Transaction.create
  }

  #publishTo(stream: AmfValue): void {
    if (typeof stream !== 'number' || !Number.isInteger(stream) || stream < 0 || stream > 0xffff_ffff)
      throw brokenRtmp('the number of a stream expected')
    this.#stream = stream
    this.#awaited = Transaction.publish
    const body = writeAmf('publish', Transaction.publish, null, this.#target.key, 'live')
    this.#send({ type: RtmpType.command, stream, timestamp: 0, body }, mediaStream)
  }

  #status(info: AmfValue): void {
    const { level, code } = fieldsOf(info)
    if (level === 'error') throw refusal(info)
    if (code !== 'NetStream.Publish.Start' || this.#isStarted || this.#stream === undefined) return
    this.#isStarted = true
    this.#listener.onStart()
  }

  #command(...values: readonly AmfValue[]): void {
    this.#send({ type: RtmpType.command, stream: 0, timestamp: 0, body: writeAmf(...values) }, commandStream)
  }

  #send(message: RtmpMessage, chunkStream: number): void {
    this.#listener.send(writeChunks(message, chunkStream))
  }
}

const fieldsOf = (value: AmfValue): { readonly [key: string]: AmfValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: AmfValue })
    : {}

/** Code of a server's answer, such as `NetStream.Publish.BadName`. Any other text may repeat the key. */
const codePattern = /^Net(?:Connection|Stream)(?:\.\w{1,30}){1,3}$/

/** Returns the error of a server that refuses, without its description, which may repeat the key. */
const refusal = (info: AmfValue): RtmpError => {
  const { code } = fieldsOf(info)
  const name = typeof code === 'string' && codePattern.test(code) ? ` (${code})` : ''
  return new RtmpError(`The server refuses the stream${name}.`)
}

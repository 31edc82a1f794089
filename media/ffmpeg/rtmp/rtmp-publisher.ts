import { randomBytes } from 'node:crypto'
import { type AmfValue, readAmf, writeAmf } from './amf0.ts'
import type { FlvTag } from './flv-reader.ts'
import { chunkSizeMessage, type RtmpMessage, RtmpReader, writeChunks } from './rtmp-chunks.ts'

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
const commandType = 20
const dataType = 18

/** Publishes a stream by RTMP (Adobe, RTMP specification 1.0). Without sockets: bytes come and go. */
export class RtmpPublisher {
  readonly #target: RtmpTarget
  readonly #listener: RtmpPublisherListener
  readonly #reader = new RtmpReader()
  /** Bytes of the handshake so far; undefined after it. */
  #handshake: Buffer | undefined = Buffer.alloc(0)
  #isAnswered = false
  /** Id of the stream; undefined until the server has made it. */
  #stream: number | undefined
  #isStarted = false

  constructor(target: RtmpTarget, listener: RtmpPublisherListener) {
    this.#target = target
    this.#listener = listener
  }

  /** Begins the handshake. */
  start(): void {
    const hello = Buffer.concat([Buffer.from([version]), Buffer.alloc(8), randomBytes(handshakeBytes - 8)])
    this.#listener.send(hello)
  }

  /** Receives bytes of the server. Throws an Error with the reason if the server refuses the stream. */
  receive(bytes: Buffer): void {
    const rest = this.#handshake ? this.#shake(bytes) : bytes
    if (rest) for (const message of this.#reader.push(rest)) this.#take(message)
  }

  /** Sends a tag. Returns false if the stream has not started. */
  publish({ type, timestamp, body }: FlvTag): boolean {
    const stream = this.#stream
    if (!this.#isStarted || stream === undefined) return false
    const content = type === dataType ? Buffer.concat([writeAmf('@setDataFrame'), body]) : body
    this.#send({ type, stream, timestamp, body: content }, mediaStream)
    return true
  }

  /** Returns the bytes behind the handshake; undefined before its end. */
  #shake(bytes: Buffer): Buffer | undefined {
    const all = Buffer.concat([this.#handshake!, bytes])
    this.#handshake = all
    if (all.length < 1 + handshakeBytes) return undefined
    if (all[0] !== version) throw new Error('The server speaks another version of RTMP.')
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
    this.#command('connect', 1, { app, type: 'nonprivate', flashVer: 'FMLE/3.0 (compatible)', tcUrl })
  }

  #take({ type, body }: RtmpMessage): void {
    if (type !== commandType) return
    const [name, transaction, , info] = readAmf(body)
    if (name === '_error') throw refusal(info)
    if (name === '_result' && transaction === 1) this.#createStream()
    else if (name === '_result' && transaction === 4) this.#publishTo(Number(info))
    else if (name === 'onStatus') this.#status(info)
  }

  #createStream(): void {
    const { key } = this.#target
    // Servers of the field expect the first two, and answer neither.
    this.#command('releaseStream', 2, null, key)
    this.#command('FCPublish', 3, null, key)
    this.#command('createStream', 4, null)
  }

  #publishTo(stream: number): void {
    this.#stream = stream
    const body = writeAmf('publish', 5, null, this.#target.key, 'live')
    this.#send({ type: commandType, stream, timestamp: 0, body }, mediaStream)
  }

  #status(info: AmfValue): void {
    const { level, code } = fieldsOf(info)
    if (level === 'error') throw refusal(info)
    if (code !== 'NetStream.Publish.Start' || this.#isStarted) return
    this.#isStarted = true
    this.#listener.onStart()
  }

  #command(...values: readonly AmfValue[]): void {
    this.#send({ type: commandType, stream: 0, timestamp: 0, body: writeAmf(...values) }, commandStream)
  }

  #send(message: RtmpMessage, chunkStream: number): void {
    this.#listener.send(writeChunks(message, chunkStream))
  }
}

const fieldsOf = (value: AmfValue): { readonly [key: string]: AmfValue } =>
  typeof value === 'object' && value !== null ? value : {}

/** Returns the error of a server that refuses, without its description, which may repeat the key. */
const refusal = (info: AmfValue): Error => {
  const { code } = fieldsOf(info)
  const name = typeof code === 'string' && /^[\w.]{1,60}$/.test(code) ? ` (${code})` : ''
  return new Error(`The server refuses the stream${name}.`)
}

import { beforeEach, describe, expect, it } from 'vitest'
import { type AmfValue, readAmf, writeAmf } from './amf0.ts'
import { FlvReader } from './flv-reader.ts'
import { type RtmpMessage, RtmpReader, writeChunks } from './rtmp-chunks.ts'
import { RtmpPublisher } from './rtmp-publisher.ts'

const handshakeBytes = 1536
const target = { tcUrl: 'rtmp://c.example:1935/live', app: 'live', key: 'secret' }

/** Server that reads what a publisher sends. */
class FakeServer {
  readonly publisher: RtmpPublisher
  readonly #reader = new RtmpReader()
  #sent: Buffer = Buffer.alloc(0)
  readonly messages: RtmpMessage[] = []
  isStarted = false

  constructor() {
    this.publisher = new RtmpPublisher(target, {
      send: (bytes) => {
        this.#sent = Buffer.concat([this.#sent, bytes])
      },
      onStart: () => {
        this.isStarted = true
      },
    })
    this.publisher.start()
  }

  /** Answers the handshake. `step`: length of the parts in which the answer arrives. */
  shake(step = 5000): void {
    expect(this.take().length).toBe(1 + handshakeBytes)
    const own = Buffer.concat([
      Buffer.from([3]),
      Buffer.alloc(handshakeBytes, 7),
      Buffer.alloc(handshakeBytes),
    ])
    for (let at = 0; at < own.length; at += step) this.publisher.receive(own.subarray(at, at + step))
    const answer = this.take()
    expect(answer.subarray(0, handshakeBytes)).toEqual(Buffer.alloc(handshakeBytes, 7))
    this.#read(answer.subarray(handshakeBytes))
  }

  /** Returns and forgets the bytes so far. */
  take(): Buffer {
    const sent = this.#sent
    this.#sent = Buffer.alloc(0)
    return sent
  }

  /** Sends a command, in small chunks. */
  command(...values: readonly AmfValue[]): void {
    const message = { type: 20, stream: 0, timestamp: 0, body: writeAmf(...values) }
    this.publisher.receive(writeChunks(message, 3, 128))
    this.#read(this.take())
  }

  /** Commands that the publisher has sent, as their values. */
  get commands(): readonly (readonly AmfValue[])[] {
    return this.messages.filter(({ type }) => type === 20).map(({ body }) => readAmf(body))
  }

  #read(bytes: Buffer): void {
    this.messages.push(...this.#reader.push(bytes))
  }

  accept(): void {
    this.shake()
    this.command('_result', 1, { fmsVer: 'x' }, { code: 'NetConnection.Connect.Success' })
    this.command('_result', 4, null, 1)
    this.command('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start' })
  }

  publish(tag: { type: number; timestamp: number; body: Buffer }): boolean {
    const isSent = this.publisher.publish(tag)
    this.#read(this.take())
    return isSent
  }
}

describe('a publisher by RTMP', () => {
  let server: FakeServer
  beforeEach(() => {
    server = new FakeServer()
  })

  it('connects, publishes its key, and starts when the server says so', () => {
    expect(server.publisher.publish({ type: 9, timestamp: 0, body: Buffer.from('x') })).toBe(false)
    server.accept()
    expect(server.commands.map(([name]) => name)).toEqual([
      'connect',
      'releaseStream',
      'FCPublish',
      'createStream',
      'publish',
    ])
    expect(server.commands[0]![2]).toMatchObject({ app: 'live', tcUrl: target.tcUrl })
    expect(server.commands[4]).toEqual(['publish', 5, null, 'secret', 'live'])
    expect(server.isStarted).toBe(true)
  })

  it('takes a handshake in parts', () => {
    server.shake(100)
    expect(server.commands.map(([name]) => name)).toEqual(['connect'])
  })

  it('sends tags of any length and time', () => {
    server.accept()
    for (const [length, timestamp] of [
      [10, 40],
      [60_000, 0xff_ffff],
      [0, 0x1_0000_00],
    ] as const) {
      const tag = { type: 9, timestamp, body: Buffer.alloc(length, 5) }
      expect(server.publish(tag)).toBe(true)
      expect(server.messages.at(-1)).toEqual({ ...tag, stream: 1 })
    }
    server.publish({ type: 18, timestamp: 0, body: writeAmf('onMetaData', { width: 1280 }) })
    expect(readAmf(server.messages.at(-1)!.body)).toEqual(['@setDataFrame', 'onMetaData', { width: 1280 }])
  })

  it('fails with the code of a server that refuses, and never with its key', () => {
    server.shake()
    const refusal = { level: 'error', code: 'NetConnection.Connect.Rejected', description: 'secret' }
    expect(() => server.command('_error', 1, null, refusal)).toThrow(
      'The server refuses the stream (NetConnection.Connect.Rejected).',
    )
    expect(() => server.command('onStatus', 0, null, { level: 'error', code: 'key secret' })).toThrow(
      'The server refuses the stream.',
    )
  })

  it('fails for another version, and for messages that are too long', () => {
    expect(() => server.publisher.receive(Buffer.alloc(2000, 9))).toThrow('another version')
    server = new FakeServer()
    server.shake()
    const huge = Buffer.alloc(12)
    huge[0] = 3
    huge.writeUIntBE(0xff_ffff, 4, 3)
    expect(() => server.publisher.receive(huge)).toThrow('at most')
  })
})

it('tags of FLV are read in chunks of any length', () => {
  const tag = (type: number, timestamp: number, text: string) => {
    const head = Buffer.alloc(11)
    head[0] = type
    head.writeUIntBE(text.length, 1, 3)
    head.writeUIntBE(timestamp % 0x100_0000, 4, 3)
    head[7] = Math.floor(timestamp / 0x100_0000)
    return Buffer.concat([head, Buffer.from(text), Buffer.alloc(4)])
  }
  const stream = Buffer.concat([
    Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0'),
    tag(9, 40, 'video'),
    tag(8, 0x1_0000_01, ''),
  ])
  for (const length of [1, 5, 100]) {
    const reader = new FlvReader()
    const found = []
    for (let at = 0; at < stream.length; at += length)
      found.push(...reader.push(stream.subarray(at, at + length)))
    expect(found.map(({ type, timestamp, body }) => [type, timestamp, body.toString()])).toEqual([
      [9, 40, 'video'],
      [8, 0x1_0000_01, ''],
    ])
  }
  expect(() => new FlvReader().push(Buffer.alloc(20))).toThrow('FLV expected')
})

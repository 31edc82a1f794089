import { beforeEach, describe, expect, it } from 'vitest'
import { type AmfValue, readAmf, writeAmf } from './amf0.ts'
import { FlvReader } from './flv-reader.ts'
import { type RtmpMessage, RtmpReader, transportMessage, writeChunks } from './rtmp-chunks.ts'
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
  /** Called for all that the publisher sends. */
  onSend = (): void => {}

  constructor() {
    this.publisher = new RtmpPublisher(target, {
      send: (bytes) => {
        this.#sent = Buffer.concat([this.#sent, bytes])
        this.onSend()
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

  /** Sends a message of the transport. */
  transport(message: RtmpMessage): void {
    this.publisher.receive(writeChunks(message, 2))
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
    for (const code of ['secret', 'key secret', 'NetStream.', 'NetStream.secret-1'])
      expect(() => server.command('onStatus', 0, null, { level: 'error', code })).toThrow(
        'The server refuses the stream.',
      )
  })

  it('ignores refusals of what some servers do not know', () => {
    server.shake()
    server.command('_result', 1, {}, {})
    server.command('_error', 2, null, { code: 'NetConnection.Call.Failed' })
    server.command('onBWDone', 0, null)
    server.command('_result', 4, null, 1)
    expect(() => server.command('_error', 5, null, { code: 'NetStream.Publish.BadName' })).toThrow(
      'The server refuses the stream (NetStream.Publish.BadName).',
    )
  })

  it('fails for a stream without a number, and starts only with one', () => {
    server.shake()
    server.command('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start' })
    server.command('_result', 4, null, 1)
    expect(server.isStarted).toBe(false)
    server.command('_result', 1, {}, {})
    for (const bad of ['1', -1, 0.5, 2 ** 32, null])
      expect(() => server.command('_result', 4, null, bad)).toThrow('the number of a stream')
  })

  it('acknowledges what it receives, and answers pings', () => {
    server.accept()
    server.messages.length = 0
    server.transport(transportMessage(5, 100))
    server.transport({ ...transportMessage(6, 250, 0), body: Buffer.from([0, 0, 0, 250, 2]) })
    server.transport({ type: 4, stream: 0, timestamp: 0, body: Buffer.from([0, 6, 1, 2, 3, 4]) })
    server.transport({ type: 4, stream: 0, timestamp: 0, body: Buffer.from([0]) })
    server.transport({ type: 99, stream: 0, timestamp: 0, body: Buffer.alloc(120) })
    const [first, ...others] = server.messages
    expect([first!.type, first!.body.readUInt32BE()]).toEqual([3, expect.any(Number)])
    expect(first!.body.readUInt32BE()).toBeGreaterThan(2 * handshakeBytes)
    expect(others.map(({ type, body }) => [type, body.toString('hex')])).toEqual([
      [5, '000000fa'],
      [4, '000701020304'],
      [3, expect.any(String)],
    ])
  })

  it('announces its end once, and then ignores the server', () => {
    server.accept()
    server.publisher.end()
    server.publisher.end()
    server.isStarted = false
    server.command('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start' })
    server.command('onStatus', 0, null, { level: 'error', code: 'NetStream.Publish.Denied' })
    server.transport({ type: 4, stream: 0, timestamp: 0, body: Buffer.from([0, 6, 1, 2, 3, 4]) })
    const sent = server.messages.slice(-2).map(({ body }) => readAmf(body))
    expect(sent).toEqual([
      ['FCUnpublish', 6, null, 'secret'],
      ['deleteStream', 7, null, 1],
    ])
    expect(server.isStarted).toBe(false)
    expect(server.publish({ type: 9, timestamp: 0, body: Buffer.from('x') })).toBe(false)
  })

  it('that ends before its start announces nothing', () => {
    server.shake()
    server.publisher.end()
    server.command('_result', 1, {}, {})
    expect(server.commands.map(([name]) => name)).toEqual(['connect'])
  })

  it('handles no further message of a chunk once it has ended', () => {
    const ping = writeChunks({ type: 4, stream: 0, timestamp: 0, body: Buffer.from([0, 6, 1, 2, 3, 4]) }, 2)
    server.accept()
    let answers = 0
    server.onSend = () => {
      answers++
      server.publisher.end()
    }
    server.publisher.receive(Buffer.concat([ping, ping, ping]))
    // The answer to the first ping, and the two commands of the end.
    expect(answers).toBe(3)
  })

  it('fails for another version, and for commands that are no values', () => {
    expect(() => server.publisher.receive(Buffer.alloc(1, 9))).toThrow('another version')
    server = new FakeServer()
    server.shake()
    expect(() => server.transport({ type: 20, stream: 0, timestamp: 0, body: Buffer.from([2, 9]) })).toThrow(
      'The server does not keep to RTMP: a whole value expected.',
    )
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

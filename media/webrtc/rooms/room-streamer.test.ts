import { Duplex } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../edge/testing/test-clock.ts'
import { type AmfValue, writeAmf } from '../../ffmpeg/rtmp/amf0.ts'
import { RtmpReader, writeChunks } from '../../ffmpeg/rtmp/rtmp-chunks.ts'
import { FakeFfmpeg } from '../../ffmpeg/testing/fake-ffmpeg.ts'
import type { RoomFrame } from '../../types.ts'
import { RoomStreamer } from './room-streamer.ts'

const handshake = Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1536)])
const target = { tcUrl: 'rtmp://c.example:1935/live', app: 'live', key: 'secret' }
const settled = () => new Promise(setImmediate)

const commandBytes = (...values: readonly AmfValue[]): Buffer =>
  writeChunks({ type: 20, stream: 0, timestamp: 0, body: writeAmf(...values) }, 3, 128)

/** Connection to a server that the test plays. */
class FakeSocket extends Duplex {
  readonly sent: Buffer[] = []
  /** Whether the server takes what is sent. */
  isReading = true

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.sent.push(chunk)
    if (this.isReading) done()
  }

  override _final(done: () => void): void {
    done()
  }

  command(...values: readonly AmfValue[]): void {
    this.push(commandBytes(...values))
  }

  accept(): void {
    this.push(handshake)
    this.command('_result', 1, null, null)
    this.command('_result', 4, null, 1)
    this.command('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start' })
  }
}

describe('the stream of a room', () => {
  let clock: TestClock
  let ffmpeg: FakeFfmpeg
  let socket: FakeSocket
  let frames: Set<(frame: RoomFrame) => void>
  let packets: number
  let signal: AbortSignal

  beforeEach(() => {
    clock = new TestClock()
    ffmpeg = new FakeFfmpeg()
    socket = new FakeSocket()
    frames = new Set()
    packets = 0
  })

  const start = (connect = () => Promise.resolve<Duplex>(socket)) => {
    const onPacket = () => {
      packets++
      return () => void packets--
    }
    const watchFrames = (onFrame: (frame: RoomFrame) => void) => {
      frames.add(onFrame)
      return { requestKeyFrame: () => {}, close: () => void frames.delete(onFrame) }
    }
    const connecting = (given: AbortSignal) => {
      signal = given
      return connect()
    }
    return new RoomStreamer(
      { mixer: { onPacket }, video: { watchFrames } },
      { ...target, connect: connecting },
      { ffmpeg, clock },
    )
  }

  const rest = () => [packets, frames.size, clock.running, ffmpeg.processes.every((each) => each.isKilled)]
  const nothingLeft = [0, 0, 0, true]

  it('is encoded once the server accepts it, without its key among the arguments', async () => {
    const stream = start()
    await settled()
    expect(ffmpeg.processes).toHaveLength(0)
    socket.accept()
    await settled()
    expect([packets, frames.size]).toEqual([1, 1])
    expect(ffmpeg.last.args.join(' ')).not.toContain('secret')
    const tag = Buffer.from([9, 0, 0, 1, 0, 0, 40, 0, 0, 0, 0, 77, 0, 0, 0, 12])
    ffmpeg.last.stdout.write(Buffer.concat([Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0'), tag]))
    await settled()
    clock.advance(5000)
    stream.stop()
    expect(await stream.done).toEqual({ sentMs: 5000 })
    const sent = Buffer.concat(socket.sent).subarray(1 + 2 * 1536)
    const types = new RtmpReader().push(sent).map(({ type }) => type)
    expect(types).toEqual([20, 20, 20, 20, 20, 9, 20, 20])
    await settled()
    expect(socket.destroyed).toBe(true)
    expect(rest()).toEqual(nothingLeft)
  })

  it('ends if the server is not reached, or does not accept it in time', async () => {
    expect(await start(() => Promise.reject(new Error('ECONNREFUSED.'))).done).toEqual({
      fault: 'unreachable',
      failure: 'ECONNREFUSED.',
      sentMs: 0,
    })
    const late = start(() => new Promise(() => {}))
    clock.advance(15_000)
    expect(await late.done).toMatchObject({ fault: 'unreachable', sentMs: 0 })
    expect(signal.aborted).toBe(true)
    const silent = start()
    await settled()
    socket.push(handshake)
    clock.advance(15_000)
    expect(await silent.done).toMatchObject({ fault: 'refused', failure: expect.stringContaining('15 s') })
    expect([socket.destroyed, ...rest()]).toEqual([true, ...nothingLeft])
  })

  it('ends if the server refuses it, errs or hangs up', async () => {
    const refused = start()
    await settled()
    socket.push(handshake)
    socket.command('_error', 1, null, { code: 'NetConnection.Connect.Rejected' })
    expect(await refused.done).toEqual({
      fault: 'refused',
      failure: 'The server refuses the stream (NetConnection.Connect.Rejected).',
      sentMs: 0,
    })
    socket = new FakeSocket()
    const gone = start()
    await settled()
    socket.destroy()
    expect(await gone.done).toMatchObject({
      fault: 'refused',
      failure: 'The connection to the server is lost: the server has ended it.',
    })
    socket = new FakeSocket()
    const lost = start()
    await settled()
    socket.accept()
    await settled()
    clock.advance(3000)
    socket.destroy(Object.assign(new Error('reset by 192.0.2.1'), { code: 'ECONNRESET' }))
    expect(await lost.done).toEqual({
      fault: 'lost',
      failure: 'The connection to the server is lost: ECONNRESET.',
      sentMs: 3000,
    })
    expect(rest()).toEqual(nothingLeft)
  })

  it('ends if the server takes it too slowly, and if ffmpeg fails', async () => {
    const slow = start()
    await settled()
    socket.accept()
    await settled()
    socket.isReading = false
    const tag = Buffer.alloc(11 + 3_000_000 + 4)
    tag[0] = 9
    tag.writeUIntBE(3_000_000, 1, 3)
    ffmpeg.last.stdout.write(Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0'))
    for (let i = 0; i < 4; i++) ffmpeg.last.stdout.write(tag)
    expect(await slow.done).toMatchObject({ fault: 'slow' })
    socket = new FakeSocket()
    const failed = start()
    await settled()
    socket.accept()
    await settled()
    ffmpeg.last.end(1, '/usr/lib/x264 is broken')
    expect(await failed.done).toMatchObject({
      fault: 'encoder',
      failure: 'The stream cannot be encoded.',
      detail: '/usr/lib/x264 is broken',
    })
    expect(socket.destroyed).toBe(true)
  })

  it('does not start if the same bytes of the server end it', async () => {
    const stream = start()
    await settled()
    socket.push(handshake)
    socket.command('_result', 1, null, null)
    socket.command('_result', 4, null, 1)
    await settled()
    socket.isReading = false
    socket.write(Buffer.alloc(8_000_000))
    const ping = { type: 4, stream: 0, timestamp: 0, body: Buffer.from([0, 6, 1, 2, 3, 4]) }
    const accepted = commandBytes('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start' })
    socket.push(Buffer.concat([writeChunks(ping, 2), accepted]))
    expect(await stream.done).toMatchObject({ fault: 'slow', sentMs: 0 })
    expect([socket.destroyed, ffmpeg.processes.length, ...rest()]).toEqual([true, 0, ...nothingLeft])
  })

  it('closes the connection to a server that does not take its end', async () => {
    const stream = start()
    await settled()
    socket.accept()
    await settled()
    socket.isReading = false
    stream.stop()
    expect(await stream.done).toMatchObject({ sentMs: 0 })
    clock.advance(4999)
    socket.push(Buffer.alloc(1))
    await settled()
    expect([socket.destroyed, clock.running]).toEqual([false, 1])
    clock.advance(1)
    await settled()
    expect([socket.destroyed, ...rest()]).toEqual([true, ...nothingLeft])
  })

  it('closes a connection that comes after its end', async () => {
    const { promise, resolve } = Promise.withResolvers<Duplex>()
    const stream = start(() => promise)
    stream.stop()
    stream.stop()
    resolve(socket)
    await settled()
    expect([socket.destroyed, ...rest()]).toEqual([true, ...nothingLeft])
    expect(await stream.done).toEqual({ sentMs: 0 })
  })
})

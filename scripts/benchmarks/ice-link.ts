/** Path between a transport of mediasoup and the gateway: both are ICE lite (RFC 8445), so neither begins. */
import { createHmac, randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { crc32 } from 'node:zlib'

const loopback = '127.0.0.1'
/** Time between two checks in ms. mediasoup waits for 30 s. */
const checkEveryMs = 5_000
/** Time until the first check is repeated, in ms. */
const firstChecksMs = 100

/** ICE agent on 127.0.0.1. */
export interface IceSide {
  readonly port: number
  readonly ufrag: string
  readonly password: string
}

const attribute = (type: number, value: Uint8Array): Buffer => {
  const padded = Buffer.alloc(4 + 4 * Math.ceil(value.length / 4))
  padded.writeUInt16BE(type, 0)
  padded.writeUInt16BE(value.length, 2)
  padded.set(value, 4)
  return padded
}

/** Returns a binding request that nominates the path (RFC 8489 and RFC 8445 section 7.2). */
const bindingRequest = ({ ufrag, password }: IceSide): Buffer => {
  const head = Buffer.alloc(20)
  head.writeUInt16BE(1, 0)
  head.writeUInt32BE(0x2112a442, 4)
  head.set(randomBytes(12), 8)
  const priority = Buffer.alloc(4)
  priority.writeUInt32BE(0x6e0001ff)
  const parts = [
    head,
    attribute(0x0006, Buffer.from(`${ufrag}:bot`)),
    attribute(0x0024, priority),
    attribute(0x802a, Buffer.alloc(8, 1)),
    attribute(0x0025, Buffer.alloc(0)),
  ]
  const length = parts.reduce((sum, part) => sum + part.length, 0) - head.length
  head.writeUInt16BE(length + 24, 2)
  parts.push(attribute(0x0008, createHmac('sha1', password).update(Buffer.concat(parts)).digest()))
  head.writeUInt16BE(length + 32, 2)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE((crc32(Buffer.concat(parts)) ^ 0x5354554e) >>> 0)
  return Buffer.concat([...parts, attribute(0x8028, checksum)])
}

/** First byte of packets that are no STUN messages, at least (RFC 7983). */
const minOther = 4
/** Type of the success response to a binding request (RFC 8489 section 5). */
const success = 0x0101
/** Whether a packet is RTP and neither DTLS nor RTCP (RFC 7983, RFC 5761). */
const isRtp = (packet: Buffer): boolean =>
  packet.length > 12 && packet[0]! >= 128 && packet[0]! < 192 && (packet[1]! < 192 || packet[1]! > 223)

/** Socket that opens the path to both sides, and forwards all their other packets. */
export class IceLink {
  readonly #socket: Socket
  readonly #timers: NodeJS.Timeout[] = []
  readonly #accepted = Promise.withResolvers<boolean>()

  private constructor(
    socket: Socket,
    near: IceSide,
    far: IceSide,
    onStream: (ssrc: number) => Promise<void>,
  ) {
    this.#socket = socket
    const unchecked = new Set([near, far])
    /** Packets of the stream until its receiver is ready. */
    let waiting: Buffer[] | undefined = []
    const send = (packet: Buffer, { port }: IceSide) => socket.send(packet, port, loopback)
    socket.on('message', (packet, { port }) => {
      const isFar = port === far.port
      if (packet[0]! < minOther) {
        // An answer to a check.
        unchecked.delete(isFar ? far : near)
        if (isFar) this.#accepted.resolve(packet.readUInt16BE(0) === success)
      } else if (!isFar) send(packet, far)
      else if (!waiting || !isRtp(packet)) send(packet, near)
      else if (waiting.push(packet) === 1)
        void onStream(packet.readUInt32BE(8)).then(() => {
          for (const each of waiting ?? []) send(each, near)
          waiting = undefined
        })
    })
    const check = (sides: Iterable<IceSide>) => {
      for (const side of sides) socket.send(bindingRequest(side), side.port, loopback)
    }
    check(unchecked)
    this.#timers.push(
      setInterval(() => check(unchecked), firstChecksMs),
      setInterval(() => check([near, far]), checkEveryMs),
    )
  }

  /**
   * Opens a path that the far side has accepted. mediasoup knows a browser by its address first, and by its
   * user name only then. The port may be that of a bot that has vanished. The far side then rejects the
   * checks until it has closed the old transport. A browser has further candidates. A bot uses another port.
   * `onStream`: called with the SSRC of the far side's stream, whose packets wait until it resolves.
   */
  static async open(
    near: IceSide,
    far: IceSide,
    onStream: (ssrc: number) => Promise<void>,
  ): Promise<IceLink> {
    for (;;) {
      const socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 19 }).bind(0, loopback)
      await once(socket, 'listening')
      const link = new IceLink(socket, near, far, onStream)
      if (await link.#accepted.promise) return link
      link.close()
    }
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#accepted.resolve(true)
    this.#socket.close()
  }
}

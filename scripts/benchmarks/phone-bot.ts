/** Simulated telephones: SIP over UDP, and PCMU. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { encode } from '../../media/codecs/g711.ts'
import { ComfortNoise } from '../../media/rtp/comfort-noise.ts'
import { type PlacedCall, SipCaller } from '../../test/support/sip-caller.ts'

const packetBytes = 172
const frameSamples = 160
/** Level of a line without speech, in dBov. */
const lineDb = -62

/** A second of a quiet line. */
const line = (): Uint8Array => {
  const samples = new Int16Array(8000)
  new ComfortNoise(7).fill(lineDb, samples)
  return encode('PCMU', samples)
}

/** A telephone in a room. It sends a quiet line when {@link send} is called every 20 ms. */
export class PhoneBot {
  readonly #caller: SipCaller
  readonly #call: PlacedCall
  readonly #socket: Socket
  readonly #to: number
  readonly #line = line()
  #frame = 0

  private constructor(caller: SipCaller, call: PlacedCall, socket: Socket) {
    this.#caller = caller
    this.#call = call
    this.#socket = socket
    this.#to = Number(/^m=audio (\d+)/m.exec(call.response)?.[1])
  }

  /** Calls a URI at the gateway's SIP port. `onAudio` is called for each packet of the room's audio. */
  static async join(
    sipPort: number,
    uri: string,
    onAudio: (payload: Buffer) => void = () => {},
  ): Promise<PhoneBot> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 18 }).bind(0, '127.0.0.1')
    await once(socket, 'listening')
    socket.on('message', (packet) => {
      // RTCP is not counted.
      if (packet.length === packetBytes) onAudio(packet.subarray(12))
    })
    const caller = await SipCaller.open(sipPort, '127.0.0.1', false)
    const { address, port } = socket.address()
    const call = await caller.call(uri, { media: { address, port } })
    if (call.status !== 200) throw new Error(`${uri}: ${call.status}`)
    return new PhoneBot(caller, call, socket)
  }

  /** Sends 20 ms. */
  send(): void {
    const at = (this.#frame * frameSamples) % this.#line.length
    this.sendAudio(this.#line.subarray(at, at + frameSamples), this.#frame * 20)
  }

  /** Sends 20 ms of PCMU. `ms`: its media time. */
  sendAudio(payload: Uint8Array, ms: number): void {
    const packet = Buffer.alloc(packetBytes)
    packet.writeUInt16BE(0x8000, 0)
    packet.writeUInt16BE(this.#frame & 0xffff, 2)
    packet.writeUInt32BE((ms * 8) >>> 0, 4)
    packet.writeUInt32BE(this.#to, 8)
    packet.set(payload, 12)
    this.#frame++
    this.#socket.send(packet, this.#to, '127.0.0.1')
  }

  async leave(): Promise<void> {
    await this.#call.hangUp()
    this.#caller.close()
    this.#socket.close()
  }
}

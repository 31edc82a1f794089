/** Telephone of a caller who talks to an agent: SIP over UDP and PCMU, with the times of every packet. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode } from '../../../media/codecs/g711.ts'
import { ComfortNoise } from '../../../media/rtp/comfort-noise.ts'
import { levelDb } from '../../../media/rtp/voice-activity.ts'
import { type PlacedCall, SipCaller } from '../../../test/support/sip-caller.ts'
import type { HeardPacket } from './readings.ts'

const packetBytes = 172
const frameSamples = 160
const frameMs = 20
/** Level of a line without speech, in dBov. */
const quietDb = -62

/** Telephone whose caller talks by {@link TalkingLine.say}; between, the line is quiet. */
export class TalkingLine {
  /** Packets of the agent since the last {@link forget}. */
  packets: HeardPacket[] = []
  readonly #caller: SipCaller
  readonly #socket: Socket
  readonly #noise = new ComfortNoise(7)
  #call: PlacedCall | undefined
  #to = 0
  #frame = 0
  #speech: { readonly samples: Int16Array; at: number } | undefined
  #timer: NodeJS.Timeout | undefined
  /** Copy of the agent's sound that comes back, as of a telephone with echo. */
  #echo: { readonly delayMs: number; readonly gain: number } | undefined
  #onSent: ((at: number) => void) | undefined

  private constructor(caller: SipCaller, socket: Socket) {
    this.#caller = caller
    this.#socket = socket
    socket.on('message', (packet) => this.#receive(packet))
  }

  static async open(sipPort: number): Promise<TalkingLine> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 }).bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new TalkingLine(await SipCaller.open(sipPort, '127.0.0.1', false), socket)
  }

  /** Calls a URI, and is quiet. Resolves with the time of the answer. Rejects if the call is rejected. */
  async call(uri: string): Promise<number> {
    const { address, port } = this.#socket.address()
    this.#call = await this.#caller.call(uri, { media: { address, port } })
    const answeredAt = performance.now()
    if (this.#call.status !== 200) throw new Error(`${uri}: ${this.#call.status}`)
    this.#to = Number(/^m=audio (\d+)/m.exec(this.#call.response)?.[1])
    const began = performance.now()
    this.#timer = setInterval(() => {
      const due = Math.floor((performance.now() - began) / frameMs)
      while (this.#frame < due) this.#send()
    }, 4)
    return answeredAt
  }

  /**
   * Talks: 8 kHz samples. Resolves with the times in ms at which the first and the last packet left.
   */
  say(samples: Int16Array): Promise<{ readonly beganAt: number; readonly endedAt: number }> {
    this.#speech = { samples, at: 0 }
    const { promise, resolve } = Promise.withResolvers<{ beganAt: number; endedAt: number }>()
    let beganAt: number | undefined
    let endedAt = 0
    this.#onSent = (at) => {
      beganAt ??= at
      endedAt = at
      if (this.#speech) return
      this.#onSent = undefined
      resolve({ beganAt, endedAt })
    }
    return promise
  }

  /** Returns the agent's own sound to it, delayed and weaker; undefined ends the echo. */
  echo(echo: { readonly delayMs: number; readonly gain: number } | undefined): void {
    this.#echo = echo
  }

  /** Forgets the received packets. */
  forget(): void {
    this.packets = []
  }

  async hangUp(): Promise<void> {
    clearInterval(this.#timer)
    await this.#call?.hangUp()
    this.#caller.close()
    this.#socket.close()
  }

  #send(): void {
    const samples = new Int16Array(frameSamples)
    this.#noise.fill(quietDb, samples)
    const speech = this.#speech
    if (speech) {
      const part = speech.samples.subarray(speech.at, speech.at + frameSamples)
      samples.set(part)
      speech.at += frameSamples
      if (speech.at >= speech.samples.length) this.#speech = undefined
    }
    this.#addEcho(samples)
    const packet = Buffer.alloc(packetBytes)
    packet.writeUInt16BE(0x8000, 0)
    packet.writeUInt16BE(this.#frame & 0xffff, 2)
    packet.writeUInt32BE((this.#frame * frameSamples) >>> 0, 4)
    packet.writeUInt32BE(this.#to, 8)
    packet.set(encode('PCMU', samples), 12)
    this.#frame++
    this.#socket.send(packet, this.#to, '127.0.0.1')
    if (speech) this.#onSent?.(performance.now())
  }

  #addEcho(samples: Int16Array): void {
    if (!this.#echo) return
    const { delayMs, gain } = this.#echo
    const then = performance.now() - delayMs
    const source = this.packets.findLast(({ at }) => at <= then)
    if (!source || then - source.at > 2 * frameMs) return
    for (let i = 0; i < frameSamples; i++)
      samples[i] = Math.max(-32_768, Math.min(32_767, samples[i]! + Math.round(source.samples[i]! * gain)))
  }

  #receive(packet: Buffer): void {
    // RTCP is not counted.
    if (packet.length !== packetBytes) return
    const samples = decode('PCMU', packet.subarray(12))
    this.packets.push({
      at: performance.now(),
      ms: packet.readUInt32BE(4) / 8,
      sequence: packet.readUInt16BE(2),
      db: levelDb(samples),
      samples,
    })
  }
}

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { rtpmapOf } from '../../gateway/sip/sdp/codec-names.ts'
import { dominant } from '../../media/codecs/tone.ts'
import { readRtp, rtpView, writeRtpHeader } from '../../media/rtp/packet.ts'
import { decoded, rateOf, TestVoice, unitsOf } from '../../media/rtp/testing/codecs.ts'
import type { AudioCodec } from '../../media/types.ts'
import type { BadNetwork } from './bad-network.ts'
import { type Arrival, type Reception, received } from './reception.ts'
import { until } from './until.ts'

/** Payload types of the caller. */
const own: Readonly<Record<AudioCodec, number>> = { PCMU: 0, PCMA: 8, G722: 9, L16: 98, opus: 107 }
/** Payload types of the callee: those of the gateway's offer, as RFC 3264 recommends. */
const theirs: Readonly<Record<AudioCodec, number>> = { ...own, L16: 96, opus: 111 }

/** Returns the formats of the m-line and their attributes for a codec. `called`: for an answer. */
export const formats = (codec: AudioCodec, called = false): { payloads: string; codecs: string } => {
  const number = (called ? theirs : own)[codec]
  const lines = [`a=rtpmap:${number} ${rtpmapOf(codec)}`]
  if (codec === 'opus') lines.push(`a=fmtp:${number} useinbandfec=1`)
  return { payloads: String(number), codecs: lines.join('\n') }
}

/** Endless source of encoded packets. */
export interface Voice {
  /** The next packet's payload. */
  say(): Uint8Array
}

/**
 * The media of a carrier in any codec: a port for SIPp's SDP, a tone to send, and the received packets. Ends
 * with its test.
 */
export class CodecPeer {
  readonly #socket: Socket
  readonly #heard: Arrival[] = []
  /** Payloads that were sent, in Base64. */
  readonly #said = new Set<string>()
  readonly #numbers: Readonly<Record<AudioCodec, number>>
  #codec: AudioCodec
  #ptimeMs: number
  #voice: Voice | undefined
  #network: BadNetwork | undefined
  #timer: NodeJS.Timeout | undefined
  #sequence = 7
  #timestamp = 99

  private constructor(socket: Socket, codec: AudioCodec, ptimeMs: number, called: boolean) {
    this.#socket = socket
    this.#numbers = called ? theirs : own
    this.#codec = codec
    this.#ptimeMs = ptimeMs
    socket.on('message', (packet) => this.#take(packet))
    onTestFinished(() => this.#close())
  }

  /** Opens a port of 127.0.0.1 that sends packets of `ptimeMs`. */
  static async open(codec: AudioCodec, ptimeMs = 20, called = false): Promise<CodecPeer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new CodecPeer(socket, codec, ptimeMs, called)
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** Payload length of the last received packet in bytes; 0 before the first. */
  get lastBytes(): number {
    return this.#heard.at(-1)?.payload.length ?? 0
  }

  /** Switches to another codec and tone. */
  become(codec: AudioCodec, frequency: number): void {
    this.#codec = codec
    this.#voice = new TestVoice(codec, frequency, this.#ptimeMs)
  }

  /** Sends its packets over this network from now on. */
  over(network: BadNetwork): void {
    this.#network = network
  }

  /** Sends a tone, or a voice, to a port of 127.0.0.1, paced by the clock. */
  talks(to: number | string, says: number | Voice): void {
    if (typeof says === 'number') this.become(this.#codec, says)
    else this.#voice = says
    const began = performance.now()
    let packets = 0
    this.#timer = setInterval(() => {
      for (; packets < Math.floor((performance.now() - began) / this.#ptimeMs); packets++)
        this.#send(Number(to))
    }, 5)
  }

  /** Returns the audio that arrives in the current codec within `ms`. */
  async listens(ms: number): Promise<Reception> {
    const from = this.#heard.length
    await sleep(ms)
    const payloadType = this.#numbers[this.#codec]
    const own = this.#heard.slice(from).filter((arrival) => arrival.payloadType === payloadType)
    return received(this.#codec, own)
  }

  /** Waits until the last 250 ms of audio in the current codec are this tone. */
  async hears(frequency: number): Promise<void> {
    await until(
      `${frequency} Hz is heard in ${this.#codec}`,
      () => this.#tone(),
      (found) => Math.abs(found - frequency) < 15,
    )
  }

  /**
   * Waits until the last 20 packets are byte for byte those of `other`, which proves that nothing transcodes.
   */
  async hearsTheVery(other: CodecPeer): Promise<void> {
    const same = () => this.#heard.slice(-20).filter(({ payload }) => other.#said.has(textOf(payload))).length
    await until('20 packets come as they were sent', same, (count) => count === 20)
  }

  #tone(): number {
    const payloadType = this.#numbers[this.#codec]
    const packets = this.#heard.slice(-60).filter((packet) => packet.payloadType === payloadType)
    const rate = rateOf(this.#codec)
    const samples = decoded(
      this.#codec,
      packets.map(({ payload }) => payload),
    ).slice(-rate / 4)
    return samples.length < rate / 4 ? 0 : dominant(samples, rate)
  }

  #send(to: number): void {
    const payload = this.#voice?.say()
    if (!payload) return
    this.#said.add(textOf(payload))
    const packet = Buffer.alloc(12 + payload.length)
    writeRtpHeader(packet, 0, {
      payloadType: this.#numbers[this.#codec],
      marker: false,
      sequence: this.#sequence,
      timestamp: this.#timestamp,
      ssrc: 4711,
    })
    packet.set(payload, 12)
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#timestamp = (this.#timestamp + unitsOf(this.#codec, this.#ptimeMs)) >>> 0
    const send = () => this.#socket.send(packet, to, '127.0.0.1')
    if (this.#network) this.#network.carry(send)
    else send()
  }

  #take(packet: Buffer): void {
    const view = rtpView()
    if (readRtp(packet, view))
      this.#heard.push({
        at: performance.now(),
        sequence: view.sequence,
        timestamp: view.timestamp,
        payloadType: view.payloadType,
        payload: Uint8Array.from(packet.subarray(view.start, view.end)),
      })
  }

  #close(): void {
    clearInterval(this.#timer)
    this.#network?.close()
    this.#socket.close()
  }
}

const textOf = (payload: Uint8Array): string => Buffer.from(payload).toString('base64')

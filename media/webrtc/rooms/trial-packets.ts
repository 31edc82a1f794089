import { randomInt } from 'node:crypto'
import type { types } from 'mediasoup'
import type { MediaClock } from '../../clock.ts'
import { headerBytes, writeRtpHeader } from '../../rtp/packet.ts'
import { loadCodec } from '../video-parameters.ts'
import { openLink } from './open-link.ts'

/** Size of a packet in bytes, and on the path, with SRTP and the headers of UDP and IP. */
const packetBytes = headerBytes + 1100
const pathBits = 8 * (packetBytes + 10 + 8 + 20)
/** Maximum number of packets that are sent together. */
const maxBurst = 20
/** Maximum time in ms for which packets are made up. A stream may have stood still. */
const maxGapMs = 500

/** Values and collaborators of {@link TrialPackets}. */
export interface TrialPacketsDeps {
  readonly router: types.Router
  /** Transport to the viewer, in the router. */
  readonly transport: types.Transport
  readonly clock: Pick<MediaClock, 'now'>
}

/**
 * Extra packets towards one viewer, which drops them: they belong to no stream of its session. They travel
 * over the same path as the picture, before every second frame.
 */
export class TrialPackets {
  readonly #clock: Pick<MediaClock, 'now'>
  readonly #close: () => void
  readonly #packet = Buffer.alloc(packetBytes)
  readonly #ssrc = randomInt(1, 2 ** 32 - 1)
  #producer: types.Producer | undefined
  #consumer: types.Consumer | undefined
  #rate = 0
  #isSkipped = false
  #isClosed = false
  /** Time up to which packets were sent. */
  #lastAt: number
  #sequence = randomInt(0x10000)

  constructor({ router, transport, clock }: TrialPacketsDeps) {
    this.#clock = clock
    this.#lastAt = clock.now()
    const ssrc = this.#ssrc
    const open = async (direct: types.DirectTransport) => {
      const { kind, mimeType, clockRate, preferredPayloadType: payloadType } = loadCodec
      const codecs = [{ mimeType, clockRate, payloadType }]
      const producer = await direct.produce({ kind, rtpParameters: { codecs, encodings: [{ ssrc }] } })
      const rtpCapabilities = { codecs: [{ ...loadCodec }], headerExtensions: [] }
      this.#consumer = await transport.consume({ producerId: producer.id, rtpCapabilities })
      // mediasoup would keep a consumer whose transport closed meanwhile.
      if (this.#isClosed) this.#consumer.close()
      return producer
    }
    this.#close = openLink(
      router,
      open,
      ({ end }) => {
        this.#producer = end
      },
      // The transport of the viewer has closed: the trial ends with it.
      () => undefined,
    )
  }

  /** Sets the rate in bit/s. */
  setRate(rate: number): void {
    this.#rate = rate
  }

  /** Sends the packets that are due. Called before each frame. */
  beforeFrame(): void {
    const producer = this.#producer
    this.#isSkipped = !this.#isSkipped
    if (this.#isSkipped || !producer || producer.closed) return
    const now = this.#clock.now()
    const since = Math.max(this.#lastAt, now - maxGapMs)
    const due = Math.min(maxBurst, Math.floor((this.#rate * (now - since)) / 1000 / pathBits))
    for (let count = 0; count < due; count++) producer.send(this.#next(now))
    if (due > 0) this.#lastAt = since + (due * pathBits * 1000) / this.#rate
  }

  /** Ends the packets. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#consumer?.close()
    this.#close()
  }

  #next(now: number): Buffer {
    this.#sequence = (this.#sequence + 1) & 0xffff
    writeRtpHeader(this.#packet, 0, {
      payloadType: loadCodec.preferredPayloadType,
      marker: false,
      sequence: this.#sequence,
      timestamp: Math.floor((now * loadCodec.clockRate) / 1000) % 2 ** 32,
      ssrc: this.#ssrc,
    })
    return this.#packet
  }
}

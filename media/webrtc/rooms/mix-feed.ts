import type { MediaClock, MediaTimer } from '../../clock.ts'
import { StreamTimeline } from '../../rooms/stream-timeline.ts'
import { opusSilence } from '../../rtp/encoding.ts'
import type { Mixer } from '../../types.ts'

/** Duration of a packet of the mix, in ms. */
const packetMs = 20
/** Maximum change of the delay of the mix per packet, in ms: 100 ms in a second. */
const maxDelayStepMs = 2
/** Interval and age of the silence before the first packet of the mix, in ms. */
const silenceAgeMs = 200

/**
 * Mix of a room with the times that its packets belong to, beside pictures that come without a buffer.
 * Silence comes before the first packet of the mix.
 */
export class MixFeed {
  readonly #clock: MediaClock
  readonly #onPacket: (at: number, packet: Uint8Array) => void
  readonly #timeline = new StreamTimeline()
  readonly #end: () => void
  #packets = 0
  /** Time up to which silence was added before the first packet. */
  #silentUntil: number
  #silence: MediaTimer | undefined
  /** Age of the audio when it arrives here, in ms. */
  #delayMs: number | undefined

  constructor(
    mixer: Pick<Mixer, 'onPacket'>,
    clock: MediaClock,
    onPacket: (at: number, packet: Uint8Array) => void,
  ) {
    this.#clock = clock
    this.#onPacket = onPacket
    this.#silentUntil = clock.now()
    this.#end = mixer.onPacket((packet, delayMs) => this.#receive(packet, delayMs))
    this.#fillSilence()
  }

  /** Ends the packets. Idempotent. */
  close(): void {
    this.#silence?.cancel()
    this.#end()
  }

  #receive(packet: Uint8Array, delayMs: number): void {
    this.#delayMs ??= delayMs
    this.#delayMs += Math.max(-maxDelayStepMs, Math.min(maxDelayStepMs, delayMs - this.#delayMs))
    const at = this.#timeline.at(this.#clock.now(), this.#packets++ * packetMs)
    this.#onPacket(at - this.#delayMs, packet)
  }

  /** Adds silence until the first packet of the mix. */
  #fillSilence(): void {
    if (this.#packets > 0) return
    this.#silence = this.#clock.after(silenceAgeMs, () => this.#fillSilence())
    const until = this.#clock.now() - silenceAgeMs - packetMs
    for (; this.#silentUntil <= until; this.#silentUntil += packetMs)
      this.#onPacket(this.#silentUntil, opusSilence)
  }
}

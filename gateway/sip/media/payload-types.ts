import { codecInfo } from '../../../media/codecs/codec-info.ts'
import type { AudioCodec } from '../../../media/types.ts'
import { comfortNoise, eventsName, formatName } from '../sdp/codec-names.ts'
import type { CodecFormat, EventFormat, Format } from '../sdp/sdp-description.ts'

/** Usual payload types of formats without a static one. */
const usualOpus = 111
const usualEvents: Readonly<Partial<Record<number, number>>> = { 8000: 101, 48000: 110 }

/**
 * Payload types of one session. A number keeps its meaning until the session ends, and a format keeps its
 * number (RFC 3264 section 8.3.2). So packets that are in transit during a change are still read correctly.
 */
export class PayloadTypes {
  #byName = new Map<string, number>()
  #byNumber = new Map<number, string>()

  /** Uses the peer's payload types for its formats. */
  learn(formats: readonly Format[]): void {
    for (const { name, payloadType } of formats) {
      this.#byNumber.set(payloadType, name)
      this.#byName.set(name, payloadType)
    }
  }

  /** Returns a codec for the next local offer. */
  codec(codec: AudioCodec): CodecFormat {
    const usual = codecInfo[codec].payloadType ?? (codec === 'opus' ? usualOpus : undefined)
    return { codec, payloadType: this.#number(formatName(codec), usual) }
  }

  /** Returns the telephone-event for the next local offer. */
  events(clockRate: number): EventFormat {
    return { clockRate, payloadType: this.#number(eventsName(clockRate), usualEvents[clockRate]) }
  }

  /** Payload type of comfort noise for the next local offer. */
  get comfortNoise(): number {
    return this.#number(comfortNoise.name, comfortNoise.payloadType)
  }

  #number(name: string, usual: number | undefined): number {
    const known = this.#byName.get(name)
    if (known !== undefined && this.#byNumber.get(known) === name) return known
    const number = usual !== undefined && !this.#byNumber.has(usual) ? usual : this.#free()
    this.#byName.set(name, number)
    this.#byNumber.set(number, name)
    return number
  }

  #free(): number {
    for (let number = 96; number <= 127; number++) if (!this.#byNumber.has(number)) return number
    throw new Error('all dynamic payload types of the session are taken')
  }
}

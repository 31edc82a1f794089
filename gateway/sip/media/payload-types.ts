import { codecInfo } from '../../../media/codecs/codec-info.ts'
import type { AudioCodec } from '../../../media/types.ts'
import { comfortNoise, eventsName, formatName } from '../sdp/codec-names.ts'
import type { CodecFormat, EventFormat, Format } from '../sdp/sdp-description.ts'

/** The numbers that most equipment has for what has none of its own. */
const usualOpus = 111
const usualEvents: Readonly<Partial<Record<number, number>>> = { 8000: 101, 48000: 110 }

/**
 * The payload types of one session. A number that stood for something once stands for nothing else until the
 * session ends, and a format keeps the number that it has (RFC 3264 section 8.3.2); so what is still on its
 * way is never misunderstood.
 */
export class PayloadTypes {
  #byName = new Map<string, number>()
  #byNumber = new Map<number, string>()

  /** What the far side calls its formats: from now on we call them so, too. */
  learn(formats: readonly Format[]): void {
    for (const { name, payloadType } of formats) {
      this.#byNumber.set(payloadType, name)
      this.#byName.set(name, payloadType)
    }
  }

  /** A codec as our next offer has it. */
  codec(codec: AudioCodec): CodecFormat {
    const usual = codecInfo[codec].payloadType ?? (codec === 'opus' ? usualOpus : undefined)
    return { codec, payloadType: this.#number(formatName(codec), usual) }
  }

  /** telephone-event as our next offer has it. */
  events(clockRate: number): EventFormat {
    return { clockRate, payloadType: this.#number(eventsName(clockRate), usualEvents[clockRate]) }
  }

  /** Comfort noise as our next offer has it. */
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

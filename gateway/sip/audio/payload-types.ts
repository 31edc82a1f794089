import type { AudioCodec } from '../../../media/types.ts'
import type { CodecFormat, Format } from '../sdp/description.ts'

/** RFC 3551 table 4. */
const fixed: Readonly<Partial<Record<string, number>>> = { 'PCMU/8000': 0, 'PCMA/8000': 8 }
/** The number that most equipment has for telephone-event. */
const usualEvents = 101
const events = 'TELEPHONE-EVENT/8000'

/**
 * The payload types of one session. A number that stood for something once stands for nothing else until the session ends, and a format
 * keeps the number that it has (RFC 3264 section 8.3.2); so what is still on its way is never misunderstood.
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
    return { codec, payloadType: this.#number(`${codec}/8000`, fixed[`${codec}/8000`]) }
  }

  /** telephone-event as our next offer has it. */
  get events(): number {
    return this.#number(events, usualEvents)
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

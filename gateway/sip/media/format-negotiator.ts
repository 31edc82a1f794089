import type { AudioCodec } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Format, LocalAudio, RemoteAudio, RemoteCodec } from '../sdp/sdp-description.ts'
import { type CodecRules, eventRates, eventsBeside, hasNoise, preferring } from './codec-rules.ts'
import { PayloadTypes } from './payload-types.ts'

/** The formats of one of our descriptions. */
export type LocalFormats = Pick<LocalAudio, 'codecs' | 'telephoneEvents' | 'comfortNoise' | 'ptime'>

/** Which formats our offers and answers of one session have. */
export class FormatNegotiator {
  readonly #rules: CodecRules
  readonly #likely: readonly AudioCodec[]
  readonly #numbers = new PayloadTypes()

  /** `likely`: what the leg to be joined is likely to speak. */
  constructor(rules: CodecRules, likely: readonly AudioCodec[]) {
    this.#rules = rules
    this.#likely = likely
  }

  /** What the far side calls its formats. */
  learn(formats: readonly Format[]): void {
    this.#numbers.learn(formats)
  }

  /**
   * An offer of everything that is permitted: the codec in use first, or else `preferred`, or else what is
   * likely.
   */
  offered(inUse: AudioCodec | undefined, preferred: AudioCodec | undefined): LocalFormats {
    const { codecs, ptimeMs, comfortNoise } = this.#rules
    const order = preferring(codecs, [inUse, preferred, ...this.#likely])
    return {
      codecs: order.map((codec) => this.#numbers.codec(codec)),
      telephoneEvents: eventRates(order).map((rate) => this.#numbers.events(rate)),
      ...(comfortNoise && { comfortNoise: this.#numbers.comfortNoise }),
      ptime: ptimeMs,
    }
  }

  /**
   * The answer to an offer: the codec in use where it is offered still, else the far side's first that is
   * likely, else its first.
   */
  answered(
    { codecs, telephoneEvents, comfortNoise }: RemoteAudio,
    inUse: AudioCodec | undefined,
  ): { readonly chosen: RemoteCodec; readonly formats: LocalFormats } {
    const chosen =
      codecs.find(({ codec }) => codec === inUse) ??
      codecs.find(({ codec }) => this.#likely.includes(codec)) ??
      codecs[0]
    if (!chosen) throw new TrunklineError('no_common_codec')
    const { codec, payloadType } = chosen
    const events = eventsBeside(codec, telephoneEvents)
    const formats = {
      codecs: [{ codec, payloadType }],
      telephoneEvents: events ? [events] : [],
      ...(comfortNoise !== undefined && hasNoise(codec) && { comfortNoise }),
      ptime: this.#rules.ptimeMs,
    }
    return { chosen, formats }
  }
}

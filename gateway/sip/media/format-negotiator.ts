import type { AudioCodec } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Format, LocalAudio, RemoteAudio, RemoteCodec } from '../sdp/sdp-description.ts'
import { type CodecRules, eventRates, eventsBeside, hasNoise, preferring } from './codec-rules.ts'
import { PayloadTypes } from './payload-types.ts'

/** Formats of one local description. */
export type LocalFormats = Pick<LocalAudio, 'codecs' | 'telephoneEvents' | 'comfortNoise' | 'ptime'>

/** Chooses the formats of the offers and answers of one session. */
export class FormatNegotiator {
  readonly #rules: CodecRules
  readonly #likely: readonly AudioCodec[]
  readonly #numbers = new PayloadTypes()

  /** `likely`: codecs that the other leg of the call probably supports. */
  constructor(rules: CodecRules, likely: readonly AudioCodec[]) {
    this.#rules = rules
    this.#likely = likely
  }

  /** Uses the peer's payload types in later descriptions. */
  learn(formats: readonly Format[]): void {
    this.#numbers.learn(formats)
  }

  /**
   * Returns an offer of all permitted formats: the codec in use first, else `preferred`, else the likely
   * codecs.
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
   * Returns the answer to an offer: the codec in use if it is still offered, else the peer's first likely
   * codec, else its first.
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

import { codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { FarResponse, SipDialog } from '../srf.ts'
import { EarlyMedia } from './early-media.ts'
import { answerIn } from './sdp-body.ts'
import { privateAddressMessage, type SipMedia } from './sip-media.ts'

/** How the audio of an outbound leg is agreed on: what the responses to its INVITEs mean for it. */
export interface Negotiation {
  /** The offer of our INVITEs; undefined: the far side makes it. */
  readonly localSdp: string | undefined
  /**
   * Our answer to the offer in a reliable provisional response, or in a 200; undefined: none is due. Never
   * throws.
   */
  offered(response: FarResponse): string | undefined
  /**
   * What a provisional response says: whether the far side's audio can be heard now. Undefined where that has
   * not changed. Throws with a media code where there can be no session any more.
   */
  provisional(response: FarResponse): boolean | undefined
  /** The far side has answered. Throws with a media code where there is no session. */
  answered(dialog: Pick<SipDialog, 'remote' | 'res'>): void
}

/** Our offer is in the INVITE, the answer in the 200 or in a provisional response before it. */
export class EarlyOffer implements Negotiation {
  #media: SipMedia
  #log: Pick<Log, 'info' | 'warn'>
  #earlyMedia = new EarlyMedia()
  #remoteSdp = ''

  /** `media` has made its offer. */
  constructor(media: SipMedia, log: Pick<Log, 'info' | 'warn'>) {
    this.#media = media
    this.#log = log
  }

  get localSdp(): string {
    return this.#media.local
  }

  offered(): undefined {}

  provisional(response: FarResponse): boolean | undefined {
    if (!response.body) return false
    if (!this.#earlyMedia.isNews(response)) return undefined
    try {
      this.#take(answerIn(response) ?? '', response.source_address)
      return true
    } catch (error) {
      // The answer may still bring a description that can be used.
      this.#log.warn(
        { code: codeOf(error), status: response.status, reason: String(error) },
        'early media cannot be used',
      )
      return false
    }
  }

  answered({ remote: { sdp }, res }: Pick<SipDialog, 'remote' | 'res'>): void {
    const said = res ? answerIn(res) : sdp
    const news = said ? this.#take(said, res?.source_address) : false
    if (this.#media.isWaiting) throw new TrunklineError('bad_sdp', 'The 200 has no answer to our offer.')
    if (!news) this.#media.restart()
  }

  /**
   * Takes an answer to our offer; false where it was taken already: the 200 usually repeats that of the 183.
   */
  #take(sdp: string, source: string | undefined): boolean {
    if (sdp === this.#remoteSdp) return false
    this.#media.setSource(source)
    this.#media.acceptSdp(sdp)
    this.#remoteSdp = sdp
    if (this.#media.isBehindNat) this.#log.info({ source }, privateAddressMessage)
    return true
  }
}

import { codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { FarResponse, SipDialog } from '../srf.ts'
import { EarlyMedia } from './early-media.ts'
import { answerIn } from './sdp-body.ts'
import { privateAddressMessage, type SipMedia } from './sip-media.ts'

/** Negotiation of the audio of an outbound leg, by the responses to its INVITEs. */
export interface Negotiation {
  /** Offer of the INVITEs; undefined: the peer makes the offer. */
  readonly localSdp: string | undefined
  /**
   * Returns the answer to the offer in a reliable provisional response or a 200; undefined if no answer is
   * due. Never throws.
   */
  offered(response: FarResponse): string | undefined
  /**
   * Handles a provisional response. Returns whether the peer's audio can be heard now; undefined if that has
   * not changed. Throws with a media code if no session is possible any more.
   */
  provisional(response: FarResponse): boolean | undefined
  /** Handles the 200. Throws with a media code if there is no session. */
  answered(dialog: Pick<SipDialog, 'remote' | 'res'>): void
}

/** Negotiation of an INVITE with an offer: the answer is in the 200 or in an earlier provisional response. */
export class EarlyOffer implements Negotiation {
  #media: SipMedia
  #log: Pick<Log, 'info' | 'warn'>
  #earlyMedia = new EarlyMedia()
  #remoteSdp = ''

  /** `media` must have made its offer. */
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
      // The 200 may still have a usable description.
      this.#log.warn(
        {
          event: 'media.early-media-rejected',
          code: codeOf(error),
          status: response.status,
          reason: String(error),
        },
        'early media not usable',
      )
      return false
    }
  }

  answered({ remote: { sdp }, res }: Pick<SipDialog, 'remote' | 'res'>): void {
    const answer = res ? answerIn(res) : sdp
    const news = answer ? this.#take(answer, res?.source_address) : false
    if (this.#media.isWaiting) throw new TrunklineError('bad_sdp', 'The 200 has no answer to the offer.')
    if (!news) this.#media.restart()
  }

  /**
   * Accepts an answer to the offer. Returns false if an answer was accepted before: the 200 usually repeats
   * the answer of the 183.
   */
  #take(sdp: string, source: string | undefined): boolean {
    if (sdp === this.#remoteSdp) return false
    this.#media.setSource(source)
    this.#media.acceptSdp(sdp)
    this.#remoteSdp = sdp
    if (this.#media.isBehindNat)
      this.#log.info({ event: 'media.private-address-found', source }, privateAddressMessage)
    return true
  }
}

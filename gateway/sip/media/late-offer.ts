import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { refusingSdp } from '../sdp/refusing-sdp.ts'
import type { FarResponse, SipDialog } from '../srf.ts'
import { maxBranches, tagOf } from './early-media.ts'
import type { Negotiation } from './early-offer.ts'
import type { OfferIn } from './offer-answer.ts'
import { sdpOf } from './sdp-body.ts'
import { privateAddressMessage, type SipMedia } from './sip-media.ts'

/** Audio whose answers need no waiting: `answerSdp` returns no promise. */
export type LateMedia = Omit<SipMedia, 'answerSdp'> & { answerSdp(offer: string): string }

/** Offer of one branch, and the answer to it. */
interface Agreed {
  readonly offer: string
  readonly source: string
  readonly answer: string
  /** Whether the offer came before the 200. */
  readonly isEarly: boolean
  isReported: boolean
}

/**
 * Negotiation of an INVITE without an offer. The peer offers in the 200, and the ACK carries the answer (RFC
 * 3261 section 13.2.1). Or it offers in a reliable provisional response, and the PRACK carries the answer
 * (RFC 3262 section 5). Each branch of a fork has a session of its own.
 */
export class LateOffer implements Negotiation {
  readonly localSdp = undefined
  #media: LateMedia
  #log: Pick<Log, 'info' | 'warn'>
  /** Offers and answers by To tag. */
  #agreed = new Map<string, Agreed>()
  /** Branch whose audio is heard. */
  #current: Agreed | undefined
  #fault: unknown

  constructor(media: LateMedia, log: Pick<Log, 'info' | 'warn'>) {
    this.#media = media
    this.#log = log
  }

  /**
   * Answers the offer of a response. An unusable offer is rejected in the answer, and the next call of
   * another method throws the error.
   */
  offered(response: FarResponse): string | undefined {
    const tag = tagOf(response)
    // Further descriptions of a branch after its offer must be ignored (RFC 3261 section 13.2.1).
    if (this.#agreed.has(tag)) return undefined
    try {
      const offer = sdpOf(response)
      if (offer === undefined) return undefined
      if (this.#agreed.size >= maxBranches)
        throw new TrunklineError('bad_sdp', 'Too many branches make offers.')
      return this.#take(tag, offer, response)
    } catch (error) {
      this.#fault ??= error
      return refusalOf(response)
    }
  }

  provisional(response: FarResponse): boolean | undefined {
    if (this.#fault) throw this.#fault
    const agreed = this.#agreed.get(tagOf(response))
    // Without 100rel the description of a provisional response is no offer (RFC 3262 section 5): the 200
    // repeats it.
    if (!agreed) return false
    if (agreed.isReported) return undefined
    agreed.isReported = true
    return true
  }

  answered({ res }: Pick<SipDialog, 'res'>): void {
    if (this.#fault) throw this.#fault
    const agreed = res ? this.#agreed.get(tagOf(res)) : this.#current
    if (!agreed) throw new TrunklineError('bad_sdp', 'Neither the INVITE nor the 200 has an offer.')
    if (agreed !== this.#current) this.#return(agreed)
    else if (agreed.isEarly) this.#media.restart()
  }

  #take(tag: string, offer: string, { status, source_address: source }: FarResponse): string {
    const answer = this.#answer(offer, source, 'response')
    this.#current = { offer, source, answer, isEarly: status < 200, isReported: false }
    this.#agreed.set(tag, this.#current)
    if (this.#media.isBehindNat)
      this.#log.info({ event: 'media.private-address-found', source }, privateAddressMessage)
    return answer
  }

  #answer(offer: string, source: string, where: OfferIn): string {
    const { exchange } = this.#media
    this.#media.setSource(source)
    if (this.#current) this.#media.anotherBranch?.()
    if (exchange.receiveOffer(where)) throw new TrunklineError('bad_sdp', 'Another offer is open.')
    try {
      const answer = this.#media.answerSdp(offer)
      exchange.sendAnswer()
      return answer
    } catch (error) {
      exchange.abandon()
      throw error
    }
  }

  /**
   * Returns to a branch that made its offer before another branch did. The peer already has the answer.
   * Throws `bad_sdp` if the same answer cannot be made again, for example because its key would change.
   */
  #return({ offer, source, answer }: Agreed): void {
    const again = this.#answer(offer, source, 'response')
    if (withoutOrigin(again) !== withoutOrigin(answer))
      throw new TrunklineError('bad_sdp', 'The session of this branch of the call has ended.')
  }
}

/** Returns the SDP answer that rejects the offer in a response; undefined if the offer cannot be read. */
export const refusalOf = (response: FarResponse): string | undefined => {
  try {
    return refusingSdp(sdpOf(response) ?? '')
  } catch {
    return undefined
  }
}

const withoutOrigin = (sdp: string): string => sdp.replace(/^o=.*$/m, '')

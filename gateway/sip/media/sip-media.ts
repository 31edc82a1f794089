import type { AudioCodec, IpFamily, MediaPort } from '../../../media/types.ts'
import type { OfferAnswer, OfferIn } from './offer-answer.ts'

/** Said in the log where {@link SipMedia.isBehindNat}. */
export const privateAddressMessage =
  'the SDP has a private address; audio is learnt from the source of the signalling'

/**
 * The audio of a SIP leg as its signalling sees it: RTP, plain or with SDES keys (`LegMedia`), or WebRTC
 * (`WebRtcMedia`).
 */
export interface SipMedia {
  readonly port: MediaPort
  readonly exchange: OfferAnswer
  /** The description that we sent last; empty before. */
  readonly local: string
  /** An offer of ours waits for its answer. */
  readonly isWaiting: boolean
  /** The far side does not want to hear us: it holds. */
  readonly isHeld: boolean
  /**
   * The far side's address stands in its SDP as a private one, although its signalling comes from elsewhere.
   */
  readonly isBehindNat: boolean
  /** Where the far side's next description comes from. Empty or undefined: what was known stays. */
  setSource(source: string | undefined): void
  /** The offer says that nothing has changed since the far side's last: it refreshes the session. */
  isRepeatedOffer(offer: string): boolean
  /**
   * Our answer to an offer; later, where it takes time. Throws or rejects with a media code where it cannot
   * be used.
   */
  answerSdp(offer: string): string | Promise<string>
  /**
   * Makes our first description anew, of these codecs alone as far as they are permitted, the first one
   * first; later ones have no others either. To be called while nobody has seen it. Throws `no_common_codec`.
   * Absent where that cannot be.
   */
  limitTo?(codecs: readonly AudioCodec[]): void
  /** Makes an offer, with the codec in use or else `preferred` first. Throws where another offer is open. */
  offer(preferred: AudioCodec | undefined, where: OfferIn): string
  /** Offers what we said last once more, word by word. Throws where another offer is open. */
  offerAgain(where: OfferIn): string
  /**
   * Our refused first offer once more, so that its keys cannot be left: for equipment that knows no optional
   * ones; or, for another place, so that they can be left again. Undefined where that would be no other
   * offer; absent where keys are never optional.
   */
  demandKeys?(demand: boolean): string | undefined
  /**
   * Makes our first offer, which nobody has answered, one of audio over that IP family, for the next place
   * that it goes to. Does nothing where that is no change, or where the family is not bound. Absent where the
   * description names addresses of both.
   */
  offerOver?(family: IpFamily): void
  /**
   * The next offer is that of another branch of a fork: that the one before it had keys does not bind it.
   * Absent where keys are never optional.
   */
  anotherBranch?(): void
  /**
   * Takes the answer to our last offer, or its repetition. Throws with a media code where it cannot be used.
   */
  acceptSdp(answer: string): void
  /** The wait for the far side's first packet begins now. */
  restart(): void
  /**
   * Resolves once the far side can hear us, or will not; absent where that is so as soon as it has our
   * description.
   */
  readonly ready?: () => Promise<void>
  /**
   * The one listener for what goes wrong with it outside of any call of a method: the leg is to be ended
   * then.
   */
  onFault(listener: (error: Error) => void): void
  /**
   * The far side has proved that it is at the source of its signalling: audio may go there. Absent where
   * audio waits for no such proof.
   */
  confirm?(): void
  /** Gives it up, with its port. Idempotent. */
  close(): void
}

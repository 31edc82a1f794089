import type { AudioCodec, IpFamily, MediaPort } from '../../../media/types.ts'
import type { OfferAnswer, OfferIn } from './offer-answer.ts'

/** Log message for {@link SipMedia.isBehindNat}. */
export const privateAddressMessage =
  'the SDP has a private address; audio is learnt from the source of the signalling'

/**
 * The audio of a SIP leg as its signalling sees it: RTP, plain or with SDES keys (`LegMedia`), or WebRTC
 * (`WebRtcMedia`).
 */
export interface SipMedia {
  readonly port: MediaPort
  readonly exchange: OfferAnswer
  /** Last local description; empty before the first. */
  readonly local: string
  /** Whether a local offer waits for its answer. */
  readonly isWaiting: boolean
  /** Whether the peer holds: it does not want to receive audio. */
  readonly isHeld: boolean
  /** Whether the peer's SDP has a private address although its signalling comes from elsewhere. */
  readonly isBehindNat: boolean
  /** Sets the source of the peer's next description. An empty or undefined source changes nothing. */
  setSource(source: string | undefined): void
  /** Whether an offer equals the peer's last one: it refreshes the session. */
  isRepeatedOffer(offer: string): boolean
  /**
   * Returns the answer to an offer, or a promise if it takes time. Throws or rejects with a media code if the
   * offer is unusable.
   */
  answerSdp(offer: string): string | Promise<string>
  /**
   * Makes the first local description again with these codecs only, as far as they are permitted, in this
   * order. Later descriptions have no others. Must be called before the peer has seen a description. Throws
   * `no_common_codec`. Absent if unsupported.
   */
  limitTo?(codecs: readonly AudioCodec[]): void
  /** Makes an offer, with the codec in use or else `preferred` first. Throws where another offer is open. */
  offer(preferred: AudioCodec | undefined, where: OfferIn): string
  /** Offers the last local description again, unchanged. Throws if another offer is open. */
  offerAgain(where: OfferIn): string
  /**
   * Repeats the refused first offer with mandatory keys, for equipment that knows no optional ones; or with
   * optional keys again, for another target. Returns undefined if the offer would not change. Absent if keys
   * are never optional.
   */
  demandKeys?(demand: boolean): string | undefined
  /**
   * Makes the unanswered first offer one of audio over that IP family, for the next target. Does nothing if
   * that is no change, or if the family is not bound. Absent if the description names addresses of both
   * families.
   */
  offerOver?(family: IpFamily): void
  /**
   * The next offer is that of another branch of a fork: that the one before it had keys does not bind it.
   * Absent where keys are never optional.
   */
  anotherBranch?(): void
  /**
   * Takes the answer to the last offer, or its repetition. Throws with a media code if the answer is
   * unusable.
   */
  acceptSdp(answer: string): void
  /** Restarts the wait for the peer's first packet. */
  restart(): void
  /**
   * Resolves when the peer can hear audio, or never will; absent if it can as soon as it has the description.
   */
  readonly ready?: () => Promise<void>
  /** Sets the one listener for faults outside any method call. The leg must end then. */
  onFault(listener: (error: Error) => void): void
  /**
   * Confirms that the peer is at the source of its signalling: audio may be sent there. Absent if audio waits
   * for no such proof.
   */
  confirm?(): void
  /** Closes the media and its port. Idempotent. */
  close(): void
}

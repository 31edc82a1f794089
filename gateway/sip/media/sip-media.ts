import type { AudioCodec, IpFamily, MediaPort } from '../../../media/types.ts'
import type { OfferAnswer, OfferIn } from './offer-answer.ts'

/** Log message for {@link SipMedia.isBehindNat}. */
export const privateAddressMessage =
  'the SDP has a private address; audio is learnt from the source of the signalling'

/**
 * Audio of a SIP leg, for its signalling: RTP, plain or with SDES keys (`LegMedia`), or WebRTC
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
  /** Whether an offer equals the peer's last one, and so only refreshes the session. */
  isRepeatedOffer(offer: string): boolean
  /**
   * Returns the answer to an offer, or a promise if it takes time. Throws or rejects with a media code if the
   * offer is unusable.
   */
  answerSdp(offer: string): string | Promise<string>
  /**
   * Restricts this and all later local descriptions to these codecs, as far as they are permitted, in this
   * order. Must be called before the peer has received a description. Throws `no_common_codec`. Absent if
   * unsupported.
   */
  limitTo?(codecs: readonly AudioCodec[]): void
  /** Makes an offer, with the codec in use or else `preferred` first. Throws if another offer is open. */
  offer(preferred: AudioCodec | undefined, where: OfferIn): string
  /** Offers the last local description again, unchanged. Throws if another offer is open. */
  offerAgain(where: OfferIn): string
  /**
   * Makes the first offer again. `demand` true: with mandatory keys, because a peer without support for
   * optional keys has rejected the offer. False: with optional keys, for another target. Returns undefined if
   * the offer would not change. Absent if keys are never optional.
   */
  demandKeys?(demand: boolean): string | undefined
  /**
   * Changes the unanswered first offer to an IP family, for the next target. Does nothing if the offer has
   * that family already, or if no socket has it. Absent if the description names addresses of both families.
   */
  offerOver?(family: IpFamily): void
  /**
   * Announces that the next offer comes from another branch of a fork. Keys in an earlier offer do not oblige
   * that branch to encrypt. Absent if keys are never optional.
   */
  anotherBranch?(): void
  /**
   * Accepts the answer to the last offer, or a repetition of that answer. Throws with a media code if the
   * answer is unusable.
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
   * Records that the peer receives messages at the source of its signalling, so audio may be sent to that
   * address. Absent if no such proof is needed.
   */
  confirm?(): void
  /** Closes the media and its port. Idempotent. */
  close(): void
}

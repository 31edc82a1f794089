import { randomBytes } from 'node:crypto'
import type { AudioCodec, FarEnd, IpFamily, MediaPort, NearEnd, SrtpKeys } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { answeredCrypto, type CryptoLine, offeredCrypto } from '../sdp/crypto-lines.ts'
import { LocalSession } from '../sdp/local-session.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import {
  type LocalAudio,
  mirrored,
  type RemoteAudio,
  type RemoteCodec,
  type RemoteDescription,
  type Section,
} from '../sdp/sdp-description.ts'
import {
  acceptedSecurity,
  type ChosenAudio,
  chooseAudio,
  offeredSecurity,
  type Security,
  type SrtpPolicy,
  withoutSrtp,
} from '../sdp/srtp-policy.ts'
import { type AudioRules, farEndOf, strictRules } from './audio-far-end.ts'
import { nearEnd, offeredOnly, permitted, type ReceivedFormats, receivedAfterAnswer } from './codec-rules.ts'
import { FormatNegotiator } from './format-negotiator.ts'
import { OfferAnswer, type OfferIn, type Random } from './offer-answer.ts'
import { SendingGate, type UntrustedMedia } from './sending-gate.ts'
import type { SipMedia } from './sip-media.ts'

/** Options of {@link LegMedia}. */
export interface LegMediaOptions {
  /**
   * Source address of the peer's signalling. Audio may be learnt from it if the SDP has a private address.
   */
  readonly source?: string
  /** Default: no SRTP. */
  readonly srtp?: SrtpPolicy
  /** Default: {@link strictRules}. */
  readonly rules?: AudioRules
  /**
   * Codecs that the other leg probably supports. The first offered one among them is chosen. Default none.
   */
  readonly likely?: readonly AudioCodec[]
  /** Default `Math.random`. */
  readonly random?: Random
  /**
   * Facts of an untrusted caller, whose audio a {@link SendingGate} holds back. Default: the caller is
   * trusted.
   */
  readonly untrusted?: UntrustedMedia
}

/**
 * Applies the offers and answers of one leg to its media port (RFC 3264). An unusable description changes
 * nothing. {@link exchange} decides when an offer may be made or accepted. `offer` and `accept` update
 * `exchange`. For an answer, the caller calls `receiveOffer` before and `sendAnswer` afterwards.
 */
export class LegMedia implements SipMedia {
  readonly port: MediaPort
  readonly exchange: OfferAnswer
  #session: LocalSession
  #policy: SrtpPolicy
  #rules: AudioRules
  #source: string | undefined
  /** IP family of local descriptions, if known. */
  #family: IpFamily | undefined
  #local = ''
  #described: LocalAudio | undefined
  #sections: readonly Section[] = []
  #index = 0
  #far: { readonly near: NearEnd; readonly far: FarEnd } | undefined
  /** Last offer of the peer that {@link local} answers; undefined if `local` is no answer. */
  #answered: RemoteDescription | undefined
  #formats: FormatNegotiator
  #security: Security | undefined
  #keys: { readonly ours: CryptoLine; readonly theirs: CryptoLine } | undefined
  #isHeld = false
  /**
   * Whether the session was encrypted when the offer was sent, and so must stay encrypted. Branches of a fork
   * that answer the same offer are independent of each other.
   */
  #hasSecureOffer = false
  /** Whether the next offer comes from another branch of a fork. */
  #isAnotherBranch = false
  readonly #gate: SendingGate | undefined

  /** `sessionId`: session id of the origin line; digits only. */
  constructor(port: MediaPort, sessionId: string, options: LegMediaOptions = {}) {
    const { source, srtp = withoutSrtp, rules = strictRules, likely = [], random = Math.random } = options
    this.port = port
    this.exchange = new OfferAnswer(random)
    this.#session = new LocalSession(sessionId)
    this.#source = source
    this.#family = source ? familyOf(source) : undefined
    this.#policy = srtp
    this.#rules = rules
    this.#formats = new FormatNegotiator(rules, likely)
    const { untrusted } = options
    this.#gate = untrusted && new SendingGate(port, source ?? '', untrusted)
  }

  /** Last local description; empty before the first. */
  get local(): string {
    return this.#local
  }

  /** Whether a local offer waits for its answer. */
  get isWaiting(): boolean {
    return this.exchange.exchange.kind === 'local offer'
  }

  /** Whether the peer holds: it does not want to receive audio. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Whether the audio is encrypted. */
  get isEncrypted(): boolean {
    return this.#keys !== undefined
  }

  /** Whether the peer's SDP has a private address although its signalling comes from elsewhere. */
  get isBehindNat(): boolean {
    return this.#far?.far.learnFrom !== undefined
  }

  /** Sets the source of the peer's next description. An empty or undefined source changes nothing. */
  setSource(source: string | undefined): void {
    if (source) this.#source = source
  }

  /**
   * Whether an offer equals the last answered one and so only refreshes the session (RFC 3264 section 8). The
   * version alone is no proof: some equipment holds without raising it.
   */
  isRefresh(remote: RemoteDescription): boolean {
    return this.#answered !== undefined && JSON.stringify(this.#answered) === JSON.stringify(remote)
  }

  /**
   * Answers an offer, and informs the port. The codec in use stays if it is still offered. Otherwise the
   * peer's first likely codec is chosen, else its first. A mere refresh gets the last local description
   * again. Throws `srtp_mismatch`, `no_common_codec`, or `bad_sdp` for an address that audio must not be sent
   * to.
   */
  answer(remote: RemoteDescription): string {
    const secured = this.isEncrypted && !this.#isAnotherBranch
    this.#isAnotherBranch = false
    return this.isRefresh(remote) ? this.#local : this.#answer(remote, this.port.codec, secured)
  }

  limitTo(codecs: readonly AudioCodec[]): void {
    const own = codecs.filter((codec) => this.#rules.codecs.includes(codec))
    const offer = this.#answered
    const offered = offer && permitted(offer, own).audios.flatMap((audio) => audio.codecs)
    if (own.length === 0)
      throw new TrunklineError('no_common_codec', `Permitted here: ${this.#rules.codecs.join(', ')}.`)
    this.#rules = { ...this.#rules, codecs: own }
    this.#formats = new FormatNegotiator(this.#rules, [])
    if (offer) {
      const wanted = own.find((codec) => offered?.some((theirs) => theirs.codec === codec))
      this.#answer(offer, wanted, this.isEncrypted)
    } else {
      this.exchange.abandon()
      this.offer(undefined, 'response')
    }
  }

  offerOver(family: IpFamily): void {
    const described = this.#described
    const address = this.port.addressFor(family)
    if (!this.isWaiting || !described || this.#far || !address || address === described.address) return
    this.#family = family
    this.#write(described)
  }

  #answer(remote: RemoteDescription, wanted: AudioCodec | undefined, secured: boolean): string {
    const within = permitted(remote, this.#rules.codecs)
    const { audio, crypto } = chooseAudio(within, this.#policy, secured)
    const { chosen, formats } = this.#formats.answered(audio, wanted)
    const keys = crypto && this.#answerTo(crypto, secured && !this.#hasMoved(audio))
    this.#apply({ audio, crypto }, chosen, formats, keys?.ours)
    this.#keys = keys
    this.#formats.learn(audio.formats)
    this.#sections = remote.sections
    this.#index = audio.index
    this.#answered = remote
    return this.#write({
      ...formats,
      profile: audio.profile,
      crypto: keys ? [keys.ours] : [],
      rtcpMux: audio.rtcpMux === true,
      direction: mirrored(audio.direction),
    })
  }

  /**
   * Makes an offer of all permitted codecs, with the codec in use, or else `preferred`, first. Throws if
   * another offer is open. Throws `srtp_mismatch` if keys are required but not permitted.
   */
  offer(preferred?: AudioCodec, where: OfferIn = 'invite'): string {
    const { profile, isEncrypted } = offeredSecurity(this.#policy, this.#security)
    this.#open(where)
    const crypto = this.#keys
      ? [this.#keys.ours]
      : isEncrypted
        ? offeredCrypto(this.#policy.suites, randomBytes)
        : []
    this.#answered = undefined
    return this.#write({
      ...this.#formats.offered(this.port.codec, preferred),
      profile,
      crypto,
      rtcpMux: this.#far?.far.rtcpMux === true,
      // The gateway itself never holds. A peer on hold states this again in its answer; many peers resume by
      // asking for an offer (RFC 6337 section 5.3).
      direction: 'sendrecv',
    })
  }

  /**
   * Offers the last local description again, unchanged, so that the peer sees a mere refresh. Throws if
   * another offer is open.
   */
  offerAgain(where: OfferIn): string {
    this.#open(where)
    return this.#local
  }

  demandKeys(demand: boolean): string | undefined {
    const described = this.#described
    const profile = demand ? 'RTP/SAVP' : 'RTP/AVP'
    const settled = this.#far !== undefined || this.#policy.mode === 'required'
    if (!described || described.profile === profile || described.crypto.length === 0 || settled)
      return undefined
    this.exchange.abandon()
    this.#open('invite')
    return this.#write({ ...described, profile })
  }

  /**
   * Accepts the answer to the last offer, or a repetition of that answer, and informs the port. Throws
   * `srtp_mismatch`, or `bad_sdp` for an address that audio must not be sent to. The offer then stays open.
   */
  accept(remote: RemoteDescription): void {
    const described = this.#described
    if (!described) throw new TrunklineError('bad_sdp', 'There is an answer, but no offer.')
    const answered = remote.audios.find(({ index }) => index === this.#index) ?? remote.audios[0]
    const audio = offeredOnly(answered, described)
    const [chosen] = audio.codecs
    if (!chosen) throw new TrunklineError('no_common_codec')
    const theirs = acceptedSecurity(audio, described, this.#policy, this.#hasSecureOffer)
    const ours = theirs && described.crypto.find(({ tag }) => tag === theirs.tag)
    this.#apply({ audio, crypto: theirs }, chosen, receivedAfterAnswer(audio, described), ours)
    this.#keys = ours && theirs && { ours, theirs }
    this.#answered = undefined
    this.exchange.receiveAnswer()
  }

  anotherBranch(): void {
    this.#isAnotherBranch = true
  }

  isRepeatedOffer(offer: string): boolean {
    return this.isRefresh(readSdp(offer))
  }

  answerSdp(offer: string): string {
    return this.answer(readSdp(offer))
  }

  acceptSdp(answer: string): void {
    this.accept(readSdp(answer))
  }

  /**
   * Sets the one listener of the {@link SendingGate}, for an address from which no packet came in time. Other
   * faults are thrown by methods, or reported by the port.
   */
  onFault(listener: (error: Error) => void): void {
    this.#gate?.onFault(listener)
  }

  confirm(): void {
    this.#gate?.confirm()
  }

  close(): void {
    this.#gate?.close()
    void this.port.close()
  }

  /** Gives the port the same far end again, which restarts the wait for the first packet. */
  restart(): void {
    if (this.#far) this.#setFar(this.#far.near, this.#far.far)
  }

  #setFar(near: NearEnd, far: FarEnd): void {
    const { port } = this
    if (this.#gate) this.#gate.setFar(near, far)
    else port.setFar(near, far)
  }

  #open(where: OfferIn): void {
    if (!this.exchange.sendOffer(where)) throw new Error('an offer is open already')
    this.#hasSecureOffer = this.isEncrypted
  }

  /**
   * Returns the local key for the peer's key `theirs`. `knowsOurs`: the peer knows the roll-over counter of
   * the local key. The local key then stays the same, even if the peer's key changes, because equipment
   * differs in its handling of a new key. Otherwise a new key is used, whose counter starts with zero.
   */
  #answerTo(theirs: CryptoLine, knowsOurs: boolean): { ours: CryptoLine; theirs: CryptoLine } {
    const known = this.#keys?.ours
    const stays = known && knowsOurs && known.suite === theirs.suite
    return { ours: stays ? { ...known, tag: theirs.tag } : answeredCrypto(theirs, randomBytes), theirs }
  }

  /**
   * Whether the audio may reach a new receiver, which does not know the roll-over counter (RFC 4568 section
   * 7.1.4).
   */
  #hasMoved({ address, port }: RemoteAudio): boolean {
    const before = this.#far?.far
    return address !== undefined && (address !== before?.address || port !== before.port)
  }

  #write(audio: Omit<LocalAudio, 'address' | 'port' | 'rtcpPort'>): string {
    const { port, rtcpPort } = this.port
    const address = (this.#family && this.port.addressFor(this.#family)) ?? this.port.address
    this.#described = { ...audio, address, port, rtcpPort }
    this.#local = this.#session.write(this.#described, this.#sections, this.#index)
    return this.#local
  }

  #apply(
    { audio, crypto }: ChosenAudio,
    chosen: RemoteCodec,
    received: ReceivedFormats,
    ours: CryptoLine | undefined,
  ): void {
    const keys: SrtpKeys | undefined = ours &&
      crypto && { suite: crypto.suite, sendKey: ours.key, receiveKey: crypto.key }
    const far = farEndOf(audio, {
      chosen,
      srtp: keys,
      source: this.#source,
      rules: this.#rules,
      before: this.#far?.far,
    })
    if (far) this.#setFarEnd(nearEnd(received), far)
    this.#security = { profile: audio.profile, isEncrypted: keys !== undefined }
    this.#isHeld = audio.direction === 'sendonly' || audio.direction === 'inactive'
  }

  #setFarEnd(near: NearEnd, far: FarEnd): void {
    const next = { near, far }
    // Each setFar lets the port learn a new source once, which a mere refresh must not cause.
    if (JSON.stringify(next) === JSON.stringify(this.#far)) return
    try {
      this.#setFar(near, far)
    } catch (error) {
      const where = { address: far.address, port: far.port }
      throw new TrunklineError('bad_sdp', 'SDP: audio cannot be sent to its address.', where, error)
    }
    this.#far = next
    // The next local description has an address of the same family.
    this.#family = familyOf(far.address)
  }
}

const familyOf = (address: string): IpFamily => (address.includes(':') ? 6 : 4)

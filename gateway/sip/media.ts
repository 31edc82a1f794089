import type { AudioCodec, FarEnd, MediaPort, NearEnd } from '../../media/types.ts'
import { TrunklineError } from '../errors.ts'
import { isPrivate } from './private.ts'
import { type CodecFormat, mirrored, type RemoteDescription, type Section } from './sdp/description.ts'
import { LocalSession } from './sdp/write.ts'

/** RFC 3551 table 4. */
const payloadTypes: Readonly<Record<AudioCodec, number>> = { PCMU: 0, PCMA: 8 }
/** Payload type of telephone-event in our offers. */
const offeredEvents = 101

/**
 * Offer and answer of one leg (RFC 3264), and what they mean for its media port. A description that cannot be used leaves everything as
 * it was.
 */
export class LegMedia {
  readonly port: MediaPort
  #session: LocalSession
  #source: string | undefined
  #local = ''
  #sections: readonly Section[] = []
  #index = 0
  #far: { readonly near: NearEnd; readonly far: FarEnd } | undefined
  #offered: readonly CodecFormat[] = []
  #waiting = false

  /**
   * `sessionId`: digits, for the origin line. `source`: address that the signalling comes from; audio may be learnt from it where the SDP
   * has a private address.
   */
  constructor(port: MediaPort, sessionId: string, source?: string) {
    this.port = port
    this.#session = new LocalSession(sessionId)
    this.#source = source
  }

  /** The description that we sent last; empty before. */
  get local(): string {
    return this.#local
  }

  /** An offer of ours waits for its answer. */
  get isWaiting(): boolean {
    return this.#waiting
  }

  /** The far side's address stands in its SDP as a private one, although its signalling comes from elsewhere. */
  get behindNat(): boolean {
    return this.#far?.far.learnFrom !== undefined
  }

  /**
   * Answers an offer, and tells the port of the far side. The codec in use is kept where it is offered still, else the far side's first is
   * taken. Throws `bad_sdp` when the port refuses its address.
   */
  answer(remote: RemoteDescription): string {
    const { audio } = remote
    const chosen = audio.codecs.find(({ codec }) => codec === this.port.codec) ?? audio.codecs[0]
    if (!chosen) throw new TrunklineError('no_common_codec')
    const { telephoneEvent } = audio
    this.#apply(remote, chosen, { codecs: [chosen], ...(telephoneEvent !== undefined && { telephoneEvent }) })
    this.#waiting = false
    this.#sections = remote.sections
    this.#index = remote.index
    return this.#write([chosen], telephoneEvent, mirrored(audio.direction))
  }

  /** Makes an offer with `preferred` first, or the codec in use. */
  offer(preferred: AudioCodec): string {
    const first = this.port.codec ?? preferred
    const order: readonly AudioCodec[] = first === 'PCMU' ? ['PCMU', 'PCMA'] : ['PCMA', 'PCMU']
    const codecs = order.map((codec) => ({ codec, payloadType: payloadTypes[codec] }))
    this.#offered = codecs
    this.#waiting = true
    return this.#write(codecs, offeredEvents, this.#far?.far.direction ?? 'sendrecv')
  }

  /** Takes the answer to our last offer, or its repetition, and tells the port. Throws `bad_sdp` when the port refuses its address. */
  accept(remote: RemoteDescription): void {
    const { audio } = remote
    const chosen = audio.codecs[0]
    if (!chosen) throw new TrunklineError('no_common_codec')
    // The far side sends with the payload types of our offer, whatever numbers its answer has.
    const codecs = this.#offered.filter(({ codec }) => audio.codecs.some((other) => other.codec === codec))
    const near = { codecs, ...(audio.telephoneEvent !== undefined && { telephoneEvent: offeredEvents }) }
    this.#apply(remote, chosen, near)
    this.#waiting = false
  }

  /** Tells the port of the same far side again, so that its wait for the first packet begins now. */
  restart(): void {
    if (this.#far) this.port.setFar(this.#far.near, this.#far.far)
  }

  #write(
    codecs: readonly CodecFormat[],
    telephoneEvent: number | undefined,
    direction: FarEnd['direction'],
  ): string {
    const { address, port, rtcpPort } = this.port
    this.#local = this.#session.write(
      { address, port, rtcpPort, codecs, telephoneEvent, direction },
      this.#sections,
      this.#index,
    )
    return this.#local
  }

  #apply({ audio }: RemoteDescription, chosen: CodecFormat, near: NearEnd): void {
    // Hold by 0.0.0.0: the place where the far side was stays known, nothing is sent to it.
    const address = audio.address ?? this.#far?.far.address
    if (address === undefined) return
    const far: FarEnd = {
      address,
      port: audio.address === undefined ? (this.#far?.far.port ?? audio.port) : audio.port,
      ...(audio.rtcpPort !== undefined && { rtcpPort: audio.rtcpPort }),
      codec: chosen.codec,
      payloadType: chosen.payloadType,
      ...(audio.telephoneEvent !== undefined && { telephoneEvent: audio.telephoneEvent }),
      direction: mirrored(audio.direction),
      ...(audio.ptime !== undefined && { ptime: audio.ptime }),
      ...(this.#learnsFrom(address) && { learnFrom: [this.#source ?? ''] }),
    }
    const next = { near, far }
    // Every setFar permits one more learning of the source: a mere refresh must not.
    if (JSON.stringify(next) === JSON.stringify(this.#far)) return
    try {
      this.port.setFar(near, far)
    } catch (error) {
      throw new TrunklineError(
        'bad_sdp',
        'SDP: audio cannot be sent to its address.',
        { address, port: far.port },
        error,
      )
    }
    this.#far = next
  }

  #learnsFrom(address: string): boolean {
    return (
      this.#source !== undefined && this.#source !== address && isPrivate(address) && !isPrivate(this.#source)
    )
  }
}

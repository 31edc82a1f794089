import type { AudioCodec, BrowserMedia, BrowserScreen, MediaPort } from '../types.ts'
import { WebRtcError } from './errors.ts'
import type { Relay } from './relay.ts'
import {
  type AudioFormat,
  type BrowserEvents,
  commonCodec,
  formatsOf,
  type Plan,
  planAnswer,
  planAudio,
  planVideo,
  refusal,
} from './sdp/negotiate.ts'
import { readSdp } from './sdp/read.ts'
import type { Section } from './sdp/session.ts'
import { checkSameVideo, ownVideo, videoOf } from './sdp/video.ts'
import type { LocalSection } from './sdp/write.ts'
import { Session, type Slot } from './session.ts'
import type { MediaWorker } from './worker.ts'

/** What a {@link BrowserSession} is made of. */
export interface BrowserParts {
  readonly worker: MediaWorker
  readonly port: MediaPort
  readonly relay: Relay
  readonly format: AudioFormat
  /** Whether video of the browser's offers is taken; else it is refused. */
  readonly takesVideo: boolean
}

/** Ids of header extensions in our own offers; clear of the low ids that mediasoup writes of its own accord. */
const ownExtensions = { mid: 10, transport: 13 }

/** A browser's session with audio. The edge port behind the audio belongs to the leg, which closes it. */
export class BrowserSession extends Session implements BrowserMedia {
  readonly port: MediaPort
  readonly codec: AudioCodec
  readonly #relay: Relay
  readonly #format: AudioFormat

  constructor({ worker, port, relay, format, takesVideo }: BrowserParts) {
    super({
      worker,
      relay,
      plan: (offer) => planAnswer(offer, [format.codec], takesVideo).map((plan) => checked(plan, format)),
    })
    this.port = port
    this.codec = format.codec
    this.#format = format
    this.#relay = relay
  }

  /** Answers the first offer, as it was planned. */
  override answer(plans: readonly Plan[]): Promise<void> {
    return super.answer(plans.map((plan) => checked(plan, this.#format)))
  }

  /** Makes our offer: an audio m-line, and one for video where it is wanted. */
  async offer(video: boolean): Promise<void> {
    const slots = await this.openSlots(video ? [undefined, ownVideo] : [undefined])
    this.write(slots.map((slot, index) => this.#offerOf(slot, index)))
    this.advance('offered')
  }

  async accept(answer: string): Promise<void> {
    this.checkOffered()
    const { sections } = readSdp(answer, 'answer')
    const plans = this.#planOf(sections)
    this.advance('agreed')
    await this.inTurn(async () => {
      for (const plan of plans) if (plan.kind === 'audio') this.#relay.hears(plan.audio)
      await this.useAnswer(sections, plans)
    })
  }

  present(screen: BrowserScreen | undefined): void {
    if (screen !== undefined && !(screen instanceof Session))
      throw new TypeError('a screen of this WebRtc expected')
    this.video.present(screen?.video.camera)
  }

  setDeaf(deaf: boolean): Promise<void> {
    return this.#relay.setDeaf(deaf)
  }

  /** What the answer makes of the m-lines that we offered. */
  #planOf(sections: readonly Section[]): readonly Plan[] {
    const offered = this.slotCount
    if (sections.length !== offered)
      throw new WebRtcError('bad_sdp', `SDP, session: ${offered} m-line${offered > 1 ? 's' : ''} expected`)
    return sections.map((section, index) => {
      if (section.kind === 'refused') {
        if (index > 0) return section
        throw new WebRtcError('no_common_codec', 'SDP, m-line 1: the audio was refused')
      }
      const kind = index === 0 ? 'audio' : 'video'
      if (section.kind !== kind || section.mid !== String(index))
        throw new WebRtcError('bad_sdp', `SDP, m-line ${index + 1}: ${kind} with a=mid:${index} expected`)
      if (kind === 'audio')
        return checked(planAudio(section, commonCodec(section, [this.codec])), this.#format)
      const video = videoOf(section)
      if (!video) return refusal(section)
      checkSameVideo(ownVideo, video)
      return planVideo(section, video, true)
    })
  }

  #offerOf({ line, video, stream }: Slot, index: number): LocalSection {
    return {
      kind: video ? 'video' : 'audio',
      mid: String(index),
      protocol: 'UDP/TLS/RTP/SAVPF',
      formats: video ? [video] : formatsOf(this.#format),
      direction: 'sendrecv',
      ...line.ice,
      fingerprint: line.fingerprint,
      setup: 'actpass',
      candidates: this.worker.candidates,
      midExtension: ownExtensions.mid,
      ...(video && { transportExtension: ownExtensions.transport }),
      stream,
    }
  }
}

/** A format keeps its number for the whole session (RFC 3264 section 8.3.2), and what goes through the router has one both ways. */
const checked = (plan: Plan, { codec, payloadType, events }: AudioFormat): Plan => {
  if (plan.kind !== 'audio') return plan
  if (plan.audio.payloadType !== payloadType)
    throw new WebRtcError('bad_sdp', `SDP: ${codec} with payload type ${payloadType} expected`)
  const isKnown = (event: BrowserEvents): boolean =>
    events.some((known) => known.payloadType === event.payloadType && known.clockRate === event.clockRate)
  return { ...plan, audio: { ...plan.audio, events: plan.audio.events.filter(isKnown) } }
}

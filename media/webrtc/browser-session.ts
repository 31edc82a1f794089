import type { AudioCodec, BrowserMedia, BrowserSource, MediaPort } from '../types.ts'
import { WebRtcError } from './errors.ts'
import type { Relay } from './relay.ts'
import {
  type AudioFormat,
  commonCodec,
  formatsOf,
  type Plan,
  planAnswer,
  planAudio,
  planVideo,
  refusal,
  withFormat,
} from './sdp/negotiate.ts'
import { readSdp } from './sdp/read-sdp.ts'
import type { Section } from './sdp/session-description.ts'
import { checkSameVideo, ownVideo, videoOf } from './sdp/video-format.ts'
import type { LocalSection } from './sdp/write-sdp.ts'
import { type MLineSlot, WebRtcSession } from './webrtc-session.ts'
import type { MediaWorker } from './worker-supervisor.ts'

/** Collaborators of a {@link BrowserSession}. */
export interface BrowserSessionDeps {
  readonly worker: MediaWorker
  /** Returns a running worker after the death of the present one. */
  readonly nextWorker: () => Promise<MediaWorker>
  readonly port: MediaPort
  readonly relay: Relay
  readonly format: AudioFormat
  /** Whether video in the browser's offers is accepted; else it is rejected. */
  readonly isVideoAccepted: boolean
}

/** Ids of header extensions in local offers; mediasoup's own ids are lower. */
const ownExtensions = { mid: 10, transport: 13 }

/** Session of a browser with audio. The edge port of the audio belongs to the leg, which closes it. */
export class BrowserSession extends WebRtcSession implements BrowserMedia {
  readonly port: MediaPort
  readonly codec: AudioCodec
  readonly #relay: Relay
  readonly #format: AudioFormat

  constructor(deps: BrowserSessionDeps) {
    const { worker, nextWorker, port, relay, format, isVideoAccepted: takesVideo } = deps
    super({
      worker,
      nextWorker,
      relay,
      plan: (offer) => planAnswer(offer, [format.codec], takesVideo).map((plan) => withFormat(plan, format)),
    })
    this.port = port
    this.codec = format.codec
    this.#format = format
    this.#relay = relay
  }

  /** Answers the first offer as planned. */
  override answer(plans: readonly Plan[]): Promise<void> {
    return super.answer(plans.map((plan) => withFormat(plan, this.#format)))
  }

  /** Creates the local offer: an audio m-line, and a video m-line if requested. */
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
      for (const plan of plans) if (plan.kind === 'audio') this.#relay.setFar(plan.audio)
      await this.useAnswer(sections, plans)
    })
  }

  present(screen: BrowserSource | undefined): void {
    if (screen !== undefined && !(screen instanceof WebRtcSession))
      throw new TypeError('a screen of this WebRtc expected')
    this.video.present(screen?.video.camera)
  }

  setDeaf(deaf: boolean): Promise<void> {
    return this.#relay.setDeaf(deaf)
  }

  /** Plans the use of the browser's answer to the offered m-lines. */
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
        return withFormat(planAudio(section, commonCodec(section, [this.codec])), this.#format)
      const video = videoOf(section)
      if (!video) return refusal(section)
      checkSameVideo(ownVideo, video)
      return planVideo(section, video, true)
    })
  }

  #offerOf({ line, video, stream }: MLineSlot, index: number): LocalSection {
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

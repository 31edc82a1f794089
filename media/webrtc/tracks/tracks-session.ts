import { randomInt, randomUUID } from 'node:crypto'
import { getSupportedRtpCapabilities, type types } from 'mediasoup'
import { guard } from '../../guard.ts'
import type { BrowserTracks } from '../../types.ts'
import { WebRtcError } from '../errors.ts'
import { MLine } from '../m-line.ts'
import { readSdp } from '../sdp/read-sdp.ts'
import { type MediaSection, midUri, type Section, transportUri } from '../sdp/session-description.ts'
import { checkSameVideo, ownVideo, videoOf } from '../sdp/video-format.ts'
import { type LocalSection, writeSdp } from '../sdp/write-sdp.ts'
import { consumerCapabilities } from '../video-parameters.ts'
import type { MediaWorker, TransportOwner } from '../worker-supervisor.ts'

/** Maximum number of lines of one session. */
export const maxTrackLines = 25

/**
 * Estimate of the path before the first feedback, in bit/s: two pictures of the smallest size. Over a wide
 * path, mediasoup's probes raise it within a second.
 */
const firstRate = 400_000

/**
 * M-line of the packets with which mediasoup probes the path, with their fixed numbers. Without it, browsers
 * do not report their arrival, and the estimate never rises.
 */
const probing = { mid: 'probator', ssrc: 1234, payloadType: 127 } as const

/** Header extensions of a line, with the ids that mediasoup writes. */
const extensions = (getSupportedRtpCapabilities().headerExtensions ?? []).filter(
  ({ kind, uri }) => kind === 'video' && (uri === midUri || uri === transportUri),
)

const idOf = (uri: string): number => {
  const found = extensions.find((each) => each.uri === uri)
  if (!found) throw new Error(`mediasoup lacks ${uri}`)
  return found.preferredId
}

/** Session of a browser that receives cameras and screens on lines of their own. */
export class TracksSession implements BrowserTracks, TransportOwner {
  readonly line: MLine
  readonly sdp: string
  readonly #worker: MediaWorker
  readonly #mids: readonly string[]
  #state: 'offered' | 'accepted' | 'closed' = 'offered'
  #accepted: readonly string[] | undefined
  #onAccepted: (mids: readonly string[]) => void = () => {}
  #onEnd: () => void = () => {}

  private constructor(worker: MediaWorker, line: MLine, lines: number) {
    this.#worker = worker
    this.line = line
    this.#mids = Array.from({ length: lines }, (_, index) => String(index))
    const sections = [...this.#mids.map((mid) => this.#offerOf(mid)), this.#probingOffer()]
    this.sdp = writeSdp({ id: randomInt(1, 2 ** 48 - 1), version: 1 }, sections, true)
    worker.owners.add(this)
  }

  /** Opens the transport. Rejects with a RangeError for a number of lines other than 1 to 25. */
  static async open(worker: MediaWorker, lines: number): Promise<TracksSession> {
    if (!Number.isInteger(lines) || lines < 1 || lines > maxTrackLines)
      throw new RangeError(`lines: 1 to ${maxTrackLines} expected, found ${lines}`)
    const router = await worker.routers.video(ownVideo)
    let onState = () => {}
    const line = await MLine.open(worker, router, () => onState(), { firstRate })
    const session = new TracksSession(worker, line, lines)
    onState = () => session.#stateChanged()
    return session
  }

  async accept(answer: string): Promise<void> {
    if (this.#state !== 'offered')
      throw new WebRtcError('wrong_state', `an answer is not expected in this state (${this.#state})`)
    const { sections } = readSdp(answer, 'answer')
    const accepted = this.#acceptedIn(sections)
    const [first] = accepted
    if (!first) throw new WebRtcError('no_common_codec', 'SDP: no line was accepted')
    this.#state = 'accepted'
    await this.line.applyCredentials(first.credentials)
    this.#accepted = accepted.map(({ mid }) => mid)
    this.#onAccepted(this.#accepted)
  }

  onEnd(listener: () => void): void {
    this.#onEnd = guard(listener)
    if (this.#state === 'closed') this.#onEnd()
  }

  /** Calls `listener` with the mids of the accepted lines, once the answer is applied. */
  onAccepted(listener: (mids: readonly string[]) => void): void {
    this.#onAccepted = listener
    if (this.#accepted && this.#state !== 'closed') listener(this.#accepted)
  }

  /** Sends a producer of the session's router over a line. */
  consume(
    mid: string,
    options: Pick<types.ConsumerOptions, 'producerId' | 'preferredLayers'>,
  ): Promise<types.Consumer> {
    const rtpCapabilities = { ...consumerCapabilities(ownVideo), headerExtensions: extensions }
    return this.line.transport.consume({ ...options, rtpCapabilities, mid })
  }

  /** Ends the session after the death of the worker. */
  lost(): void {
    this.line.lost()
    this.#end()
  }

  close(): Promise<void> {
    this.#worker.owners.delete(this)
    this.#end()
    return Promise.resolve()
  }

  #end(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.line.close()
    this.#onEnd()
  }

  // The browser opens another session if it still wants one.
  #stateChanged(): void {
    const { state } = this.line
    if (state === 'failed' || state === 'disconnected') void this.close()
  }

  /** Returns the accepted lines of an answer. Throws `bad_sdp` if it does not fit the offer. */
  #acceptedIn(sections: readonly Section[]): readonly MediaSection[] {
    const mids = [...this.#mids, probing.mid]
    if (sections.length !== mids.length)
      throw new WebRtcError('bad_sdp', `SDP, session: ${mids.length} m-lines expected`)
    return sections.flatMap((section, index) => {
      if (section.kind === 'refused' || section.mid === probing.mid) return []
      const mid = mids[index]
      if (section.kind !== 'video' || section.mid !== mid)
        throw new WebRtcError('bad_sdp', `SDP, m-line ${index + 1}: video with a=mid:${mid} expected`)
      const video = videoOf(section)
      if (!video || section.midExtension !== idOf(midUri)) return []
      checkSameVideo(ownVideo, video)
      return [section]
    })
  }

  #offerOf(mid: string): LocalSection {
    return {
      kind: 'video',
      mid,
      protocol: 'UDP/TLS/RTP/SAVPF',
      formats: [ownVideo],
      direction: 'sendonly',
      ...this.line.ice,
      fingerprint: this.line.fingerprint,
      setup: 'actpass',
      candidates: this.#worker.candidates,
      midExtension: idOf(midUri),
      transportExtension: idOf(transportUri),
      stream: { track: randomUUID() },
    }
  }

  #probingOffer(): LocalSection {
    const { mid, ssrc, payloadType } = probing
    return {
      ...this.#offerOf(mid),
      formats: [{ ...ownVideo, payloadType }],
      stream: { track: mid, source: { ssrc, cname: mid } },
    }
  }
}

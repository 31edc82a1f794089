import { randomInt } from 'node:crypto'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import { stillPicture } from '../../rooms/still-picture.ts'
import { Vp8Rewriter } from '../../rooms/vp8-rewriter.ts'
import { buildRtcp } from '../../rtp/rtcp.ts'
import { ownVideo } from '../sdp/video-format.ts'
import { keyFrameSpacingMs, type PacketSource } from './feed.ts'
import { ThrottledAction } from './throttled-action.ts'

/** Maximum time for which the present source stays while the next one has sent no key frame, in ms. */
const maxCutMs = 1500
/**
 * Number of sender reports at the beginning. mediasoup compares the times of two streams by them, and lets a
 * viewer change to a stream after the third one.
 */
const earlyReports = 4

/** Values and collaborators of a {@link ProgramStream}. */
export interface ProgramStreamOptions {
  readonly cname: string
  readonly clock: MediaClock
  readonly send: (packet: Buffer) => void
  readonly sendReport: (compound: Buffer) => void
}

/**
 * One continuous VP8 stream whose source changes. Without a source it sends a plain picture.
 *
 * A change waits for the first key frame of the next source. After 1.5 s, the plain picture takes the place
 * of the present source until the key frame arrives.
 */
export class ProgramStream {
  readonly ssrc = randomInt(1, 2 ** 32 - 1)
  readonly #options: ProgramStreamOptions
  readonly #rewriter = new Vp8Rewriter({
    ssrc: this.ssrc,
    payloadType: ownVideo.payloadType,
    sequence: randomInt(0x10000),
    timestamp: randomInt(2 ** 32),
    pictureId: randomInt(0x8000),
  })
  readonly #still: ThrottledAction
  /** Source that is sent; `still`: the plain picture; undefined before the first picture. */
  #present: PacketSource | 'still' | undefined
  #detachPresent = () => {}
  /** Source that is waited for. */
  #next: PacketSource | undefined
  #detachNext = () => {}
  #deadline: MediaTimer | undefined
  /** Number of packets that a sender report still follows. */
  #earlyReports = earlyReports

  constructor(options: ProgramStreamOptions) {
    this.#options = options
    this.#still = new ThrottledAction(options.clock, keyFrameSpacingMs, () => this.#sendStill())
  }

  /** Shows a source; undefined shows the plain picture at once. */
  show(feed: PacketSource | undefined): void {
    if (feed !== undefined && feed === this.#next) return
    this.#dropNext()
    if (feed === undefined) this.#showStill()
    else if (feed !== this.#present) this.#await(feed)
  }

  /** Sends nothing until {@link show}. Idempotent. */
  stop(): void {
    this.#dropNext()
    this.#dropPresent()
    this.#earlyReports = earlyReports
  }

  /** Handles the request of a viewer for a key frame. */
  keyFrameWanted(): void {
    if (this.#present === 'still') this.#still.call()
    else this.#present?.requestKeyFrame()
    this.#next?.requestKeyFrame()
  }

  /** Repeats what keeps the stream alive. Called about once in a second. */
  beat(): void {
    this.#next?.requestKeyFrame()
    if (this.#present === 'still') this.#still.call()
    this.#report()
  }

  #await(feed: PacketSource): void {
    this.#next = feed
    this.#detachNext = feed.attach((packet) => this.#receive(feed, packet))
    feed.requestKeyFrame()
    this.#deadline = this.#options.clock.after(maxCutMs, () => this.#showStill())
  }

  #receive(feed: PacketSource, packet: Buffer): void {
    const sent = this.#rewriter.forward(this.#options.clock.now(), feed, packet)
    if (sent && feed === this.#next) this.#cut()
    if (sent) this.#send(sent)
    else if (feed === this.#present && this.#rewriter.needsKeyFrame) feed.requestKeyFrame()
  }

  /** Makes the next source the present one. */
  #cut(): void {
    const detach = this.#detachNext
    const feed = this.#next
    this.#detachNext = () => {}
    this.#dropNext()
    this.#dropPresent()
    this.#present = feed
    this.#detachPresent = detach
  }

  /** Ends the present source. A next one is still waited for. */
  #showStill(): void {
    if (this.#present === 'still') return
    this.#dropPresent()
    this.#present = 'still'
    this.#still.call()
  }

  #sendStill(): void {
    this.#send(this.#rewriter.still(this.#options.clock.now(), stillPicture))
  }

  #send(packet: Buffer): void {
    this.#options.send(packet)
    if (this.#earlyReports === 0) return
    this.#earlyReports--
    this.#report()
  }

  #report(): void {
    const { clock, cname, sendReport } = this.#options
    const info = this.#rewriter.senderInfo(clock.now())
    if (info.packets === 0 || !this.#present) return
    const { ssrc } = this
    sendReport(
      buildRtcp([
        { kind: 'sender', ssrc, info, blocks: [] },
        { kind: 'description', ssrc, cname },
      ]),
    )
  }

  #dropNext(): void {
    this.#deadline?.cancel()
    this.#deadline = undefined
    this.#detachNext()
    this.#detachNext = () => {}
    this.#next = undefined
  }

  #dropPresent(): void {
    this.#still.stop()
    this.#detachPresent()
    this.#detachPresent = () => {}
    this.#present = undefined
  }
}

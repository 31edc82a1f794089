import { randomInt } from 'node:crypto'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import { stillPicture } from '../../rooms/still-picture.ts'
import { Vp8Rewriter } from '../../rooms/vp8-rewriter.ts'
import { timestampOf } from '../../rtp/packet.ts'
import type { SenderInfo } from '../../rtp/rtcp.ts'
import { ownVideo } from '../sdp/video-format.ts'
import { keyFrameSpacingMs } from '../video/key-frame-spacing.ts'
import { ThrottledAction } from '../video/throttled-action.ts'
import type { PacketSource } from './feed.ts'

/** Maximum time for which the present source stays while the next one has sent no key frame, in ms. */
const maxCutMs = 1500

/** Collaborators of a {@link SourceSwitch}. */
export interface SourceSwitchDeps {
  readonly clock: MediaClock
  /** Called with each packet of the stream, and with its source and the source's own timestamp. */
  readonly send: (packet: Buffer, source?: PacketSource, timestamp?: number) => void
}

/**
 * Makes one continuous VP8 stream of changing sources. Without a source it sends a plain picture.
 *
 * A change waits for the first key frame of the next source, unless its feed holds one. After 1.5 s, the
 * plain picture takes the place of the present source until the key frame arrives.
 */
export class SourceSwitch {
  /** SSRC of the stream. */
  readonly ssrc = randomInt(1, 2 ** 32 - 1)
  readonly #clock: MediaClock
  readonly #send: SourceSwitchDeps['send']
  readonly #rewriter: Vp8Rewriter
  readonly #still: ThrottledAction
  /** Source that is sent; `still`: the plain picture; undefined before the first picture. */
  #present: PacketSource | 'still' | undefined
  #detachPresent = () => {}
  /** Source that is waited for. */
  #next: PacketSource | undefined
  #detachNext = () => {}
  #deadline: MediaTimer | undefined

  constructor({ clock, send }: SourceSwitchDeps) {
    this.#clock = clock
    this.#send = send
    this.#rewriter = new Vp8Rewriter({
      ssrc: this.ssrc,
      payloadType: ownVideo.payloadType,
      sequence: randomInt(0x10000),
      timestamp: randomInt(2 ** 32),
      pictureId: randomInt(0x8000),
    })
    this.#still = new ThrottledAction(clock, keyFrameSpacingMs, () => this.#sendStill())
  }

  /** Facts of the stream for a sender report, at present. */
  get senderInfo(): SenderInfo {
    return this.#rewriter.senderInfo(this.#clock.now())
  }

  /** Whether it sends a source or the plain picture. */
  get isShowing(): boolean {
    return this.#present !== undefined
  }

  /** Shows a source; undefined shows the plain picture at once. */
  show(feed: PacketSource | undefined): void {
    if (feed !== undefined && feed === this.#next) return
    this.#dropNext()
    if (feed === undefined) this.#showStill()
    else if (feed !== this.#present) this.#await(feed)
  }

  /** Requests a key frame of the present source, and of the one that is waited for. */
  requestKeyFrame(): void {
    // The plain picture is not repeated while the key frame of a source may arrive any moment.
    if (this.#present === 'still') {
      if (!this.#deadline) this.#still.call()
    } else this.#present?.requestKeyFrame()
    this.#next?.requestKeyFrame()
  }

  /** Repeats what may have been lost. Must be called every few seconds. */
  refresh(): void {
    if (this.#present === 'still') this.#still.call()
    this.#next?.requestKeyFrame()
  }

  /** Sends nothing until {@link show}. Idempotent. */
  stop(): void {
    this.#dropNext()
    this.#dropPresent()
  }

  #await(feed: PacketSource): void {
    this.#next = feed
    this.#detachNext = feed.attach((packet) => this.#receive(feed, packet))
    this.#deadline = this.#clock.after(maxCutMs, () => {
      this.#deadline = undefined
      this.#showStill()
    })
    for (const packet of feed.held ?? []) this.#receive(feed, packet)
    if (feed === this.#next) feed.requestKeyFrame()
  }

  #receive(feed: PacketSource, packet: Buffer): void {
    const sent = this.#rewriter.forward(this.#clock.now(), feed, packet)
    if (sent && feed === this.#next) this.#cut()
    if (sent) this.#send(sent, feed, timestampOf(packet))
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
    this.#send(this.#rewriter.still(this.#clock.now(), stillPicture))
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

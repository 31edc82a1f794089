import type { MediaClock } from '../../clock.ts'
import { buildRtcp } from '../../rtp/rtcp.ts'
import type { PacketSource } from './feed.ts'
import { SourceSwitch } from './source-switch.ts'

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

/** One continuous VP8 stream of changing sources with its sender reports, see {@link SourceSwitch}. */
export class ProgramStream {
  readonly #options: ProgramStreamOptions
  readonly #switch: SourceSwitch
  /** Frames since the last beat, and before it. */
  #frames = 0
  #framesBefore = 0
  /** Number of packets that a sender report still follows. */
  #earlyReports = earlyReports

  constructor(options: ProgramStreamOptions) {
    this.#options = options
    this.#switch = new SourceSwitch({ clock: options.clock, send: (packet) => this.#send(packet) })
  }

  get ssrc(): number {
    return this.#switch.ssrc
  }

  /** Number of frames between the last two calls of {@link beat}. */
  get framesPerBeat(): number {
    return this.#framesBefore
  }

  /** Shows a source; undefined shows the plain picture at once. */
  show(feed: PacketSource | undefined): void {
    this.#switch.show(feed)
  }

  /** Sends nothing until {@link show}. Idempotent. */
  stop(): void {
    this.#switch.stop()
    this.#earlyReports = earlyReports
  }

  /** Handles the request of a viewer for a key frame. */
  keyFrameWanted(): void {
    this.#switch.requestKeyFrame()
  }

  /** Repeats what keeps the stream alive. Called about once in a second. */
  beat(): void {
    this.#framesBefore = this.#frames
    this.#frames = 0
    this.#switch.refresh()
    this.#report()
  }

  #send(packet: Buffer): void {
    this.#options.send(packet)
    // The last packet of a frame has the marker.
    if ((packet[1] ?? 0) & 0x80) this.#frames++
    if (this.#earlyReports === 0) return
    this.#earlyReports--
    this.#report()
  }

  #report(): void {
    const { cname, sendReport } = this.#options
    const { ssrc, senderInfo: info, isShowing } = this.#switch
    if (info.packets === 0 || !isShowing) return
    sendReport(
      buildRtcp([
        { kind: 'sender', ssrc, info, blocks: [] },
        { kind: 'description', ssrc, cname },
      ]),
    )
  }
}

import { randomInt, randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import { stillPicture } from '../../rooms/still-picture.ts'
import { Vp8Rewriter } from '../../rooms/vp8-rewriter.ts'
import { buildRtcp } from '../../rtp/rtcp.ts'
import { ownVideo } from '../sdp/video-format.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { asksKeyFrame } from './asks-key-frame.ts'
import { keyFrameSpacingMs, type PacketSource } from './feed.ts'
import { type DirectLink, openLink } from './open-link.ts'
import { ThrottledAction } from './throttled-action.ts'

/** Maximum time for which the present source stays while the next one has sent no key frame, in ms. */
const maxCutMs = 1500
/** Time between two sender reports, and between two plain pictures, in ms. */
const beatMs = 2000

/** Collaborators of a {@link Program}. */
export interface ProgramDeps {
  readonly clock: MediaClock
  /** Called when {@link Program.source} exists. */
  readonly onReady: () => void
  /** Called if the program cannot be opened. */
  readonly onFault: (fault: Error) => void
}

/**
 * One continuous VP8 stream in a router, whose source changes. Its viewers consume it like the camera of a
 * browser, and notice no change. Without a source it sends a plain picture.
 *
 * A change waits for the first key frame of the next source. After 1.5 s, the plain picture takes the place
 * of the present source until the key frame arrives.
 */
export class Program {
  readonly #place: VideoSource['line']
  readonly #clock: MediaClock
  readonly #ssrc = randomInt(1, 2 ** 32 - 1)
  readonly #rewriter: Vp8Rewriter
  readonly #cname = randomUUID()
  readonly #close: () => void
  readonly #still: ThrottledAction
  #link: DirectLink<types.Producer> | undefined
  #source: VideoSource | undefined
  #wanted: PacketSource | undefined
  /** Source that is sent; `still`: the plain picture; undefined before the first picture. */
  #present: PacketSource | 'still' | undefined
  #detachPresent = () => {}
  /** Source that is waited for. */
  #next: PacketSource | undefined
  #detachNext = () => {}
  #deadline: MediaTimer | undefined
  #beat: MediaTimer | undefined

  constructor(place: VideoSource['line'], { clock, onReady, onFault }: ProgramDeps) {
    this.#place = place
    this.#clock = clock
    this.#rewriter = new Vp8Rewriter({
      ssrc: this.#ssrc,
      payloadType: ownVideo.payloadType,
      sequence: randomInt(0x10000),
      timestamp: randomInt(2 ** 32),
      pictureId: randomInt(0x8000),
    })
    this.#still = new ThrottledAction(clock, keyFrameSpacingMs, () => this.#sendStill())
    const onOpen = (link: DirectLink<types.Producer>) => {
      this.#opened(link)
      onReady()
    }
    this.#close = openLink(place.router, (transport) => this.#produce(transport), onOpen, onFault)
  }

  /** Stream for the viewers in the program's router; undefined while it opens. */
  get source(): VideoSource | undefined {
    return this.#source
  }

  get router(): types.Router {
    return this.#place.router
  }

  /** Shows a source; undefined shows the plain picture at once. */
  show(feed: PacketSource | undefined): void {
    this.#wanted = feed
    if (!this.#link) return
    if (feed !== undefined && feed === this.#next) return
    this.#dropNext()
    if (feed === undefined) this.#showStill()
    else if (feed !== this.#present) this.#await(feed)
  }

  /** Ends the stream. Idempotent. */
  close(): void {
    this.#dropNext()
    this.#dropPresent()
    this.#beat?.cancel()
    this.#link = undefined
    this.#source = undefined
    this.#close()
  }

  #await(feed: PacketSource): void {
    this.#next = feed
    this.#detachNext = feed.attach((packet) => this.#receive(feed, packet))
    feed.requestKeyFrame()
    this.#deadline = this.#clock.after(maxCutMs, () => this.#showStill())
  }

  #produce(transport: types.DirectTransport): Promise<types.Producer> {
    return transport.produce({
      kind: 'video',
      rtpParameters: {
        codecs: [
          {
            mimeType: 'video/VP8',
            payloadType: ownVideo.payloadType,
            clockRate: ownVideo.clockRate,
            // Without `nack`: only the browser's own transport can repair losses of its camera.
            rtcpFeedback: [
              { type: 'nack', parameter: 'pli' },
              { type: 'ccm', parameter: 'fir' },
            ],
          },
        ],
        encodings: [{ ssrc: this.#ssrc }],
        rtcp: { cname: this.#cname },
      },
    })
  }

  #opened(link: DirectLink<types.Producer>): void {
    this.#link = link
    this.#source = { producer: link.end, line: this.#place, format: ownVideo }
    link.transport.on('rtcp', (packet) => {
      if (asksKeyFrame(packet)) this.#keyFrameWanted()
    })
    this.show(this.#wanted)
    this.#onBeat()
  }

  #receive(feed: PacketSource, packet: Buffer): void {
    const sent = this.#rewriter.forward(this.#clock.now(), feed, packet)
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

  #keyFrameWanted(): void {
    if (this.#present === 'still') this.#still.call()
    else this.#present?.requestKeyFrame()
    this.#next?.requestKeyFrame()
  }

  #onBeat(): void {
    this.#beat = this.#clock.after(beatMs, () => this.#onBeat())
    if (this.#present === 'still') this.#still.call()
    this.#next?.requestKeyFrame()
    this.#report()
  }

  #sendStill(): void {
    this.#send(this.#rewriter.still(this.#clock.now(), stillPicture))
  }

  #send(packet: Buffer): void {
    const producer = this.#link?.end
    // Closed if the worker has died: its viewers are lost too.
    if (producer && !producer.closed) producer.send(packet)
  }

  #report(): void {
    const info = this.#rewriter.senderInfo(this.#clock.now())
    const transport = this.#link?.transport
    if (info.packets === 0 || !transport || transport.closed) return
    const ssrc = this.#ssrc
    transport.sendRtcp(
      buildRtcp([
        { kind: 'sender', ssrc, info, blocks: [] },
        { kind: 'description', ssrc, cname: this.#cname },
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

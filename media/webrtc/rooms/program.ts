import { randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import type { ProgramLayer } from '../../rooms/layer-choice.ts'
import { timestampOf } from '../../rtp/packet.ts'
import { ownVideo } from '../sdp/video-format.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { scalabilityMode } from '../video-parameters.ts'
import type { PacketSource } from './feed.ts'
import { keyFrameRequests } from './key-frame-requests.ts'
import { type DirectLink, openLink } from './open-link.ts'
import { ProgramStream } from './program-stream.ts'

/**
 * Time between two sender reports, and between two plain pictures, in ms. mediasoup gives up a layer after
 * 1.5 s without a packet.
 */
const beatMs = 1000
/** Number of packets of the low layer, and of their sender reports, until mediasoup can choose that layer. */
const knownPackets = 4

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
 * For mediasoup it is a simulcast stream with two layers: the source, and its `low` for slow viewers. A low
 * layer that the source does not have has no packets; mediasoup then sends the high one. A low layer that no
 * viewer needs has the plain picture. A viewer changes its layer at a key frame, and keeps its SSRC.
 */
export class Program {
  readonly #place: VideoSource['line']
  readonly #clock: MediaClock
  readonly #cname = randomUUID()
  readonly #high: ProgramStream
  readonly #low: ProgramStream
  readonly #close: () => void
  #link: DirectLink<types.Producer> | undefined
  #source: VideoSource | undefined
  #wanted: PacketSource | undefined
  #needed: ReadonlySet<ProgramLayer> = new Set(['high'])
  readonly #lowListeners = new Set<() => void>()
  #lowTimestamp: number | undefined
  #lowPackets = 0
  #beat: MediaTimer | undefined

  constructor(place: VideoSource['line'], { clock, onReady, onFault }: ProgramDeps) {
    this.#place = place
    this.#clock = clock
    const stream = {
      cname: this.#cname,
      clock,
      send: (packet: Buffer) => this.#send(packet),
      sendReport: (compound: Buffer) => this.#sendReport(compound),
    }
    this.#high = new ProgramStream(stream)
    this.#low = new ProgramStream({ ...stream, send: (packet) => this.#sendLow(packet) })
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
    this.#showBoth()
  }

  /** Returns the frames of a layer in the last second. */
  framesPerSecond(layer: ProgramLayer): number {
    return (layer === 'low' ? this.#low : this.#high).framesPerBeat
  }

  /** Whether there is a low layer to choose. */
  get hasLow(): boolean {
    return this.#wanted?.low !== undefined
  }

  /** Whether a viewer needs the low layer. */
  get needsLow(): boolean {
    return this.#needed.has('low')
  }

  /** Calls `listener` before each frame of the low layer, until the returned function is called. */
  beforeLow(listener: () => void): () => void {
    this.#lowListeners.add(listener)
    return () => void this.#lowListeners.delete(listener)
  }

  /** Sets the layers that viewers need; default the high one. */
  setNeeded(layers: ReadonlySet<ProgramLayer>): void {
    if (layers.size === this.#needed.size && [...layers].every((layer) => this.#needed.has(layer))) return
    this.#needed = layers
    this.#showBoth()
  }

  /** Ends the stream. Idempotent. */
  close(): void {
    this.#high.stop()
    this.#low.stop()
    this.#beat?.cancel()
    this.#link = undefined
    this.#source = undefined
    this.#close()
  }

  #showBoth(): void {
    if (!this.#link) return
    const source = this.#wanted
    const low = source?.low
    // A low layer that no viewer needs has the plain picture. Without packets, mediasoup would send the high
    // one to a viewer that begins with the low one.
    if (low) this.#low.show(this.needsLow ? low : undefined)
    // A source without a low layer is sent in both: mediasoup would leave a silent layer after 1.5 s only.
    else if (this.needsLow) this.#low.show(source)
    else this.#low.stop()
    if (low && this.#lowPackets < knownPackets && !this.#needed.has('high')) this.#high.stop()
    else this.#high.show(source)
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
        // The lowest layer first.
        encodings: [this.#low, this.#high].map(({ ssrc }) => ({ ssrc, scalabilityMode })),
        rtcp: { cname: this.#cname },
      },
    })
  }

  #opened(link: DirectLink<types.Producer>): void {
    this.#link = link
    this.#source = { producer: link.end, line: this.#place, format: ownVideo }
    link.transport.on('rtcp', (packet) => {
      for (const ssrc of keyFrameRequests(packet))
        if (ssrc === this.#high.ssrc) this.#high.keyFrameWanted()
        else if (ssrc === this.#low.ssrc) this.#low.keyFrameWanted()
    })
    this.#showBoth()
    this.#onBeat()
  }

  #onBeat(): void {
    this.#beat = this.#clock.after(beatMs, () => this.#onBeat())
    this.#high.beat()
    this.#low.beat()
  }

  #sendLow(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    if (timestamp !== this.#lowTimestamp) for (const listener of [...this.#lowListeners]) listener()
    this.#lowTimestamp = timestamp
    this.#send(packet)
    if (++this.#lowPackets === knownPackets) this.#showBoth()
  }

  #send(packet: Buffer): void {
    const producer = this.#link?.end
    // Closed if the worker has died: its viewers are lost too.
    if (producer && !producer.closed) producer.send(packet)
  }

  #sendReport(compound: Buffer): void {
    const transport = this.#link?.transport
    if (transport && !transport.closed) transport.sendRtcp(compound)
  }
}

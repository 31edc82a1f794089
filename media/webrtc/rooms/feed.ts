import type { types } from 'mediasoup'
import type { MediaClock, MediaTimer } from '../../clock.ts'
import { HeldPicture } from '../../rooms/held-picture.ts'
import type { StreamClock } from '../../rooms/sender-clock.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { keyFrameSpacingMs } from '../video/key-frame-spacing.ts'
import { ThrottledAction } from '../video/throttled-action.ts'
import { consumerCapabilities } from '../video-parameters.ts'
import { openLink } from './open-link.ts'

/** Called with each RTP packet of a {@link PacketSource}. */
export type PacketListener = (packet: Buffer) => void

/** RTP packets of one VP8 stream, for several programs. A stream with other numbers is another source. */
export interface PacketSource {
  /** The same for slow viewers, with a lower bit rate; undefined if the source has no such packets. */
  readonly low?: PacketSource
  /** Packets with which a new listener begins, instead of a key frame; default none. */
  readonly held?: readonly Buffer[]
  /** Calls `listener` for each packet, until the returned function is called. */
  attach(listener: PacketListener): () => void
  /**
   * Returns the clock of the packets by the reports of their sender, which are followed from the first call
   * on; undefined if none come.
   */
  followSender?(): StreamClock | undefined
  /** Requests a key frame, at most one in {@link keyFrameSpacingMs}. No effect while the source opens. */
  requestKeyFrame(): void
}

/** Encoding of simulcast that a {@link Feed} has. */
type Encoding = 'smallest' | 'largest'

/** Time for which a source that may be shown soon is kept ready, in ms. */
const readyMs = 1000

/**
 * Packets of one source, as the gateway receives them from its router. Shared by all programs of a room:
 * opened with the first listener, closed with the last. Of simulcast, it has the largest encoding, and
 * {@link low} the smallest one.
 */
export class Feed implements PacketSource {
  readonly low?: Feed
  readonly #source: VideoSource
  readonly #clock: MediaClock
  readonly #encoding: Encoding
  readonly #onFault: (fault: Error) => void
  readonly #listeners = new Set<PacketListener>()
  readonly #request: ThrottledAction
  #consumer: types.Consumer | undefined
  #close: (() => void) | undefined
  /** Packets for a listener that comes soon, with the timer that ends the wait for it. */
  #ready: { readonly held: HeldPicture; readonly timer: MediaTimer } | undefined

  /** `encoding`: of simulcast; default the largest one. */
  constructor(
    source: VideoSource,
    clock: MediaClock,
    onFault: (fault: Error) => void,
    encoding: Encoding = 'largest',
  ) {
    this.#source = source
    this.#clock = clock
    this.#encoding = encoding
    this.#onFault = onFault
    this.#request = new ThrottledAction(clock, keyFrameSpacingMs, () => this.#requestNow())
    if (encoding === 'largest' && source.producer.type === 'simulcast')
      this.low = new Feed(source, clock, onFault, 'smallest')
  }

  followSender(): StreamClock | undefined {
    const { producer, line, format } = this.#source
    return line.reports?.follow(producer, format.clockRate, this.#clock)
  }

  attach(listener: PacketListener): () => void {
    this.#listeners.add(listener)
    this.#close ??= this.#open()
    return () => {
      this.#listeners.delete(listener)
      this.#rest()
    }
  }

  /**
   * Keeps the source ready for a second: it is open, and {@link held} has its packets from a key frame on,
   * which is requested.
   */
  prepare(): void {
    this.#ready?.timer.cancel()
    const timer = this.#clock.after(readyMs, () => {
      this.#ready = undefined
      this.#rest()
    })
    this.#ready = { held: this.#ready?.held ?? new HeldPicture(), timer }
    this.#close ??= this.#open()
    if (!this.#ready.held.isReady) this.requestKeyFrame()
  }

  get held(): readonly Buffer[] {
    return this.#ready?.held.packets() ?? []
  }

  requestKeyFrame(): void {
    // Opening requests one itself.
    if (this.#consumer) this.#request.call()
  }

  #open(): () => void {
    const { producer, line, format } = this.#source
    return openLink(
      line.router,
      // Paused until its listener is there: a key frame before that would be lost.
      (transport) =>
        transport.consume({
          producerId: producer.id,
          rtpCapabilities: consumerCapabilities(format),
          paused: true,
          ...(this.#encoding === 'smallest' && { preferredLayers: { spatialLayer: 0 } }),
        }),
      ({ end }) => this.#opened(end),
      (fault) => {
        // A source that has ended is replaced by another one.
        if (!producer.closed) this.#onFault(fault)
      },
    )
  }

  #opened(consumer: types.Consumer): void {
    this.#consumer = consumer
    consumer.on('rtp', (packet) => {
      this.#ready?.held.receive(packet)
      for (const listener of [...this.#listeners]) listener(packet)
    })
    // mediasoup requests a key frame for a resumed consumer.
    this.#request.wait()
    consumer.resume().catch(() => undefined)
  }

  #requestNow(): void {
    this.#consumer?.requestKeyFrame().catch(() => undefined)
  }

  /** Closes the source unless it is used. */
  #rest(): void {
    if (this.#listeners.size > 0 || this.#ready) return
    this.#request.stop()
    this.#consumer = undefined
    this.#close?.()
    this.#close = undefined
  }
}

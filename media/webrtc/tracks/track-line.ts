import type { types } from 'mediasoup'
import type { MediaClock } from '../../clock.ts'
import type { TrackLineUse } from '../../types.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { keyFrameSpacingMs } from '../video/key-frame-spacing.ts'
import { ThrottledAction } from '../video/throttled-action.ts'
import { layerFor, layersOf } from './layer-choice.ts'
import type { SharedPipes } from './shared-pipes.ts'
import type { TracksSession } from './tracks-session.ts'

/** Minimum time between two changes of the preferred layers of a line, in ms. */
const layerSpacingMs = 500
/** Minimum time between two renewals of the stream of a line, in ms. */
const renewSpacingMs = 2000

/** Source that a line shall carry. */
export interface LineSource {
  readonly id: string
  /** Undefined while the source sends nothing. */
  readonly source: VideoSource | undefined
  readonly width: number
  readonly priority: number
  /** Whether it is wanted now; else it is paused. */
  readonly isWanted: boolean
}

/** Collaborators of a {@link TrackLine}. */
export interface TrackLineDeps {
  readonly session: Pick<TracksSession, 'line' | 'consume'>
  readonly pipes: SharedPipes
  readonly clock: MediaClock
  readonly onChange: () => void
  readonly onFault: (fault: Error) => void
}

/** Stream of a line. */
interface OpenStream {
  readonly source: VideoSource
  readonly consumer: types.Consumer
  readonly close: () => void
}

/**
 * One m-line of a viewer. At most one consumer exists at any time, and changes are processed one after
 * another. A source that is not wanted stays as a paused consumer: its return needs a key frame alone.
 */
export class TrackLine {
  readonly mid: string
  readonly #deps: TrackLineDeps
  readonly #layers: ThrottledAction
  readonly #keyFrames: ThrottledAction
  #wanted: LineSource | undefined
  #stream: OpenStream | undefined
  #failed: VideoSource | undefined
  #layer: number | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  #isStale = false
  #isClosed = false
  #hasPendingChange = false
  #work: Promise<void> | undefined

  constructor(mid: string, deps: TrackLineDeps) {
    this.mid = mid
    this.#deps = deps
    this.#layers = new ThrottledAction(deps.clock, layerSpacingMs, () => this.#preferLayer())
    this.#keyFrames = new ThrottledAction(deps.clock, keyFrameSpacingMs, () => this.#requestKeyFrame())
  }

  /** Id of the source; undefined without one. */
  get id(): string | undefined {
    return this.#wanted?.id
  }

  /** Stream that is sent; undefined while none is. */
  get consumer(): types.Consumer | undefined {
    const consumer = this.#stream?.consumer
    return consumer && !consumer.closed && !consumer.paused ? consumer : undefined
  }

  /** Use of the line for the viewer; undefined without a source. */
  get use(): TrackLineUse | undefined {
    if (!this.#wanted) return undefined
    const { id, isWanted, source } = this.#wanted
    const stream = this.#stream
    const isLive = isWanted && stream !== undefined && stream.source === source && !stream.consumer.closed
    const layer = isLive ? stream.consumer.currentLayers?.spatialLayer : undefined
    return { mid: this.mid, id, isLive, ...(layer !== undefined && { layer }) }
  }

  /** Changes the source. */
  set(wanted: LineSource | undefined): void {
    this.#wanted = wanted
    this.#update()
  }

  /** Requests a key frame, or starts a new stream if `isRenewed`. */
  refresh(isRenewed: boolean): void {
    if (!isRenewed) {
      this.#keyFrames.call()
      return
    }
    const now = this.#deps.clock.now()
    if (now - this.#renewedAt < renewSpacingMs) return
    this.#renewedAt = now
    this.#isStale = true
    // Ports that were exhausted may be free again.
    this.#failed = undefined
    this.#update()
  }

  /** Ends the forwarding. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#layers.stop()
    this.#keyFrames.stop()
    this.set(undefined)
  }

  #update(): void {
    this.#hasPendingChange = true
    this.#work ??= this.#run()
  }

  async #run(): Promise<void> {
    while (this.#hasPendingChange) {
      this.#hasPendingChange = false
      await this.#match()
    }
    this.#work = undefined
    this.#deps.onChange()
  }

  async #match(): Promise<void> {
    const { source, isWanted = false } = this.#wanted ?? {}
    const stream = this.#stream
    if (stream && (stream.source !== source || stream.consumer.closed || this.#isStale)) this.#shut(stream)
    this.#isStale = false
    if (!source || source.producer.closed || source === this.#failed) return
    try {
      if (this.#stream) await this.#apply(this.#stream, isWanted)
      else if (isWanted) await this.#open(source)
    } catch (error) {
      // A source or a transport that has closed meanwhile is no fault.
      if (source.producer.closed || this.#deps.session.line.transport.closed) return
      this.#failed = source
      this.#deps.onFault(error as Error)
    }
  }

  async #open(source: VideoSource): Promise<void> {
    const { session, pipes } = this.#deps
    const { producerId, release } = await pipes.acquire(source, session.line)
    try {
      const { width = 0, priority = 1 } = this.#wanted ?? {}
      this.#layer = layerFor(width, layersOf(source))
      const options = { producerId, preferredLayers: { spatialLayer: this.#layer } }
      const consumer = await session.consume(this.mid, options)
      this.#stream = {
        source,
        consumer,
        close: () => {
          consumer.close()
          release()
        },
      }
      consumer.on('producerclose', () => this.#update())
      consumer.on('layerschange', () => this.#deps.onChange())
      if (priority !== consumer.priority) await consumer.setPriority(priority)
    } catch (error) {
      release()
      throw error
    }
    if (this.#isClosed) this.#hasPendingChange = true
  }

  async #apply({ consumer }: OpenStream, isWanted: boolean): Promise<void> {
    if (!isWanted) {
      if (!consumer.paused) await consumer.pause()
      return
    }
    // mediasoup requests a key frame for a resumed consumer.
    if (consumer.paused) await consumer.resume()
    const { priority = 1, width = 0, source } = this.#wanted ?? {}
    if (priority !== consumer.priority) await consumer.setPriority(priority)
    if (source && layerFor(width, layersOf(source)) !== this.#layer) this.#layers.call()
  }

  #shut(stream: OpenStream): void {
    this.#stream = undefined
    stream.close()
  }

  #preferLayer(): void {
    const { source, width = 0 } = this.#wanted ?? {}
    const consumer = this.#stream?.consumer
    if (!source || !consumer || consumer.closed) return
    const layer = layerFor(width, layersOf(source))
    if (layer === this.#layer) return
    this.#layer = layer
    consumer.setPreferredLayers({ spatialLayer: layer }).catch(() => undefined)
  }

  #requestKeyFrame(): void {
    const consumer = this.#stream?.consumer
    if (consumer && !consumer.closed) consumer.requestKeyFrame().catch(() => undefined)
  }
}

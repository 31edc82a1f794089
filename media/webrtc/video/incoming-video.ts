import type { types } from 'mediasoup'
import type { MLine } from '../m-line.ts'
import { type MediaSection, type Simulcast, sends } from '../sdp/session-description.ts'
import type { VideoFormat } from '../sdp/video-format.ts'
import { producerParameters } from '../video-parameters.ts'
import { keyFrameSpacingMs } from './key-frame-spacing.ts'
import { LearnedStreams } from './learned-streams.ts'

/**
 * Minimum time between two requests for a key frame of a stream, in ms. Browsers ignore a request within
 * 300 ms after the one before, and mediasoup would repeat it only after a second.
 */
const minRequestMs = 350

/** Video stream for consumers. A new object for each new stream. */
export interface VideoSource {
  readonly producer: types.Producer
  /** Place of the producer, with the reports of its browser; those of a file are absent. */
  readonly line: Pick<MLine, 'router' | 'worker'> & Partial<Pick<MLine, 'reports'>>
  readonly format: VideoFormat
}

/** Video stream that a browser currently sends. */
export interface IncomingStream extends VideoSource {
  readonly line: MLine
}

/** Video m-line of a browser, as it was agreed. */
export interface VideoLine {
  readonly line: MLine
  readonly section: MediaSection
  readonly format: VideoFormat
  /** Encodings that the browser sends at once; absent for one. Nothing is then sent over the m-line. */
  readonly simulcast?: Simulcast | undefined
}

/** `key` of its parameters, and `origin` of the streams: the encodings of one connection. */
type KeyedStream = IncomingStream & { readonly key: string; readonly origin: string }

/** Video that a browser sends over one m-line: its camera, or a shared screen. */
export class IncomingVideo {
  readonly #watchers = new Set<() => void>()
  readonly #learned = new LearnedStreams()
  #current: KeyedStream | undefined

  /** Current stream; undefined if nothing is sent. */
  get current(): IncomingStream | undefined {
    return this.#current
  }

  /** Calls `watcher` for each change of {@link current}, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /**
   * Applies the browser's description. Called after each description; acts only if the stream or its m-line
   * has changed.
   */
  async take({ line, section, format, simulcast }: VideoLine): Promise<void> {
    if (!sends(section.direction)) return this.clear()
    const parameters = producerParameters(section, format, simulcast)
    // Each connection has a certificate of its own, and its own SSRCs.
    const origin = JSON.stringify([section.mid, simulcast?.rids, section.credentials.fingerprint])
    const key = JSON.stringify([parameters, origin])
    const old = this.#current
    if (old?.line === line && old.key === key && !old.producer.closed) return
    // Two producers of one transport must not share a mid.
    this.#end()
    try {
      const producer = await line.transport.produce({
        kind: 'video',
        rtpParameters: { ...parameters, encodings: this.#learned.complete(origin, parameters.encodings) },
        // The viewers of one encoding are many, and each change of layers asks for a key frame.
        keyFrameRequestDelay: simulcast ? keyFrameSpacingMs : minRequestMs,
      })
      this.#set({ producer, line, format, key, origin })
    } catch (error) {
      this.#set(undefined)
      throw error
    }
  }

  /** Ends the stream. Idempotent. */
  clear(): void {
    this.#end()
    this.#set(undefined)
  }

  #end(): void {
    if (!this.#current) return
    const { producer, origin } = this.#current
    this.#learned.learn(origin, producer)
    producer.close()
  }

  #set(next: KeyedStream | undefined): void {
    if (next === this.#current) return
    this.#current = next
    for (const watcher of [...this.#watchers]) watcher()
  }
}

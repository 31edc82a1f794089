import type { types } from 'mediasoup'
import type { Line } from '../line.ts'
import { type MediaSection, sends } from '../sdp/session.ts'
import type { VideoFormat } from '../sdp/video.ts'
import { producerParameters } from './parameters.ts'

/** Video that a browser sends at this time. Another object whenever it is another stream. */
export interface Source {
  readonly producer: types.Producer
  readonly line: Line
  readonly format: VideoFormat
}

/** The video that one m-line of a browser brings: its camera, or the screen that it shares. */
export class IncomingVideo {
  readonly #watchers = new Set<() => void>()
  #current: (Source & { readonly key: string }) | undefined

  /** What is sent; undefined where nothing is. */
  get current(): Source | undefined {
    return this.#current
  }

  /** Tells of each change of {@link current}, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /**
   * Brings it to what the browser's description says. Called after each; does something only when the stream is another one, or comes over
   * another line.
   */
  async take(line: Line, section: MediaSection, format: VideoFormat): Promise<void> {
    if (!sends(section.direction)) return this.clear()
    const rtpParameters = producerParameters(section, format)
    const key = JSON.stringify(rtpParameters)
    const old = this.#current
    if (old?.line === line && old.key === key && !old.producer.closed) return
    // Two producers of one transport may not share a mid.
    old?.producer.close()
    try {
      const producer = await line.transport.produce({ kind: 'video', rtpParameters })
      this.#set({ producer, line, format, key })
    } catch (error) {
      this.#set(undefined)
      throw error
    }
  }

  /** Nothing comes any more. Idempotent. */
  clear(): void {
    this.#current?.producer.close()
    this.#set(undefined)
  }

  #set(next: (Source & { readonly key: string }) | undefined): void {
    if (next === this.#current) return
    this.#current = next
    for (const watcher of [...this.#watchers]) watcher()
  }
}

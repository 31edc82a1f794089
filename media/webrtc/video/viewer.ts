import type { types } from 'mediasoup'
import { guard } from '../../guard.ts'
import { forwardVideo, type VideoForwarding, type VideoSink } from './forward-video.ts'
import type { VideoSource } from './incoming-video.ts'

/** Provider of the video shown by a {@link Viewer}. */
export interface VideoProvider {
  readonly source: VideoSource | undefined
  /** First layers of a stream with several; default the highest. */
  readonly preferredLayers?: types.ConsumerLayers
  /** Called for each new stream towards the browser; default nothing. */
  viewed?(forwarding: VideoForwarding): void
}

/** Called with the reason if video cannot be shown. */
export type OnFault = (fault: Error) => void

/** Request to see a video. */
interface ViewRequest {
  readonly provider: VideoProvider
  readonly onFault: OnFault
}

/**
 * Video that one browser sees: that of the last active request. At most one consumer exists at any time;
 * changes are processed one after another.
 */
export class Viewer {
  readonly #sink: () => VideoSink | undefined
  #requests: readonly ViewRequest[] = []
  #forwarding: VideoForwarding | undefined
  #failed:
    | { readonly request: ViewRequest; readonly source: VideoSource; readonly sink: VideoSink }
    | undefined
  #hasPendingChange = false
  #work: Promise<void> | undefined

  constructor(sink: () => VideoSink | undefined) {
    this.#sink = sink
  }

  /** Requests a video, until the returned function is called. */
  watch(provider: VideoProvider, onFault: OnFault): () => void {
    const request = { provider, onFault }
    this.#requests = [...this.#requests, request]
    this.update()
    return () => {
      this.#requests = this.#requests.filter((other) => other !== request)
      this.update()
    }
  }

  /** Processes a change. */
  update(): void {
    this.#hasPendingChange = true
    this.#work ??= this.#run()
  }

  /** Requests a key frame, because the browser may need one. */
  refresh(): void {
    const consumer = this.#forwarding?.consumer
    if (!consumer?.closed) consumer?.requestKeyFrame().catch(() => undefined)
  }

  /** Resolves when no change is pending. */
  async settled(): Promise<void> {
    await this.#work
  }

  async #run(): Promise<void> {
    while (this.#hasPendingChange) {
      this.#hasPendingChange = false
      await this.#match()
    }
    this.#work = undefined
  }

  async #match(): Promise<void> {
    const request = this.#requests.at(-1)
    const source = request?.provider.source
    const sink = this.#sink()
    if (source && sink && isOf(this.#forwarding, source, sink) && !this.#forwarding?.consumer.closed) return
    this.#forwarding?.close()
    this.#forwarding = undefined
    if (!request || !source || !sink) return
    if (this.#failed?.request === request && isOf(this.#failed, source, sink)) return
    this.#failed = undefined
    try {
      this.#forwarding = await forwardVideo(source, sink, request.provider.preferredLayers)
      request.provider.viewed?.(this.#forwarding)
    } catch (error) {
      // If the source or sink has closed meanwhile, the error is ignored: its replacement triggers an update.
      if (source.producer.closed || sink.line.transport.closed) return
      this.#failed = { request, source, sink }
      guard(request.onFault)(error as Error)
    }
  }
}

const isOf = (
  pair: { readonly source: VideoSource; readonly sink: VideoSink } | undefined,
  source: VideoSource,
  sink: VideoSink,
): boolean => pair?.source === source && pair.sink === sink

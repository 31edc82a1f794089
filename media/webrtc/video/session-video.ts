import { guard } from '../../guard.ts'
import type { BrowserVideo } from '../../types.ts'
import { receives } from '../sdp/session-description.ts'
import type { VideoSink } from './forward-video.ts'
import { IncomingVideo, type VideoLine, type VideoSource } from './incoming-video.ts'
import { type OnFault, type VideoProvider, Viewer } from './viewer.ts'

/** Returns the session's video. Throws a TypeError if it is not of this implementation. */
export const sessionVideo = (video: BrowserVideo): SessionVideo => {
  if (video instanceof SessionVideo) return video
  throw new TypeError('video of this WebRtc expected')
}

/** Video of a browser's session, over all its offers and m-lines. */
export class SessionVideo implements BrowserVideo, VideoProvider {
  readonly camera = new IncomingVideo()
  readonly #viewer = new Viewer(() => this.#sink)
  readonly #watchers = new Set<() => void>()
  readonly #sinkWatchers = new Set<() => void>()
  #sink: VideoSink | undefined
  #screen: IncomingVideo | undefined
  #unwatchScreen = () => {}
  readonly #listeners = new Set<() => void>()
  #quiet = false
  #closed = false
  #reported = { sends: false, receives: false }

  constructor() {
    this.camera.watch(() => this.#changed())
  }

  /** Stream that other browsers see. */
  get source(): VideoSource | undefined {
    return this.#screen?.current ?? this.camera.current
  }

  /** M-line that currently receives video; undefined if none does. */
  get sink(): VideoSink | undefined {
    return this.#sink
  }

  get isSending(): boolean {
    return this.source !== undefined
  }

  get isReceiving(): boolean {
    return this.#sink !== undefined
  }

  onChange(listener: () => void): () => void {
    const guarded = guard(listener)
    this.#listeners.add(guarded)
    return () => void this.#listeners.delete(guarded)
  }

  /**
   * Applies the browser's description of its m-line, and requests a key frame because the browser may need
   * one. `view`: m-line over which it receives; default the same.
   */
  async use(main: VideoLine, view: VideoLine = main): Promise<void> {
    // Suppresses reports, so that both changes are reported as one.
    this.#quiet = true
    try {
      await this.camera.take(main)
      this.#deliverTo(canReceive(view) ? { line: view.line, format: view.format } : undefined)
    } finally {
      this.#quiet = false
      this.#tell()
    }
    this.#viewer.refresh()
  }

  /** Handles a description without a video m-line. */
  unuse(): void {
    this.#quiet = true
    this.#deliverTo(undefined)
    this.camera.clear()
    this.#quiet = false
    this.#tell()
  }

  /**
   * Shows a screen in place of the camera while it has a stream; undefined restores the camera. No effect
   * when closed.
   */
  present(screen: IncomingVideo | undefined): void {
    if (this.#closed) return
    this.#unwatchScreen()
    this.#screen = screen
    this.#unwatchScreen = screen?.watch(() => this.#changed()) ?? (() => {})
    this.#changed()
  }

  /** Calls `watcher` for each change of {@link sink}, until the returned function is called. */
  watchSink(watcher: () => void): () => void {
    this.#sinkWatchers.add(watcher)
    return () => void this.#sinkWatchers.delete(watcher)
  }

  /** Shows the other's video to this browser, until the returned function is called. */
  watch(other: SessionVideo, onFault: OnFault): () => void {
    const view = this.view(other, onFault)
    // A function of its own for each call, because the same two sessions may be joined again before the first
    // join ends.
    const update = () => view.update()
    other.#watchers.add(update)
    return () => {
      other.#watchers.delete(update)
      view.close()
    }
  }

  /** Shows a provider's video to this browser until `close`; `update` processes a change of the provider. */
  view(provider: VideoProvider, onFault: OnFault): { update(): void; close(): void } {
    return { update: () => this.#viewer.update(), close: this.#viewer.watch(provider, onFault) }
  }

  /** Ends sending and receiving. Idempotent; resolves when nothing is pending. */
  async close(): Promise<void> {
    this.present(undefined)
    this.#closed = true
    this.unuse()
    await this.#viewer.settled()
  }

  #deliverTo(sink: VideoSink | undefined): void {
    if (this.#sink?.line === sink?.line) return
    this.#sink = sink
    for (const watcher of [...this.#sinkWatchers]) watcher()
    this.#viewer.update()
  }

  #changed(): void {
    for (const update of [...this.#watchers]) update()
    this.#tell()
  }

  #tell(): void {
    if (this.#quiet) return
    const { isSending: sends, isReceiving: receives } = this
    if (this.#reported.sends === sends && this.#reported.receives === receives) return
    this.#reported = { sends, receives }
    for (const listener of [...this.#listeners]) listener()
  }
}

const canReceive = ({ section, simulcast }: VideoLine): boolean => receives(section.direction) && !simulcast

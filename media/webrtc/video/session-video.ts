import { guarded } from '../../edge/guarded.ts'
import type { BrowserVideo } from '../../types.ts'
import type { Line } from '../line.ts'
import { type MediaSection, receives } from '../sdp/session.ts'
import type { VideoFormat } from '../sdp/video.ts'
import { IncomingVideo, type Source } from './incoming.ts'
import type { Sink } from './show.ts'
import { type OnFault, type Picture, Viewer } from './viewer.ts'

/** The video of a browser's session, over all of its offers and lines. */
export class SessionVideo implements BrowserVideo, Picture {
  readonly camera = new IncomingVideo()
  readonly #viewer = new Viewer(() => this.#sink)
  readonly #watchers = new Set<() => void>()
  #sink: Sink | undefined
  #screen: IncomingVideo | undefined
  #unwatchScreen = () => {}
  #listeners: (() => void)[] = []
  #quiet = false
  #closed = false
  #told = { sends: false, receives: false }

  constructor() {
    this.camera.watch(() => this.#changed())
  }

  /** What others see. */
  get source(): Source | undefined {
    return this.#screen?.current ?? this.camera.current
  }

  get sends(): boolean {
    return this.source !== undefined
  }

  get receives(): boolean {
    return this.#sink !== undefined
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Brings it to what the browser's description says of this m-line, and asks for a key frame, as the browser may have lost its place. */
  async use(line: Line, section: MediaSection, format: VideoFormat): Promise<void> {
    // The two changes are told as one.
    this.#quiet = true
    try {
      await this.camera.take(line, section, format)
      this.#deliverTo(receives(section.direction) ? { line, format } : undefined)
    } finally {
      this.#quiet = false
      this.#tell()
    }
    this.#viewer.refresh()
  }

  /** The browser has no m-line for video. */
  unuse(): void {
    this.#quiet = true
    this.#deliverTo(undefined)
    this.camera.clear()
    this.#quiet = false
    this.#tell()
  }

  /** Shows this in place of the camera while it brings something; undefined: the camera. Nothing once it is closed. */
  present(screen: IncomingVideo | undefined): void {
    if (this.#closed) return
    this.#unwatchScreen()
    this.#screen = screen
    this.#unwatchScreen = screen?.watch(() => this.#changed()) ?? (() => {})
    this.#changed()
  }

  /** The browser sees the other, until the returned function is called. */
  watch(other: SessionVideo, onFault: OnFault): () => void {
    // One for each watching, as the same two may be joined anew before the old joining ends.
    const update = () => this.#viewer.update()
    other.#watchers.add(update)
    const unwatch = this.#viewer.watch(other, onFault)
    return () => {
      other.#watchers.delete(update)
      unwatch()
    }
  }

  /** Gives and takes nothing any more. Idempotent; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.present(undefined)
    this.#closed = true
    this.unuse()
    await this.#viewer.settled()
  }

  #deliverTo(sink: Sink | undefined): void {
    if (this.#sink?.line === sink?.line) return
    this.#sink = sink
    this.#viewer.update()
  }

  #changed(): void {
    for (const update of [...this.#watchers]) update()
    this.#tell()
  }

  #tell(): void {
    if (this.#quiet) return
    const { sends, receives } = this
    if (this.#told.sends === sends && this.#told.receives === receives) return
    this.#told = { sends, receives }
    for (const listener of [...this.#listeners]) guarded(listener)
  }
}

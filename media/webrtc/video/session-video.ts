import type { BrowserVideo } from '../../types.ts'
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

  /** Where the browser takes video from now on; undefined: nowhere. */
  deliverTo(sink: Sink | undefined): void {
    if (this.#sink?.line === sink?.line) return
    this.#sink = sink
    this.#viewer.update()
    this.#tell()
  }

  /** Shows this in place of the camera while it brings something; undefined: the camera. */
  present(screen: IncomingVideo | undefined): void {
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

  /** The browser may have lost its place in what it sees. */
  refresh(): void {
    this.#viewer.refresh()
  }

  /** Gives and takes nothing any more. Idempotent; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.present(undefined)
    this.camera.clear()
    this.deliverTo(undefined)
    await this.#viewer.settled()
  }

  #changed(): void {
    for (const update of [...this.#watchers]) update()
    this.#tell()
  }

  #tell(): void {
    const { sends, receives } = this
    if (this.#told.sends === sends && this.#told.receives === receives) return
    this.#told = { sends, receives }
    for (const listener of [...this.#listeners]) listener()
  }
}

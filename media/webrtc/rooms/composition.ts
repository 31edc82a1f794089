import type { MediaTimer, Timers } from '../../clock.ts'
import type { ComposedLayer, ComposedPicture, Composers } from '../../types.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { ComposedFeed } from './composed-feed.ts'
import { type OpenInput, openComposerInput } from './composer-input.ts'
import type { PacketSource } from './feed.ts'

/** A layer with the stream of its member; without one, its rectangle is plain. */
export interface CompositionLayer extends ComposedLayer {
  readonly source?: VideoSource
}

/** Collaborators of a {@link Composition}. */
export interface CompositionDeps {
  readonly composers: Pick<Composers, 'open'>
  readonly clock: Timers
  /** Called for each stream that cannot be sent to the picture. */
  readonly onFault: (fault: Error) => void
  /** Called when {@link Composition.failure} or {@link Composition.feed} has changed by itself. */
  readonly onChange: () => void
  /** Default {@link openComposerInput}. */
  readonly openInput?: typeof openComposerInput
}

/** Width of the canvas in pixels. */
const canvasWidth = 1280
const firstRetryMs = 500
const maxRetryMs = 30_000

/**
 * Composed picture of one room. Opened with the first visible source, closed with the last. Receives the
 * visible sources only.
 *
 * If the process dies, another picture opens at once, then after 0.5 s, doubled up to 30 s. The owner decides
 * what viewers see meanwhile.
 */
export class Composition {
  readonly #deps: CompositionDeps
  readonly #openInput: typeof openComposerInput
  readonly #inputs = new Map<string, OpenInput & { readonly source: VideoSource }>()
  #layers: readonly CompositionLayer[] = []
  /** Packets of the picture that is open or opens. */
  #feed: ComposedFeed | undefined
  #picture: ComposedPicture | undefined
  #failure: string | undefined
  /** Openings that failed in a row. */
  #failures = 0
  #retry: MediaTimer | undefined

  constructor(deps: CompositionDeps) {
    this.#deps = deps
    this.#openInput = deps.openInput ?? openComposerInput
  }

  /** Reason why there is no picture although one is wanted; undefined as soon as one is open. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Packets of the picture; undefined without a visible source, and after a failure. */
  get feed(): PacketSource | undefined {
    return this.#failure === undefined ? this.#feed : undefined
  }

  /** Number of sources in the picture. */
  get tiles(): number {
    return this.#inputs.size
  }

  /** Load of the process of the picture, as a share of a core; 0 without a picture. */
  get load(): number {
    return this.#picture?.load.process ?? 0
  }

  /** Changes the layers; none: the picture is not needed. */
  show(layers: readonly CompositionLayer[]): void {
    this.#layers = layers
    // A failed picture opens again by itself.
    if (this.#failure !== undefined) return
    if (layers.some(({ isVisible, source }) => isVisible && source)) this.#open()
    else this.#shut()
    this.#apply()
  }

  /** Ends the picture. Idempotent. */
  close(): void {
    this.#layers = []
    this.#retry?.cancel()
    this.#shut()
  }

  #open(): void {
    if (this.#feed) return
    const feed = new ComposedFeed()
    this.#feed = feed
    this.#deps.composers.open().then(
      (picture) => {
        if (this.#feed === feed) this.#opened(picture, feed)
        else void picture.close()
      },
      (reason: Error) => {
        if (this.#feed === feed) this.#fail(reason, this.#failures + 1)
      },
    )
  }

  #opened(picture: ComposedPicture, feed: ComposedFeed): void {
    this.#picture = picture
    this.#failures = 0
    picture.onLost((reason) => {
      if (this.#picture === picture) this.#fail(reason, 0)
    })
    feed.connect(picture)
    this.#apply()
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#deps.onChange()
  }

  #fail(reason: Error, failures: number): void {
    this.#shut()
    this.#failure = reason.message
    this.#failures = failures
    const delayMs = failures === 0 ? 0 : Math.min(maxRetryMs, firstRetryMs * 2 ** (failures - 1))
    this.#retry = this.#deps.clock.after(delayMs, () => this.#open())
    this.#deps.onChange()
  }

  #shut(): void {
    for (const { close } of this.#inputs.values()) close()
    this.#inputs.clear()
    this.#feed = undefined
    void this.#picture?.close()
    this.#picture = undefined
  }

  /** Gives the picture its sources and its layers. */
  #apply(): void {
    const picture = this.#picture
    if (!picture) return
    const wanted = new Map<string, { readonly source: VideoSource; readonly width: number }>()
    for (const { memberId, isVisible, source, width } of this.#layers)
      if (isVisible && source) wanted.set(memberId, { source, width: (width / 100) * canvasWidth })
    for (const [id, input] of this.#inputs) {
      if (wanted.get(id)?.source === input.source) continue
      input.close()
      this.#inputs.delete(id)
      picture.removeSource(id)
    }
    const { onFault } = this.#deps
    for (const [id, { source, width }] of wanted) {
      const input = this.#inputs.get(id)
      if (input) input.resize(width)
      else this.#inputs.set(id, { source, ...this.#openInput({ picture, id, source, width, onFault }) })
    }
    picture.draw(this.#layers.map(({ source: _, ...layer }) => layer))
  }
}

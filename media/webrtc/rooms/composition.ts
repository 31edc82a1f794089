import { backOffMs } from '../../back-off.ts'
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
  /**
   * Called when {@link Composition.failure} or {@link Composition.feed} has changed by itself. `reason`:
   * cause of a success.
   */
  readonly onChange: (reason: string) => void
  /** Default {@link openComposerInput}. */
  readonly openInput?: typeof openComposerInput
}

/** Width of the canvas in pixels. */
const canvasWidth = 1280
/** Maximum wait for the first pictures of the sources after a failure, in ms. */
const maxDrawMs = 1500

const restored = 'the composer works again'

/** A source that the picture receives. */
interface Input extends OpenInput {
  readonly source: VideoSource
  /** Whether it has a picture. */
  isPictured: boolean
}

/**
 * Composed picture of one room. Opened with the first visible source, closed with the last. Receives the
 * visible sources only.
 *
 * If the process dies, another picture opens at once, then after 0.5 s, doubled up to 30 s. The failure ends
 * when all visible sources are drawn, or 1.5 s after the picture has opened. The owner decides what viewers
 * see meanwhile, and goes on telling the layers.
 */
export class Composition {
  readonly #deps: CompositionDeps
  readonly #openInput: typeof openComposerInput
  readonly #inputs = new Map<string, Input>()
  #layers: readonly CompositionLayer[] = []
  /** Packets of the picture that is open or opens. */
  #feed: ComposedFeed | undefined
  #picture: ComposedPicture | undefined
  #failure: string | undefined
  /** Openings that failed in a row. */
  #failures = 0
  #retry: MediaTimer | undefined
  /** Runs while a picture after a failure waits for its sources. */
  #patience: MediaTimer | undefined
  /** Cause of the next success. */
  #cause = restored

  constructor(deps: CompositionDeps) {
    this.#deps = deps
    this.#openInput = deps.openInput ?? openComposerInput
  }

  /** Reason why there is no picture although one is wanted. */
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
    if (this.#failure === undefined) {
      if (this.#isNeeded) this.#open()
      else this.#shut()
    }
    this.#apply()
  }

  /** Opens the picture in the background, as after a failure. No effect if there is one. */
  prepare(reason: string): void {
    if (this.#failure !== undefined || this.#feed) return
    this.#cause = reason
    this.#fail(new Error(reason), 0)
  }

  /** Ends the picture. Idempotent. */
  close(): void {
    this.#layers = []
    this.#retry?.cancel()
    this.#shut()
  }

  get #isNeeded(): boolean {
    return this.#layers.some(({ isVisible, source }) => isVisible && source)
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
    picture.onPictured((id) => {
      const input = this.#inputs.get(id)
      if (input) {
        input.isPictured = true
        input.pictured()
      }
      this.#recoverIfDrawn()
    })
    picture.onStalled((id) => this.#inputs.get(id)?.reopen())
    feed.connect(picture)
    if (this.#failure !== undefined) this.#recoverAfter(maxDrawMs)
    this.#apply()
  }

  #recoverIfDrawn(): void {
    const isDrawn = [...this.#inputs.values()].every(({ isPictured }) => isPictured)
    if (this.#patience && isDrawn) this.#recoverAfter(0)
  }

  /** Ends the failure later: the owner may be changing the layers at present. */
  #recoverAfter(ms: number): void {
    this.#patience?.cancel()
    this.#patience = this.#deps.clock.after(ms, () => this.#recover())
  }

  #recover(): void {
    this.#patience = undefined
    this.#failure = undefined
    const cause = this.#cause
    this.#cause = restored
    this.#deps.onChange(cause)
  }

  #fail(reason: Error, failures: number): void {
    this.#shut()
    this.#failure = reason.message
    this.#failures = failures
    this.#retry = this.#deps.clock.after(backOffMs(failures), () => {
      if (this.#isNeeded) this.#open()
      else this.#recover()
    })
    this.#deps.onChange(this.#cause)
  }

  #shut(): void {
    this.#patience?.cancel()
    this.#patience = undefined
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
    const { clock, onFault } = this.#deps
    for (const [id, { source, width }] of wanted) {
      const input = this.#inputs.get(id)
      if (input) input.resize(width)
      else {
        const opened = this.#openInput({ picture, clock, id, source, width, onFault })
        this.#inputs.set(id, { source, isPictured: false, ...opened })
      }
    }
    picture.draw(this.#layers.map(({ source: _, ...layer }) => layer))
    this.#recoverIfDrawn()
  }
}

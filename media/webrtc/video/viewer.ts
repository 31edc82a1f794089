import { guarded } from '../../edge/guarded.ts'
import type { Source } from './incoming.ts'
import { type Shown, type Sink, show } from './show.ts'

/** Where a {@link Viewer} gets what it shows. */
export interface Picture {
  readonly source: Source | undefined
}

/** Told why a picture cannot be shown. */
export type OnFault = (fault: Error) => void

/** One wish to see a picture. */
interface Wish {
  readonly picture: Picture
  readonly onFault: OnFault
}

/**
 * What one browser sees: the picture wished for last, of those that are still wished for. There is one consumer or none at any time, however
 * quickly things change: each change is looked at when the one before it is done.
 */
export class Viewer {
  readonly #sink: () => Sink | undefined
  #wishes: readonly Wish[] = []
  #shown: Shown | undefined
  #failed: { readonly wish: Wish; readonly source: Source; readonly sink: Sink } | undefined
  #again = false
  #work: Promise<void> | undefined

  constructor(sink: () => Sink | undefined) {
    this.#sink = sink
  }

  /** Wishes for a picture, until the returned function is called. */
  watch(picture: Picture, onFault: OnFault): () => void {
    const wish = { picture, onFault }
    this.#wishes = [...this.#wishes, wish]
    this.update()
    return () => {
      this.#wishes = this.#wishes.filter((other) => other !== wish)
      this.update()
    }
  }

  /** Something changed. */
  update(): void {
    this.#again = true
    this.#work ??= this.#run()
  }

  /** Asks for a key frame, as the browser may have lost its place. */
  refresh(): void {
    const consumer = this.#shown?.consumer
    if (!consumer?.closed) consumer?.requestKeyFrame().catch(() => undefined)
  }

  /** Resolves when there is nothing left to do. */
  async settled(): Promise<void> {
    await this.#work
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false
      await this.#match()
    }
    this.#work = undefined
  }

  async #match(): Promise<void> {
    const wish = this.#wishes.at(-1)
    const source = wish?.picture.source
    const sink = this.#sink()
    if (source && sink && isOf(this.#shown, source, sink) && !this.#shown?.consumer.closed) return
    this.#shown?.close()
    this.#shown = undefined
    if (!wish || !source || !sink) return
    if (this.#failed?.wish === wish && isOf(this.#failed, source, sink)) return
    this.#failed = undefined
    try {
      this.#shown = await show(source, sink)
    } catch (error) {
      // What went away meanwhile is no fault, and whatever comes in its place is told.
      if (source.producer.closed || sink.line.transport.closed) return
      this.#failed = { wish, source, sink }
      guarded(() => wish.onFault(error as Error))
    }
  }
}

const isOf = (
  pair: { readonly source: Source; readonly sink: Sink } | undefined,
  source: Source,
  sink: Sink,
): boolean => pair?.source === source && pair.sink === sink

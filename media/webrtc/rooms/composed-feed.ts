import type { ComposedPicture, Rendition } from '../../types.ts'
import type { PacketListener, PacketSource } from './feed.ts'

type Picture = Pick<ComposedPicture, 'requestKeyFrame' | 'enableLow' | 'onPacket'>

/** Packets of one rendition of a composed picture. */
class RenditionFeed implements PacketSource {
  readonly #rendition: Rendition
  readonly #onUse: (isUsed: boolean) => void
  readonly #listeners = new Set<PacketListener>()
  #picture: Picture | undefined

  constructor(rendition: Rendition, onUse: (isUsed: boolean) => void = () => {}) {
    this.#rendition = rendition
    this.#onUse = onUse
  }

  /** Whether there are listeners. */
  get isUsed(): boolean {
    return this.#listeners.size > 0
  }

  attach(listener: PacketListener): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#onUse(true)
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onUse(false)
    }
  }

  requestKeyFrame(): void {
    // The picture spaces the requests of all programs.
    this.#picture?.requestKeyFrame(this.#rendition)
  }

  connect(picture: Picture): void {
    this.#picture = picture
    if (this.isUsed) this.requestKeyFrame()
  }

  deliver(packet: Buffer): void {
    for (const listener of [...this.#listeners]) listener(packet)
  }
}

/**
 * Packets of a composed picture in its rendition `high`; {@link low} has the other one, which is only encoded
 * while it has listeners.
 */
export class ComposedFeed implements PacketSource {
  readonly low: PacketSource
  readonly #high = new RenditionFeed('high')
  readonly #low: RenditionFeed
  #picture: Picture | undefined

  constructor() {
    this.#low = new RenditionFeed('low', (isUsed) => this.#picture?.enableLow(isUsed))
    this.low = this.#low
  }

  attach(listener: PacketListener): () => void {
    return this.#high.attach(listener)
  }

  requestKeyFrame(): void {
    this.#high.requestKeyFrame()
  }

  /** Sets the picture, once it is open. */
  connect(picture: Picture): void {
    this.#picture = picture
    picture.onPacket((rendition, packet, kind) => {
      if (kind === 'rtp') (rendition === 'high' ? this.#high : this.#low).deliver(packet)
    })
    if (this.#low.isUsed) picture.enableLow(true)
    this.#high.connect(picture)
    this.#low.connect(picture)
  }
}

import type { ComposedPicture } from '../../types.ts'
import type { PacketListener, PacketSource } from './feed.ts'

/** Packets of a composed picture in its rendition `high`. */
export class ComposedFeed implements PacketSource {
  readonly #listeners = new Set<PacketListener>()
  #picture: Pick<ComposedPicture, 'requestKeyFrame'> | undefined

  attach(listener: PacketListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  requestKeyFrame(): void {
    // The picture spaces the requests of all programs.
    this.#picture?.requestKeyFrame('high')
  }

  /** Sets the picture, once it is open. */
  connect(picture: Pick<ComposedPicture, 'requestKeyFrame' | 'onPacket'>): void {
    this.#picture = picture
    picture.onPacket((rendition, packet, kind) => {
      if (rendition !== 'high' || kind !== 'rtp') return
      for (const listener of [...this.#listeners]) listener(packet)
    })
    this.requestKeyFrame()
  }
}

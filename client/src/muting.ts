import type { MediaKind } from './local-media.ts'

/** What we send, muted or not; and all of it silent while the call is held. */
export class Muting {
  readonly #allow: (kind: MediaKind, on: boolean) => void
  readonly #changed: (muted: Readonly<Record<MediaKind, boolean>>) => void
  #muted: Readonly<Record<MediaKind, boolean>> = { audio: false, video: false }
  #holding = false

  /** `allow` lets a kind through or not; `changed` is told of changes of {@link muted}. */
  constructor(
    allow: (kind: MediaKind, on: boolean) => void,
    changed: (muted: Readonly<Record<MediaKind, boolean>>) => void,
  ) {
    this.#allow = allow
    this.#changed = changed
  }

  get muted(): Readonly<Record<MediaKind, boolean>> {
    return this.#muted
  }

  /** Mutes a kind, or lets it through again. */
  set(kind: MediaKind, muted: boolean): void {
    const changed = this.#muted[kind] !== muted
    this.#muted = { ...this.#muted, [kind]: muted }
    this.#apply()
    if (changed) this.#changed(this.#muted)
  }

  /** Sends nothing at all while held. */
  hold(holding: boolean): void {
    this.#holding = holding
    this.#apply()
  }

  #apply(): void {
    for (const kind of ['audio', 'video'] as const) this.#allow(kind, !this.#muted[kind] && !this.#holding)
  }
}

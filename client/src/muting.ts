import type { MediaKind } from './local-media.ts'
import type { Member } from './member-types.ts'

/** What {@link Muting} works on. */
export interface MutingOwner {
  /** Lets a kind through, or not. */
  allow(kind: MediaKind, on: boolean): void
  /** {@link Muting.muted} is another. */
  changed(muted: Readonly<Record<MediaKind, boolean>>): void
  /** Throws `no_capability`. */
  require(capability: string): void
  /** Whether the gateway told who we are, and allows it. */
  may(capability: string): boolean
  /** Tells the gateway of ourselves. */
  tell(method: 'call.mute' | 'call.unmute', kind: MediaKind): Promise<unknown>
  /** The gateway was not to be told, and nobody waits for it. */
  failed(error: unknown): void
}

const kinds: readonly MediaKind[] = ['audio', 'video']

/** What we send, muted or not; and all of it silent while the call is held. */
export class Muting {
  readonly #owner: MutingOwner
  #muted: Readonly<Record<MediaKind, boolean>> = { audio: false, video: false }
  #holding = false

  constructor(owner: MutingOwner) {
    this.#owner = owner
  }

  get muted(): Readonly<Record<MediaKind, boolean>> {
    return this.#muted
  }

  /** Mutes a kind, or lets it through again: here at once, and at the gateway. Rejects with `no_capability` or the gateway's error. */
  async set(kind: MediaKind, muted: boolean): Promise<void> {
    // Nobody may keep a person from being silent, but a gateway may keep them from being heard again.
    if (!muted) this.#owner.require(`self.mute.${kind}.on`)
    // First here, where it takes effect whatever the gateway says.
    this.#here(kind, muted)
    try {
      await this.#tell(kind, muted)
    } catch (error) {
      // What the others do not get is not to look as if they did.
      if (!muted) this.#here(kind, true)
      throw error
    }
  }

  /** We joined a call, or a room: who was muted by the gateway is, and who muted themselves before it knew of them stays so. */
  joined(member: Member): void {
    for (const kind of kinds)
      if (member[`${kind}_muted`] === true) this.#here(kind, true)
      else if (this.#muted[kind]) this.#tell(kind, true).catch((error: unknown) => this.#owner.failed(error))
  }

  /** The gateway changed what it knows of us. */
  updated(member: Member, updated: readonly string[]): void {
    for (const kind of kinds) {
      const muted = member[`${kind}_muted`]
      if (updated.includes(`${kind}_muted`) && typeof muted === 'boolean') this.#here(kind, muted)
    }
  }

  /** Sends nothing at all while held. */
  hold(holding: boolean): void {
    this.#holding = holding
    this.#apply()
  }

  async #tell(kind: MediaKind, muted: boolean): Promise<void> {
    if (!this.#owner.may(`self.mute.${kind}.${muted ? 'off' : 'on'}`)) return
    await this.#owner.tell(muted ? 'call.mute' : 'call.unmute', kind)
  }

  #here(kind: MediaKind, muted: boolean): void {
    const changed = this.#muted[kind] !== muted
    this.#muted = { ...this.#muted, [kind]: muted }
    this.#apply()
    if (changed) this.#owner.changed(this.#muted)
  }

  #apply(): void {
    for (const kind of kinds) this.#owner.allow(kind, !this.#muted[kind] && !this.#holding)
  }
}

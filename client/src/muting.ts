import type { MediaKind } from './local-media.ts'
import type { Member } from './member-types.ts'

/** Collaborator of {@link Muting}. */
export interface MutingOwner {
  /** Sends a kind of media if `on`, otherwise silence or black frames. */
  allow(kind: MediaKind, on: boolean): void
  /** Closes the device of a muted kind, if that is useful. */
  close(kind: MediaKind): void
  /**
   * Opens a closed device; returns undefined if none is closed. Resolves with false if the kind was muted
   * again meanwhile. Rejects with a `microphone_…` code.
   */
  open(kind: MediaKind): Promise<boolean> | undefined
  /** Handles a change of {@link Muting.muted}. */
  changed(muted: Readonly<Record<MediaKind, boolean>>): void
  /** Throws `no_capability`. */
  require(capability: string): void
  /** Whether the own member is known and the gateway allows a capability. */
  may(capability: string): boolean
  /** Informs the gateway about the own member. */
  tell(method: 'call.mute' | 'call.unmute', kind: MediaKind): Promise<unknown>
  /** Handles the failure of a change whose promise no code awaits. */
  failed(error: unknown): void
}

const kinds: readonly MediaKind[] = ['audio', 'video']

/** Mute state of the media that this page sends. While the call is held, all of its media is silent. */
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

  /**
   * Mutes (`muted`) or unmutes a kind, locally at once and then at the gateway.
   * Rejects with `no_capability`, a `microphone_…` code, or the gateway's error.
   */
  async set(kind: MediaKind, muted: boolean): Promise<void> {
    if (!muted) {
      // Muting is always allowed; unmuting needs the gateway's permission.
      this.#owner.require(`self.mute.${kind}.on`)
      const opening = this.#owner.open(kind)
      if (opening && !(await opening)) return
    }
    // The local mute comes first, because it takes effect whatever the gateway answers.
    this.#here(kind, muted)
    try {
      await this.#tell(kind, muted)
    } catch (error) {
      // Media that the other members do not receive must not be shown as sent.
      if (!muted) this.#here(kind, true)
      throw error
    }
  }

  /** Handles joining a call or a room. A mute by the gateway applies; a local mute from before stays. */
  joined(member: Member): void {
    for (const kind of kinds)
      if (member[`${kind}_muted`] === true) this.#here(kind, true)
      else if (this.#muted[kind]) this.#tell(kind, true).catch((error: unknown) => this.#owner.failed(error))
  }

  /** Handles a change of the own member by the gateway. */
  updated(member: Member, updated: readonly string[]): void {
    for (const kind of kinds) {
      const muted = member[`${kind}_muted`]
      if (!updated.includes(`${kind}_muted`) || typeof muted !== 'boolean') continue
      if (muted) this.#here(kind, true)
      else this.#letThrough(kind).catch((error: unknown) => this.#owner.failed(error))
    }
  }

  /** Sets whether the call is held (`holding`). A held call sends nothing. */
  hold(holding: boolean): void {
    this.#holding = holding
    this.#apply()
  }

  async #letThrough(kind: MediaKind): Promise<void> {
    const opening = this.#owner.open(kind)
    try {
      if (!opening || (await opening)) this.#here(kind, false)
    } catch (error) {
      // The other members must not wait for media that is not sent.
      await this.#tell(kind, true)
      throw error
    }
  }

  async #tell(kind: MediaKind, muted: boolean): Promise<void> {
    if (!this.#owner.may(`self.mute.${kind}.${muted ? 'off' : 'on'}`)) return
    await this.#owner.tell(muted ? 'call.mute' : 'call.unmute', kind)
  }

  #here(kind: MediaKind, muted: boolean): void {
    const changed = this.#muted[kind] !== muted
    this.#muted = { ...this.#muted, [kind]: muted }
    this.#apply()
    if (muted) this.#owner.close(kind)
    if (changed) this.#owner.changed(this.#muted)
  }

  #apply(): void {
    for (const kind of kinds) this.#owner.allow(kind, !this.#muted[kind] && !this.#holding)
  }
}

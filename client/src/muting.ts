import type { MediaKind } from './local-media.ts'
import type { Member } from './member-types.ts'

/** What {@link Muting} works on. */
export interface MutingOwner {
  /** Lets a kind through, or not. */
  allow(kind: MediaKind, on: boolean): void
  /** What is muted need not be open. */
  close(kind: MediaKind): void
  /** Opens what was closed; undefined where there is nothing to open. False: it was muted meanwhile. Rejects with a `microphone_…` code. */
  open(kind: MediaKind): Promise<boolean> | undefined
  /** {@link Muting.muted} is another. */
  changed(muted: Readonly<Record<MediaKind, boolean>>): void
  /** Throws `no_capability`. */
  require(capability: string): void
  /** Whether the gateway told who we are, and allows it. */
  may(capability: string): boolean
  /** Tells the gateway of ourselves. */
  tell(method: 'call.mute' | 'call.unmute', kind: MediaKind): Promise<unknown>
  /** What nobody waits for has failed. */
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

  /**
   * Mutes a kind, or lets it through again: here at once, and at the gateway. Rejects with `no_capability`, a `microphone_…` code, or the
   * gateway's error.
   */
  async set(kind: MediaKind, muted: boolean): Promise<void> {
    if (!muted) {
      // Nobody may keep a person from being silent, but a gateway may keep them from being heard again.
      this.#owner.require(`self.mute.${kind}.on`)
      const opening = this.#owner.open(kind)
      if (opening && !(await opening)) return
    }
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
      if (!updated.includes(`${kind}_muted`) || typeof muted !== 'boolean') continue
      if (muted) this.#here(kind, true)
      else this.#letThrough(kind).catch((error: unknown) => this.#owner.failed(error))
    }
  }

  /** Sends nothing at all while held. */
  hold(holding: boolean): void {
    this.#holding = holding
    this.#apply()
  }

  async #letThrough(kind: MediaKind): Promise<void> {
    const opening = this.#owner.open(kind)
    try {
      if (!opening || (await opening)) this.#here(kind, false)
    } catch (error) {
      // The others are not to wait for what does not come.
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

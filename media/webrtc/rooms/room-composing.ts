import type { MediaClock } from '../../clock.ts'
import type { Composers } from '../../types.ts'
import type { ComposingAdmission, ComposingRoom } from './composing-admission.ts'
import { Composition, type CompositionLayer } from './composition.ts'
import type { PacketSource } from './feed.ts'

/** Processes that compose the pictures of several rooms. */
export interface ComposingService {
  readonly composers: Composers
  readonly admission: ComposingAdmission
}

/** Collaborators of {@link RoomComposing}. */
export interface RoomComposingDeps {
  readonly clock: MediaClock
  readonly onFault: (fault: Error) => void
  /**
   * Called when {@link RoomComposing.canCompose} has changed, and before {@link RoomComposingDeps.onUpdate}.
   * `reason`: one line.
   */
  readonly onComposing: (canCompose: boolean, reason: string) => void
  /** Called when the composed picture may have another source. */
  readonly onUpdate: () => void
}

/** Composed picture of a room, and whether the room may use the processes that compose. */
export class RoomComposing {
  readonly #deps: RoomComposingDeps
  readonly #admission: ComposingAdmission
  readonly #composition: Composition
  readonly #room: ComposingRoom
  /** Reason why the room is not admitted. */
  #refusal: string | undefined
  #canCompose: boolean

  constructor({ composers, admission }: ComposingService, deps: RoomComposingDeps) {
    this.#deps = deps
    this.#admission = admission
    const composition = new Composition({
      composers,
      clock: deps.clock,
      onFault: deps.onFault,
      onChange: (reason) => this.#changed(reason),
    })
    this.#composition = composition
    this.#room = {
      get tiles() {
        return composition.tiles
      },
      get load() {
        return composition.load
      },
      setAdmitted: (isAdmitted, reason) => {
        this.#refusal = isAdmitted ? undefined : reason
        if (isAdmitted) composition.prepare(reason)
        this.#changed(reason)
      },
    }
    this.#refusal = admission.join(this.#room)
    this.#canCompose = this.#refusal === undefined
  }

  /** Whether the room is admitted, and its picture works. */
  get canCompose(): boolean {
    return this.#canCompose
  }

  /** Whether the room is admitted. Its picture may have failed. */
  get isAdmitted(): boolean {
    return this.#refusal === undefined
  }

  /** Packets of the picture; undefined without a visible source, and after a failure. */
  get feed(): PacketSource | undefined {
    return this.#composition.feed
  }

  /** Shows layers; an empty list closes the picture. */
  show(layers: readonly CompositionLayer[]): void {
    this.#composition.show(layers)
  }

  /** Closes the picture for ever. */
  close(): void {
    this.#admission.leave(this.#room)
    this.#composition.close()
  }

  #changed(reason: string): void {
    const why = this.#refusal ?? this.#composition.failure
    const canCompose = why === undefined
    const isChanged = canCompose !== this.#canCompose
    this.#canCompose = canCompose
    // The listener shows another picture, which ends the use of the lost one.
    if (isChanged) this.#deps.onComposing(canCompose, why ?? reason)
    this.#deps.onUpdate()
  }
}

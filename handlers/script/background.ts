import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'

/** Something that goes on while the script does. */
export interface BackgroundItem {
  readonly id: string
  readonly ended: Promise<unknown>
  stop(): void
}

/** What goes on in the background of one call, by control id; what has ended is forgotten. */
export class Background<T extends BackgroundItem> {
  readonly #kind: string
  /** In the order of their beginning. */
  readonly #running = new Map<string, T>()

  /** `kind` names it in messages, such as `recording`. */
  constructor(kind: string) {
    this.#kind = kind
  }

  /** Throws {@link VerbFailed} where something of this control id goes on already. */
  check(controlId: string | undefined): void {
    if (controlId !== undefined && this.#running.has(controlId))
      throw new VerbFailed(codes.parameterInvalid, `control_id is that of a ${this.#kind} that is under way.`)
  }

  /** Keeps it until it has ended. Returns its control id, which is its own id by default. */
  add(item: T, controlId = item.id): string {
    this.#running.set(controlId, item)
    void item.ended.then(() => {
      if (this.#running.get(controlId) === item) this.#running.delete(controlId)
    })
    return controlId
  }

  /**
   * Ends the one of a control id, by default the last one; from now on the id may be given again. Throws {@link VerbFailed} where there is none.
   */
  stop(controlId: string | undefined): T {
    const id = controlId ?? [...this.#running.keys()].at(-1) ?? ''
    const found = this.#running.get(id)
    if (!found) throw new VerbFailed(codes.methodFailed, `No such ${this.#kind} is under way.`)
    this.#running.delete(id)
    found.stop()
    return found
  }
}

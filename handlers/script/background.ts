import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'

/** Activity that continues while the script runs. */
export interface BackgroundItem {
  readonly id: string
  readonly ended: Promise<unknown>
  stop(): void
}

/** Running background activities of one kind on one call, by control id. */
export class Background<T extends BackgroundItem> {
  readonly #kind: string
  /** Running activities, in the order of their start. */
  readonly #running = new Map<string, T>()

  /** `kind` is the name in messages, such as `recording`. */
  constructor(kind: string) {
    this.#kind = kind
  }

  /** Throws {@link VerbFailed} if an activity with this control id is running. */
  check(controlId: string | undefined): void {
    if (controlId !== undefined && this.#running.has(controlId))
      throw new VerbFailed(codes.parameterInvalid, `control_id belongs to a running ${this.#kind}.`)
  }

  /** Adds an activity until its end. Returns its control id; default its own id. */
  add(item: T, controlId = item.id): string {
    this.#running.set(controlId, item)
    void item.ended.then(() => {
      if (this.#running.get(controlId) === item) this.#running.delete(controlId)
    })
    return controlId
  }

  /**
   * Stops the activity of a control id, default the most recent one. The id can then be reused. Throws {@link
   * VerbFailed} for an unknown id.
   */
  stop(controlId: string | undefined): T {
    const id = controlId ?? [...this.#running.keys()].at(-1) ?? ''
    const found = this.#running.get(id)
    if (!found) throw new VerbFailed(codes.methodFailed, `No such ${this.#kind} is running.`)
    this.#running.delete(id)
    found.stop()
    return found
  }
}

import { Refusal } from './command-fields.ts'
import type { Operation, OperationKind } from './operation-types.ts'

const maxOperations = 50

interface Running {
  readonly operation: Operation
  readonly done: Promise<void>
}

/** The operations of one call that are not over, by the ids that whoever asked for them gave them. */
export class CallOperations {
  readonly #running = new Map<string, Running>()

  get size(): number {
    return this.#running.size
  }

  /** Whether an id is new; one that is there already is a repeated request, and nothing is to be done. Refused with 429 when there are too many. */
  check(id: string): 'new' | 'repeated' {
    if (this.#running.has(id)) return 'repeated'
    if (this.#running.size >= maxOperations)
      throw new Refusal('429', `the call has ${maxOperations} operations under way`)
    return 'new'
  }

  /** Takes an operation that {@link check} found new: it counts from now on, and begins with the function that comes back. */
  accept(id: string, operation: Operation): () => void {
    const { promise, resolve: begin } = Promise.withResolvers<void>()
    const done = promise.then(() => operation.run()).finally(() => this.#running.delete(id))
    this.#running.set(id, { operation, done })
    return begin
  }

  /** The operation of this id; refused with 404 when it is over or another kind. */
  find(id: string, kind: OperationKind): Operation {
    const found = this.#running.get(id)?.operation
    if (found?.kind !== kind) throw new Refusal('404', `control_id: nothing of this kind has the id ${id}`)
    return found
  }

  /** The operation of a kind that there is one of at a time. */
  only(kind: OperationKind): Operation | undefined {
    return [...this.#running.values()].find(({ operation }) => operation.kind === kind)?.operation
  }

  /** Stops all of them; resolves when each has told how it ended. */
  async stop(): Promise<void> {
    for (const { operation } of this.#running.values()) operation.stop()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }
}

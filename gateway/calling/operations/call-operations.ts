import { Refusal } from './command-fields.ts'
import type { Operation, OperationKind } from './operation-types.ts'

const maxOperations = 50

interface Running {
  readonly operation: Operation
  readonly done: Promise<void>
}

/** Operations of one call in progress, by the ids from their requests. */
export class CallOperations {
  readonly #running = new Map<string, Running>()

  get size(): number {
    return this.#running.size
  }

  /**
   * Checks the id of a request. A known id means that the request is repeated and must have no effect. Throws
   * a {@link Refusal} with 429 if the call has too many operations.
   */
  check(id: string): 'new' | 'repeated' {
    if (this.#running.has(id)) return 'repeated'
    if (this.#running.size >= maxOperations)
      throw new Refusal('429', `the call has ${maxOperations} operations in progress`)
    return 'new'
  }

  /** Adds an operation that {@link check} has found new. Returns the function that starts it. */
  accept(id: string, operation: Operation): () => void {
    const { promise, resolve: begin } = Promise.withResolvers<void>()
    const done = promise.then(() => operation.run()).finally(() => this.#running.delete(id))
    this.#running.set(id, { operation, done })
    return begin
  }

  /** Returns the operation with this id. Throws 404 if it has ended or is of another kind. */
  find(id: string, kind: OperationKind): Operation {
    const found = this.#running.get(id)?.operation
    if (found?.kind !== kind)
      throw new Refusal('404', `control_id: the call has no operation ${kind} with the id ${id}.`)
    return found
  }

  /** Returns the operation of a kind of which a call has at most one at a time. */
  only(kind: OperationKind): Operation | undefined {
    return [...this.#running.values()].find(({ operation }) => operation.kind === kind)?.operation
  }

  /**
   * Stops the operation of a kind of which a call has at most one at a time. Resolves when it has reported
   * its end, or with false if the call has no such operation.
   */
  async stopOnly(kind: OperationKind): Promise<boolean> {
    const found = [...this.#running.values()].find(({ operation }) => operation.kind === kind)
    found?.operation.stop()
    await found?.done
    return found !== undefined
  }

  /** Stops all operations. Resolves when each has reported its end. */
  async stop(): Promise<void> {
    for (const { operation } of this.#running.values()) operation.stop()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }
}

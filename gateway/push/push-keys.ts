import { randomBytes } from 'node:crypto'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Directory } from '../directory/directory.ts'
import type { Subscriber } from '../directory/model/callers.ts'

/** Keys of 256 bits that encrypt subscribers' notifications, created on first use. */
export class PushKeys {
  readonly #directory: Pick<Directory, 'subscriber' | 'changeSubscriber'>
  /** Pending creations of keys, by the subscriber's id. */
  readonly #making = new Map<string, Promise<string>>()

  constructor(directory: Pick<Directory, 'subscriber' | 'changeSubscriber'>) {
    this.#directory = directory
  }

  /**
   * Returns the key of a subscriber, base64. Rejects with `unknown_resource` if the subscriber is removed
   * meanwhile.
   */
  async of({ id, projectId }: Pick<Subscriber, 'id' | 'projectId'>): Promise<string> {
    const present = this.#directory.subscriber(id)?.pushKey ?? this.#making.get(id)
    if (present !== undefined) return present
    const making = this.#make(projectId, id).finally(() => this.#making.delete(id))
    this.#making.set(id, making)
    return making
  }

  async #make(projectId: string, id: string): Promise<string> {
    await this.#directory.changeSubscriber(projectId, id, { pushKey: randomBytes(32).toString('base64') })
    const made = this.#directory.subscriber(id)?.pushKey
    if (made === undefined) throw new TrunklineError('unknown_resource')
    return made
  }
}

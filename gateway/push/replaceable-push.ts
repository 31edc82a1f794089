import type { DeviceCall } from './device-call.ts'
import type { Push } from './push.ts'

/**
 * Push notifications whose settings can change while calls ring. Notifications in progress keep the old
 * settings.
 */
export class ReplaceablePush implements Pick<Push, 'call' | 'close'> {
  #current: Push | undefined
  /** Replaced settings whose notifications are still in progress. */
  readonly #replaced = new Set<Push>()

  /** Without `push`, no notification is sent. */
  constructor(push: Push | undefined) {
    this.#current = push
  }

  /** Number of notifications in progress. */
  get sending(): number {
    return [...this.#replaced].reduce((sum, { sending }) => sum + sending, this.#current?.sending ?? 0)
  }

  /** Changes the settings of later notifications. */
  change(push: Push | undefined): void {
    const old = this.#current
    this.#current = push
    if (!old) return
    this.#replaced.add(old)
    void old
      .retire()
      .catch(() => {})
      .finally(() => this.#replaced.delete(old))
  }

  /** See {@link Push.call}. */
  async call(subscriberId: string, isConnected: boolean): Promise<DeviceCall | undefined> {
    return this.#current?.call(subscriberId, isConnected)
  }

  /** Closes the present and all replaced instances. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#current, ...this.#replaced].map((push) => push?.close()))
  }
}

import type { DeviceCall } from './device-call.ts'
import type { Push } from './push.ts'

/**
 * Push notifications whose settings can change while calls ring: those under way are finished by the old
 * settings.
 */
export class ReplaceablePush implements Pick<Push, 'call' | 'close'> {
  #present: Push | undefined
  /** Replaced ones that are being closed. */
  readonly #old = new Set<Push>()

  /** Undefined `push`: no notification is sent. */
  constructor(push: Push | undefined) {
    this.#present = push
  }

  /** Notifications under way. */
  get sending(): number {
    return [...this.#old].reduce((sum, { sending }) => sum + sending, this.#present?.sending ?? 0)
  }

  /** Tells devices by these settings from now on. */
  change(push: Push | undefined): void {
    const old = this.#present
    this.#present = push
    if (!old) return
    this.#old.add(old)
    void old
      .retire()
      .catch(() => {})
      .finally(() => this.#old.delete(old))
  }

  /** See {@link Push.call}. */
  async call(subscriberId: string, connected: boolean): Promise<DeviceCall | undefined> {
    return this.#present?.call(subscriberId, connected)
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#present, ...this.#old].map((push) => push?.close()))
  }
}

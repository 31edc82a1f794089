import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { DeviceRow } from '../directory/tables/devices.ts'
import type { PushDeliveries } from './push-deliveries.ts'
import { type CallNotice, sealedPayloadOf } from './push-payload.ts'

/** Collaborators and values of a {@link DeviceCall}. */
export interface DeviceCallOptions {
  readonly deliveries: Pick<PushDeliveries, 'deliver'>
  readonly devices: readonly DeviceRow[]
  /** Key of 32 bytes; absent: notifications are not encrypted. */
  readonly key?: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  /** Time in which the call can still be answered, in ms. */
  readonly ringMs: number
}

/** Notifies the devices of a subscriber of one call, and of its end. */
export class DeviceCall {
  readonly #options: DeviceCallOptions
  readonly #id = randomUUID()
  readonly #expiresAt: number
  readonly #over = new AbortController()
  #notice: Omit<CallNotice, 'type' | 'id'> | undefined
  #notified: readonly { readonly device: DeviceRow; readonly accepted: Promise<boolean> }[] = []

  constructor(options: DeviceCallOptions) {
    this.#options = options
    this.#expiresAt = options.clock.now() + options.ringMs
  }

  /**
   * Notifies every device. Resolves with true as soon as a push service accepts a notification, and with
   * false if every notification fails. Called once; never rejects.
   */
  async invite(notice: Omit<CallNotice, 'type' | 'id'>): Promise<boolean> {
    this.#notice = notice
    const { devices, deliveries, key } = this.#options
    const payload = sealedPayloadOf({ ...notice, type: 'call_invite', id: this.#id }, key)
    this.#notified = devices.map((device) => {
      const message = { device, payload, expiresAt: this.#expiresAt }
      return { device, accepted: deliveries.deliver(message, this.#over.signal) }
    })
    return oneOf(this.#notified.map(({ accepted }) => accepted))
  }

  /**
   * Ends the notifications after the call's answer or end. Notified devices receive `event`; the others
   * receive nothing.
   */
  cancel(event: CallNotice['event']): void {
    if (!this.#notice || this.#over.signal.aborted) return
    this.#over.abort()
    const { deliveries, key } = this.#options
    const payload = sealedPayloadOf({ ...this.#notice, type: 'cancel', id: this.#id, event }, key)
    for (const { device, accepted } of this.#notified)
      void accepted.then((isNotified) => {
        if (isNotified) void deliveries.deliver({ device, payload, expiresAt: this.#cancelUntil })
      })
  }

  /**
   * Expiry of the cancellation. A service may hold an invitation until the invitation expires, so the
   * cancellation must be valid as long, and long enough for a few attempts.
   */
  get #cancelUntil(): number {
    return Math.max(this.#expiresAt, this.#options.clock.now() + 10_000)
  }
}

/**
 * Resolves with true as soon as one of the promises does, otherwise with false. The promises must not reject.
 */
const oneOf = (all: readonly Promise<boolean>[]): Promise<boolean> =>
  new Promise((resolve) => {
    for (const each of all) void each.then((yes) => yes && resolve(true))
    void Promise.all(all).then(() => resolve(false))
  })

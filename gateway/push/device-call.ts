import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { DeviceRow } from '../directory/devices.ts'
import type { PushDeliveries } from './push-deliveries.ts'
import { type CallNotice, payloadOf } from './push-payload.ts'

/** What a {@link DeviceCall} is made of. */
export interface DeviceCallOptions {
  readonly deliveries: Pick<PushDeliveries, 'deliver'>
  readonly devices: readonly DeviceRow[]
  /** 32 bytes; absent: nothing is encrypted. */
  readonly key?: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  /** How long somebody may still want to answer, in milliseconds. */
  readonly ringMs: number
}

/** Devices of a subscriber that are told of one call, and of its end. */
export class DeviceCall {
  readonly #options: DeviceCallOptions
  readonly #id = randomUUID()
  readonly #expiresAt: number
  readonly #over = new AbortController()
  #notice: Omit<CallNotice, 'type' | 'id'> | undefined
  #told: readonly { readonly device: DeviceRow; readonly taken: Promise<boolean> }[] = []

  constructor(options: DeviceCallOptions) {
    this.#options = options
    this.#expiresAt = options.clock.now() + options.ringMs
  }

  /**
   * Tells every device. True as soon as a service has taken it for one of them; false when none will. Called
   * once; never rejects.
   */
  async invite(notice: Omit<CallNotice, 'type' | 'id'>): Promise<boolean> {
    this.#notice = notice
    const { devices, deliveries, key } = this.#options
    const payload = payloadOf({ ...notice, type: 'call_invite', id: this.#id }, key)
    this.#told = devices.map((device) => {
      const message = { device, payload, expiresAt: this.#expiresAt }
      return { device, taken: deliveries.deliver(message, this.#over.signal) }
    })
    return oneOf(this.#told.map(({ taken }) => taken))
  }

  /**
   * The call is over, or somebody has answered: devices that were told of it are told so, with `event`; the
   * others are not told any more.
   */
  cancel(event: CallNotice['event']): void {
    if (!this.#notice || this.#over.signal.aborted) return
    this.#over.abort()
    const { deliveries, key } = this.#options
    const payload = payloadOf({ ...this.#notice, type: 'cancel', id: this.#id, event }, key)
    for (const { device, taken } of this.#told)
      void taken.then((told) => {
        if (told) void deliveries.deliver({ device, payload, expiresAt: this.#cancelUntil })
      })
  }

  /**
   * Services may hold an invitation until its end, so the cancel must last as long; what is nearly over gets
   * a few tries all the same.
   */
  get #cancelUntil(): number {
    return Math.max(this.#expiresAt, this.#options.clock.now() + 10_000)
  }
}

/** True as soon as one is true. None of them may reject. */
const oneOf = (all: readonly Promise<boolean>[]): Promise<boolean> =>
  new Promise((resolve) => {
    for (const each of all) void each.then((yes) => yes && resolve(true))
    void Promise.all(all).then(() => resolve(false))
  })

import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Directory } from '../directory/directory.ts'
import type { DeviceRows } from '../directory/tables/devices.ts'
import { DeviceCall } from './device-call.ts'
import type { PushDeliveries } from './push-deliveries.ts'

/** Options of {@link Push}. */
export interface PushOptions {
  /** Whether invitations are encrypted with the subscriber's key. */
  readonly encrypt: boolean
  /** Whether devices are notified while a browser of the subscriber is connected. */
  readonly whenOnline: boolean
  /** Lifetime of a notification, in ms. */
  readonly ringMs: number
}

/** Collaborators of {@link Push}. */
export interface PushDeps {
  readonly directory: Pick<Directory, 'subscriber'>
  readonly devices: Pick<DeviceRows, 'of'>
  readonly deliveries: PushDeliveries
  readonly clock: Clock
  readonly log: Log
}

/** Maximum time for the last notifications at shutdown, in ms. */
const closingMs = 2000
/** Maximum time for notifications in progress after a change of settings, in ms. */
const retiringMs = 60_000

/** Notifies subscribers' devices of calls. */
export class Push {
  readonly #options: PushOptions
  readonly #deps: PushDeps

  constructor(options: PushOptions, deps: PushDeps) {
    this.#options = options
    this.#deps = deps
  }

  /** Number of notifications in progress. */
  get sending(): number {
    return this.#deps.deliveries.running
  }

  /**
   * Returns the devices to notify of a call; undefined if no device needs a notification. `connected`: a
   * browser of the subscriber receives calls. Never rejects.
   */
  async call(subscriberId: string, connected: boolean): Promise<DeviceCall | undefined> {
    const { encrypt, whenOnline, ringMs } = this.#options
    const { directory, devices: rows, deliveries, clock, log } = this.#deps
    const subscriber = directory.subscriber(subscriberId)
    // The registration of a device returns the key, so a subscriber without a key has no devices.
    if ((connected && !whenOnline) || !subscriber?.pushKey || subscriber.disabled) return undefined
    try {
      const registered = await rows.of(subscriberId)
      const devices = registered.filter((device) => deliveries.takes(device))
      if (devices.length === 0) return undefined
      const key = encrypt && { key: Buffer.from(subscriber.pushKey, 'base64') }
      return new DeviceCall({ deliveries, devices, clock, ringMs, ...key })
    } catch (err) {
      log.error(
        { event: 'push.devices-unreadable', err, subscriber: subscriberId },
        'devices not read from the store',
      )
      return undefined
    }
  }

  /** Stops new notifications, and aborts those still in progress after a minute. */
  retire(): Promise<void> {
    return this.#deps.deliveries.close(retiringMs)
  }

  /** Waits at most 2 s for notifications in progress, then aborts them. Idempotent. */
  close(): Promise<void> {
    return this.#deps.deliveries.close(closingMs)
  }
}

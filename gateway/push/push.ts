import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { DeviceRows } from '../directory/devices.ts'
import type { Directory } from '../directory/types.ts'
import { DeviceCall } from './device-call.ts'
import type { PushDeliveries } from './push-deliveries.ts'

/** What push notifications need. */
export interface PushDeps {
  readonly directory: Pick<Directory, 'subscriber'>
  readonly devices: Pick<DeviceRows, 'of'>
  readonly deliveries: PushDeliveries
  /** Whether invitations are encrypted with the subscriber's key. */
  readonly encrypt: boolean
  /** Devices are told although a page of the subscriber is connected. */
  readonly whenOnline: boolean
  /** How long a notification is worth something, in milliseconds. */
  readonly ringMs: number
  readonly clock: Clock
  readonly log: Log
}

/** What is told at the gateway's end may take so long. */
const closingMs = 2000
/** Maximum time for notifications under way when other settings take over, in ms. */
const retiringMs = 60_000

/** Tells subscribers' devices that they are called. */
export class Push {
  readonly #parts: PushDeps

  constructor(parts: PushDeps) {
    this.#parts = parts
  }

  /** Notifications under way. */
  get sending(): number {
    return this.#parts.deliveries.running
  }

  /**
   * The devices to be told of a call to a subscriber; undefined where there are none, or none is needed.
   * `connected`: a page of the subscriber takes calls. Never rejects.
   */
  async call(subscriberId: string, connected: boolean): Promise<DeviceCall | undefined> {
    const { directory, deliveries, encrypt, whenOnline, clock, ringMs, log } = this.#parts
    const subscriber = directory.subscriber(subscriberId)
    // A device is told the key when it is registered: without one there is none.
    if ((connected && !whenOnline) || !subscriber?.pushKey || subscriber.disabled) return undefined
    try {
      const rows = await this.#parts.devices.of(subscriberId)
      const devices = rows.filter((device) => deliveries.takes(device))
      if (devices.length === 0) return undefined
      const key = encrypt && { key: Buffer.from(subscriber.pushKey, 'base64') }
      return new DeviceCall({ deliveries, devices, clock, ringMs, ...key })
    } catch (err) {
      log.error({ err, subscriber: subscriberId }, 'the devices of a subscriber cannot be read')
      return undefined
    }
  }

  /** Makes no further notifications, and gives those under way a minute; calls ring no longer. */
  retire(): Promise<void> {
    return this.#parts.deliveries.close(retiringMs)
  }

  /** Waits a moment for what is under way, then gives it up. Idempotent. */
  close(): Promise<void> {
    return this.#parts.deliveries.close(closingMs)
  }
}

import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import { MemoryRetryQueue } from '../core/memory-retry-queue.ts'
import type { Metrics } from '../core/metrics.ts'
import type { DeviceRows } from '../directory/tables/devices.ts'
import { PushUnreachable } from './push-http.ts'
import type { PushMessage, PushOutcome, PushTransport } from './push-transport.ts'

/** Collaborators of {@link PushDeliveries}. */
export interface PushDeliveriesDeps {
  /** Transports; the first one that accepts a device's token sends its notifications. */
  readonly transports: readonly PushTransport[]
  readonly devices: Pick<DeviceRows, 'has' | 'remove'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'pushes' | 'pushTokensRemoved'>
}

/** Notification to one device. */
interface PendingPush {
  readonly transport: PushTransport
  readonly message: PushMessage
  /** Signal that ends the retries. */
  readonly over: AbortSignal | undefined
}

/** Maximum number of notifications in progress. Further notifications are dropped. */
const maxPending = 2000
/**
 * Maximum number of notifications in progress for one subscriber: all fifty devices may use services that
 * never respond.
 */
const maxPendingOfSubscriber = 100
/** Maximum time of one attempt. */
const tryMs = 10_000
const minWaitMs = 1000
const maxWaitMs = 8000
/** Permanent failures, which a retry cannot fix. */
const lastingReasons: ReadonlySet<string> = new Set([
  'address-refused',
  'no-https',
  'request',
  'tls',
  'redirects',
])

/**
 * Sends notifications and retries them until a service accepts them or they expire. Removes devices whose
 * tokens a service rejects as gone.
 */
export class PushDeliveries {
  readonly #deps: PushDeliveriesDeps
  readonly #queue: MemoryRetryQueue<PendingPush, boolean>
  readonly #attempts = new Set<AbortController>()
  #isClosed = false
  #isAborted = false

  constructor(deps: PushDeliveriesDeps) {
    this.#deps = deps
    this.#queue = new MemoryRetryQueue<PendingPush, boolean>({
      clock: deps.clock,
      attempt: (push, tries) => this.#attempt(push, tries),
      maxConcurrent: maxPending,
      failure: false,
      onError: (error) =>
        deps.log.error({ event: 'push.notification-failed', err: error }, 'notification failed'),
    })
  }

  /** Number of notifications in progress. */
  get running(): number {
    return this.#queue.size
  }

  /** Returns whether a transport accepts the device's token. */
  takes(device: PushMessage['device']): boolean {
    return this.#deps.transports.some((transport) => transport.takes(device))
  }

  /**
   * Resolves with true when the service has accepted the notification. Retries end when `over` fires or the
   * device no longer belongs to the subscriber; an attempt in progress continues. Never rejects.
   */
  deliver(message: PushMessage, over?: AbortSignal): Promise<boolean> {
    const transport = this.#deps.transports.find((each) => each.takes(message.device))
    if (!transport || this.#isClosed) return Promise.resolve(false)
    const { subscriber_id: subscriberId } = message.device
    const isOfSubscriber = (push: PendingPush) => push.message.device.subscriber_id === subscriberId
    if (this.running >= maxPending || this.#queue.count(isOfSubscriber) >= maxPendingOfSubscriber) {
      this.#failed(transport, message, 'too-many')
      return Promise.resolve(false)
    }
    return this.#queue.run({ transport, message, over }, over)
  }

  /** Waits `graceMs` for notifications in progress, aborts the rest, and closes the transports. */
  async close(graceMs: number): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const { clock, transports } = this.#deps
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = clock.after(graceMs, resolve)
    await Promise.race([late, this.#queue.drain()])
    timer.cancel()
    this.#isAborted = true
    for (const attempt of this.#attempts) attempt.abort()
    this.#queue.hurry()
    for (const transport of transports) transport.close()
  }

  /**
   * Makes an attempt, after `tries` failed attempts. Resolves with the wait in ms before the next attempt, or
   * with the outcome.
   */
  async #attempt(
    { transport, message, over }: PendingPush,
    tries: number,
  ): Promise<number | { readonly result: boolean }> {
    const { clock, metrics } = this.#deps
    if (tries > 0) {
      if (this.#isAborted || over?.aborted) return { result: false }
      if (!(await this.#isThere(message.device))) {
        this.#failed(transport, message, 'forgotten')
        return { result: false }
      }
      // The store may have taken longer than the gateway had left: the transports are closed by now.
      if (this.#isAborted) return { result: false }
    }
    const outcome = await this.#try(transport, message)
    if (outcome.kind === 'sent') {
      metrics.pushes.inc({ transport: transport.name, outcome: 'sent' })
      return { result: true }
    }
    const waitMs = Math.min(minWaitMs * 2 ** tries, maxWaitMs)
    const ms = outcome.kind === 'later' ? Math.max(waitMs, outcome.afterMs ?? 0) : 0
    const isInTime = clock.now() + ms < message.expiresAt
    if (outcome.kind === 'later' && isInTime && !this.#isAborted && !over?.aborted) return ms
    this.#failed(transport, message, outcome.reason, outcome.detail)
    if (outcome.kind === 'gone') await this.#remove(transport, message)
    return { result: false }
  }

  async #try(transport: PushTransport, message: PushMessage): Promise<PushOutcome> {
    const controller = new AbortController()
    this.#attempts.add(controller)
    let isLate = false
    const timer = this.#deps.clock.after(tryMs, () => {
      isLate = true
      controller.abort()
    })
    try {
      return await transport.send(message, controller.signal)
    } catch (error) {
      const reason = isLate ? 'timeout' : reasonOf(error)
      if (!reason) {
        this.#deps.log.error(
          { event: 'push.notification-failed', err: error, device: message.device.id },
          'notification failed',
        )
        return { kind: 'refused', reason: 'error' }
      }
      return { kind: lastingReasons.has(reason) ? 'refused' : 'later', reason }
    } finally {
      timer.cancel()
      this.#attempts.delete(controller)
    }
  }

  /**
   * Returns whether a device still belongs to its subscriber: a later owner must not see the call. Returns
   * true if the store cannot be read.
   */
  async #isThere(device: PushMessage['device']): Promise<boolean> {
    try {
      return await this.#deps.devices.has(device)
    } catch (err) {
      this.#deps.log.error(
        { event: 'push.device-unreadable', err, device: device.id },
        'device not read from the store',
      )
      return true
    }
  }

  #failed(transport: PushTransport, { device, payload }: PushMessage, reason: string, detail?: string): void {
    const { log, metrics } = this.#deps
    metrics.pushes.inc({ transport: transport.name, outcome: reason })
    const facts = { device: device.id, subscriber: device.subscriber_id, transport: transport.name }
    log.warn(
      { event: 'push.device-not-notified', ...facts, type: payload.type, reason, detail },
      'device not notified',
    )
  }

  async #remove(transport: PushTransport, { device }: PushMessage): Promise<void> {
    const { devices, log, metrics } = this.#deps
    const facts = { device: device.id, subscriber: device.subscriber_id }
    try {
      if (!(await devices.remove(device.subscriber_id, device.id))) return
      metrics.pushTokensRemoved.inc({ transport: transport.name })
      log.info({ event: 'push.device-removed', ...facts }, 'device with an invalid token removed')
    } catch (err) {
      log.error(
        { event: 'push.device-not-removed', ...facts, err },
        'device with an invalid token not removed',
      )
    }
  }
}

/** Returns the reason for a missing response; undefined for a defect of the gateway. */
const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof PushUnreachable) return error.reason
  if (error instanceof TrunklineError) return String(error.facts.reason ?? error.code)
  return undefined
}

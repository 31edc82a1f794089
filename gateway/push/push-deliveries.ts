import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { DeviceRows } from '../directory/devices.ts'
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

interface Running {
  readonly subscriberId: string
  readonly done: Promise<boolean>
}

/** Maximum number of notifications in progress; further ones are dropped. */
const mostAtOnce = 2000
/** Maximum number in progress for one subscriber, whose fifty devices may have services that never answer. */
const mostOfOne = 100
/** Maximum time of one attempt. */
const tryMs = 10_000
const firstWaitMs = 1000
const longestWaitMs = 8000
/** Failures that a retry cannot cure. */
const final: ReadonlySet<string> = new Set(['address-refused', 'no-https', 'request', 'tls', 'redirects'])

/**
 * Sends notifications and retries them until a service accepts them or they expire. Removes devices whose
 * tokens a service rejects as gone.
 */
export class PushDeliveries {
  readonly #parts: PushDeliveriesDeps
  readonly #running = new Map<AbortController, Running>()
  #closed = false

  constructor(parts: PushDeliveriesDeps) {
    this.#parts = parts
  }

  /** Number of notifications in progress. */
  get running(): number {
    return this.#running.size
  }

  /** Whether a transport accepts the device's token. */
  takes(device: PushMessage['device']): boolean {
    return this.#parts.transports.some((transport) => transport.takes(device))
  }

  /**
   * Resolves with true when the service has accepted the notification. Retries end when `over` fires or the
   * device no longer belongs to the subscriber; an attempt in progress goes on. Never rejects.
   */
  deliver(message: PushMessage, over?: AbortSignal): Promise<boolean> {
    const transport = this.#parts.transports.find((each) => each.takes(message.device))
    if (!transport || this.#closed) return Promise.resolve(false)
    const subscriberId = message.device.subscriber_id
    if (this.#running.size >= mostAtOnce || this.#runningOf(subscriberId) >= mostOfOne) {
      this.#failed(transport, message, 'too-many')
      return Promise.resolve(false)
    }
    const controller = new AbortController()
    const done = this.#tries(transport, message, controller.signal, over).finally(() =>
      this.#running.delete(controller),
    )
    this.#running.set(controller, { subscriberId, done })
    return done
  }

  /** Waits `graceMs` for notifications in progress, aborts the rest, and closes the transports. */
  async close(graceMs: number): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(graceMs, resolve)
    await Promise.race([late, Promise.all([...this.#running.values()].map(({ done }) => done))])
    timer.cancel()
    for (const controller of this.#running.keys()) controller.abort()
    for (const transport of this.#parts.transports) transport.close()
  }

  #runningOf(subscriberId: string): number {
    let count = 0
    for (const running of this.#running.values()) if (running.subscriberId === subscriberId) count++
    return count
  }

  async #tries(
    transport: PushTransport,
    message: PushMessage,
    closing: AbortSignal,
    over?: AbortSignal,
  ): Promise<boolean> {
    const { clock } = this.#parts
    const ends = over ? AbortSignal.any([closing, over]) : closing
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const outcome = await this.#try(transport, message, closing)
      if (outcome.kind === 'sent') {
        this.#parts.metrics.pushes.inc({ transport: transport.name, outcome: 'sent' })
        return true
      }
      const ms = outcome.kind === 'later' ? Math.max(waitMs, outcome.afterMs ?? 0) : 0
      const inTime = clock.now() + ms < message.expiresAt
      if (outcome.kind !== 'later' || !inTime || ends.aborted) {
        this.#failed(transport, message, outcome.reason, outcome.detail)
        if (outcome.kind === 'gone') await this.#remove(transport, message)
        return false
      }
      await this.#wait(ms, ends)
      if (ends.aborted) return false
      if (!(await this.#isThere(message.device))) {
        this.#failed(transport, message, 'forgotten')
        return false
      }
    }
  }

  async #try(transport: PushTransport, message: PushMessage, closing: AbortSignal): Promise<PushOutcome> {
    const controller = new AbortController()
    const timer = this.#parts.clock.after(tryMs, () => controller.abort())
    try {
      return await transport.send(message, AbortSignal.any([closing, controller.signal]))
    } catch (error) {
      const reason = controller.signal.aborted ? 'timeout' : reasonOf(error)
      if (!reason) {
        this.#parts.log.error(
          { event: 'push.notification-failed', err: error, device: message.device.id },
          'notification failed',
        )
        return { kind: 'refused', reason: 'error' }
      }
      return { kind: final.has(reason) ? 'refused' : 'later', reason }
    } finally {
      timer.cancel()
    }
  }

  /**
   * Whether a device still belongs to its subscriber, as a later owner must not see the call. True if the
   * store cannot be read.
   */
  async #isThere(device: PushMessage['device']): Promise<boolean> {
    try {
      return await this.#parts.devices.has(device)
    } catch (err) {
      this.#parts.log.error({ event: 'push.device-unreadable', err, device: device.id }, 'device not read')
      return true
    }
  }

  async #wait(ms: number, ends: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#parts.clock.after(ms, resolve)
    const wake = () => resolve()
    ends.addEventListener('abort', wake)
    await promise
    ends.removeEventListener('abort', wake)
    timer.cancel()
  }

  #failed(transport: PushTransport, { device, payload }: PushMessage, reason: string, detail?: string): void {
    const { log, metrics } = this.#parts
    metrics.pushes.inc({ transport: transport.name, outcome: reason })
    const facts = { device: device.id, subscriber: device.subscriber_id, transport: transport.name }
    log.warn(
      { event: 'push.device-not-notified', ...facts, type: payload.type, reason, detail },
      'device not notified',
    )
  }

  async #remove(transport: PushTransport, { device }: PushMessage): Promise<void> {
    const { devices, log, metrics } = this.#parts
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

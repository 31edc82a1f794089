import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { DeviceRows } from '../directory/devices.ts'
import { PushUnreachable } from './push-http.ts'
import type { PushMessage, PushOutcome, PushTransport } from './push-transport.ts'

/** What notifications are sent with. */
export interface PushDeliveriesDeps {
  /** The first one that takes a device's token sends. */
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

/** Notifications under way at once; further ones are not sent. */
const mostAtOnce = 2000
/** Of one subscriber, who may have fifty devices with services of their own that never answer. */
const mostOfOne = 100
/** Longest try. */
const tryMs = 10_000
const firstWaitMs = 1000
const longestWaitMs = 8000
/** Failures that another try will not mend. */
const final: ReadonlySet<string> = new Set(['address-refused', 'no-https', 'request', 'tls', 'redirects'])

/**
 * Sends notifications, again and again until they are taken or nobody wants them; removes devices whose
 * tokens are dead.
 */
export class PushDeliveries {
  readonly #parts: PushDeliveriesDeps
  readonly #running = new Map<AbortController, Running>()
  #closed = false

  constructor(parts: PushDeliveriesDeps) {
    this.#parts = parts
  }

  /** Notifications under way. */
  get running(): number {
    return this.#running.size
  }

  /** Whether there is a way to a device. */
  takes(device: PushMessage['device']): boolean {
    return this.#parts.transports.some((transport) => transport.takes(device))
  }

  /**
   * True when the service has taken it. No further try is made once `over` fires, or the device is the
   * subscriber's no more; one under way goes on. Never rejects.
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

  /** Waits `graceMs` for what is under way, gives up the rest, and closes the transports. */
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
        this.#parts.log.error({ err: error, device: message.device.id }, 'a notification failed')
        return { kind: 'refused', reason: 'error' }
      }
      return { kind: final.has(reason) ? 'refused' : 'later', reason }
    } finally {
      timer.cancel()
    }
  }

  /**
   * A device that was forgotten, or handed on, tells somebody else of the call. Where nobody knows, it counts
   * as there.
   */
  async #isThere(device: PushMessage['device']): Promise<boolean> {
    try {
      return await this.#parts.devices.has(device)
    } catch (err) {
      this.#parts.log.error({ err, device: device.id }, 'whether a device is still there cannot be read')
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
    log.warn({ ...facts, type: payload.type, reason, detail }, 'a device was not notified')
  }

  async #remove(transport: PushTransport, { device }: PushMessage): Promise<void> {
    const { devices, log, metrics } = this.#parts
    const facts = { device: device.id, subscriber: device.subscriber_id }
    try {
      if (!(await devices.remove(device.subscriber_id, device.id))) return
      metrics.pushTokensRemoved.inc({ transport: transport.name })
      log.info(facts, 'a device whose token is dead was removed')
    } catch (err) {
      log.error({ ...facts, err }, 'a device whose token is dead cannot be removed')
    }
  }
}

/** Why no answer came; undefined for a fault of ours. */
const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof PushUnreachable) return error.reason
  if (error instanceof TrunklineError) return String(error.facts.reason ?? error.code)
  return undefined
}

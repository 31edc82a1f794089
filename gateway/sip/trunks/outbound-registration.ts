import type { Clock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'

/** Result of a REGISTER. */
export type RegisterResult =
  | {
      readonly kind: 'final'
      readonly status: number
      /** Granted time in ms; undefined if the response names no time. */
      readonly grantedMs?: number
      /** Min-Expires of a 423, in ms. */
      readonly minExpiresMs?: number
      readonly retryAfterMs?: number
      /** Reason of the agent why no target was reachable. */
      readonly why?: string
    }
  /** The REGISTER was not sent, or had no response. */
  | { readonly kind: 'failed'; readonly why: string }

/** States of a registration. `disabled`: not started, or unregistered. */
export const registrationStates = ['disabled', 'registering', 'registered', 'backoff', 'rejected'] as const
/** One of the {@link registrationStates}. */
export type RegistrationState = (typeof registrationStates)[number]

/** Collaborators and settings of {@link OutboundRegistration}. */
export interface OutboundRegistrationDeps {
  /** Requested interval, in ms. */
  readonly expiresMs: number
  /** Sends one REGISTER with an interval in ms; an interval of 0 unregisters. `done` is called once. */
  readonly send: (expiresMs: number, done: (result: RegisterResult) => void) => void
  readonly clock: Clock
  /** Returns a random number from 0 to below 1. */
  readonly random: () => number
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Number of consecutive permanent rejections after which the registration stops. */
const maxRejections = 3
/**
 * Maximum number of consecutive 423 rejections after which a longer interval is requested at once. A carrier
 * whose Min-Expires grows with every answer would otherwise be sent requests without a pause.
 */
const maxRaises = 3
/**
 * First and maximum wait after a failure, in ms. The wait doubles with each failure. It is shortened at
 * random by up to a half, so that trunks do not retry at the same time.
 */
const firstWaitMs = 4_000
const maxWaitMs = 300_000
/** Maximum interval that a Min-Expires can cause, in ms. */
const maxExpiresMs = 86_400_000
/** Minimum time in ms between two refreshes. If less than twice this time was granted, half of it is used. */
const minRefreshMs = 5_000
/** Statuses of a permanent rejection: wrong credentials, a closed trunk, or an unknown account. */
const rejections = new Set([401, 403, 404, 407, 600, 603, 604])

/**
 * One registration with a carrier, from its start until it is removed (RFC 3261 section 10.2). It is
 * refreshed at half of the granted time. Failures are retried with growing waits. After three rejections in a
 * row the registration stops.
 */
export class OutboundRegistration {
  #deps: OutboundRegistrationDeps
  #state: RegistrationState = 'disabled'
  #timer: Timer | undefined
  #expiresMs: number
  #failures = 0
  #rejections = 0
  #raises = 0
  /** Time until which the carrier keeps the registration, in ms. */
  #knownUntil = 0
  #isPending = false
  #stopping: (() => void) | undefined

  constructor(deps: OutboundRegistrationDeps) {
    this.#deps = deps
    this.#expiresMs = deps.expiresMs
  }

  get state(): RegistrationState {
    return this.#state
  }

  /** Starts to register, after a delay in ms. */
  start(delayMs: number): void {
    this.#state = 'registering'
    this.#after(delayMs)
  }

  /**
   * Stops. Unregisters first if the carrier still keeps the registration. `done` is called at the end.
   * Idempotent.
   */
  stop(done: () => void = () => {}): void {
    this.#timer?.cancel()
    this.#state = 'disabled'
    const before = this.#stopping
    this.#stopping = () => {
      before?.()
      done()
    }
    if (!before && !this.#isPending) this.#takeBack()
    else if (!this.#isPending) done()
  }

  #after(ms: number): void {
    this.#timer?.cancel()
    this.#timer = this.#deps.clock.after(ms, () => this.#register())
  }

  #register(): void {
    this.#isPending = true
    // During a refresh, the registration stays in force.
    if (this.#state !== 'registered') this.#state = 'registering'
    this.#deps.send(this.#expiresMs, (result) => {
      this.#isPending = false
      if (result.kind === 'final' && result.status < 300)
        this.#knownUntil = this.#deps.clock.now() + (result.grantedMs ?? this.#expiresMs)
      if (this.#stopping) this.#takeBack()
      else this.#ended(result)
    })
  }

  #takeBack(): void {
    const done = () => this.#stopping?.()
    if (this.#deps.clock.now() >= this.#knownUntil) {
      done()
      return
    }
    this.#knownUntil = 0
    this.#isPending = true
    this.#deps.send(0, () => {
      this.#isPending = false
      done()
    })
  }

  #ended(result: RegisterResult): void {
    const refused = result.kind === 'final' && rejections.has(result.status)
    if (!refused) this.#rejections = 0
    if (result.kind === 'failed') this.#backOff({ why: result.why })
    else if (result.status < 300) this.#registered(result.grantedMs ?? this.#expiresMs)
    else if (result.status === 423 && this.#lengthen(result.minExpiresMs)) this.#register()
    else if (refused) this.#rejected(result.status)
    else this.#backOff({ status: result.status, why: result.why }, result.retryAfterMs)
  }

  #registered(grantedMs: number): void {
    const { random, log } = this.#deps
    if (grantedMs <= 0) {
      this.#backOff({ why: 'no time was granted' })
      return
    }
    if (this.#state !== 'registered')
      log.info({ event: 'trunk.registered', grantedMs }, 'registered with the carrier')
    this.#state = 'registered'
    this.#failures = 0
    this.#raises = 0
    this.#after(Math.max(grantedMs * (0.45 + random() / 10), Math.min(minRefreshMs, grantedMs / 2)))
  }

  /**
   * Raises the requested interval to the carrier's Min-Expires. Returns false if Min-Expires is no longer
   * than the rejected interval, longer than a day, or was raised too often.
   */
  #lengthen(minExpiresMs = 0): boolean {
    if (minExpiresMs <= this.#expiresMs || minExpiresMs > maxExpiresMs) return false
    this.#expiresMs = minExpiresMs
    return this.#raises++ < maxRaises
  }

  #rejected(status: number): void {
    this.#rejections++
    if (this.#rejections < maxRejections) {
      this.#backOff({ status })
      return
    }
    this.#state = 'rejected'
    this.#deps.log.error(
      { event: 'trunk.registration-rejected', status, times: this.#rejections },
      'registration rejected by the carrier; no calls until its configuration changes or a restart',
    )
  }

  #backOff(facts: { readonly status?: number; readonly why?: string }, retryAfterMs?: number): void {
    const { random, log } = this.#deps
    const most = Math.min(firstWaitMs * 2 ** Math.min(this.#failures, 10), maxWaitMs)
    const waitMs = Math.max(retryAfterMs ?? 0, most * (0.5 + random() / 2))
    this.#failures++
    this.#state = 'backoff'
    log.warn(
      { event: 'trunk.registration-failed', ...facts, waitMs: Math.round(waitMs) },
      'registration with the carrier failed',
    )
    this.#after(waitMs)
  }
}

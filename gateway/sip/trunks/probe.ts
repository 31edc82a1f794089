import { randomUUID } from 'node:crypto'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Timer } from '../../core/clock.ts'
import { DigestSession } from '../digest/digest-session.ts'
import { problemOf } from '../sip-causes.ts'
import type { Carrier } from './carrier.ts'
import type { SendOutcome } from './carrier-requests.ts'
import type { CarrierTarget } from './carrier-target.ts'
import { retryAfterMs } from './retry-after.ts'
import type { TrunkDeps } from './trunk-deps.ts'

type ProbeRules = NonNullable<CarrierConfig['probe']>

/** Maximum wait for a response, in ms. The next ping need not wait for the end of the transaction (32 s). */
const maxAnswerMs = 8_000

/**
 * Pings one target with OPTIONS. Any final response other than 408 and 503 proves that the target is up. A
 * 503 with Retry-After delays the next ping. The interval varies at random by up to a tenth. The first ping
 * is sent at a random time within the first interval, so that pings to many targets do not come in bursts.
 */
export class Probe {
  readonly #deps: TrunkDeps
  readonly #carrier: Carrier
  readonly #target: CarrierTarget
  readonly #rules: ProbeRules
  #timer: Timer | undefined
  #patience: Timer | undefined
  #giveUp: (() => void) | undefined
  #sequence = 0

  constructor(deps: TrunkDeps, carrier: Carrier, target: CarrierTarget, rules: ProbeRules) {
    this.#deps = deps
    this.#carrier = carrier
    this.#target = target
    this.#rules = rules
  }

  /** Starts the pings. */
  start(): void {
    this.#wait(this.#deps.random() * this.#rules.intervalMs)
  }

  /** Stops the pings. Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#patience?.cancel()
    this.#giveUp?.()
  }

  #wait(ms: number): void {
    this.#timer = this.#deps.clock.after(ms, () => this.#ping())
  }

  #ping(): void {
    const carrier = this.#carrier
    const target = this.#target
    const callId = randomUUID()
    const user = carrier.config.auth?.username
    const from = user === undefined ? 'sip:localhost' : `sip:${encodeURIComponent(user)}@localhost`
    const request = {
      carrier,
      target,
      method: 'OPTIONS',
      digest: new DigestSession(carrier.credentials),
      headers: () => ({
        From: `<${from}>`,
        To: `<${target.text}>`,
        'Call-ID': callId,
        CSeq: `${++this.#sequence} OPTIONS`,
        Accept: 'application/sdp',
      }),
    }
    this.#patience = this.#deps.clock.after(maxAnswerMs, () => {
      this.#giveUp?.()
      this.#ended({ kind: 'refused', why: `no answer within ${maxAnswerMs / 1000} s` })
    })
    this.#giveUp = this.#deps.requests.send(request, (outcome) => this.#ended(outcome))
  }

  #ended(outcome: SendOutcome): void {
    this.#patience?.cancel()
    const interval = this.#rules.intervalMs * (0.9 + this.#deps.random() / 5)
    const response = outcome.kind === 'final' ? outcome.response : undefined
    const pauseMs = response?.status === 503 ? retryAfterMs(response.get('Retry-After')) : undefined
    if (pauseMs !== undefined) this.#target.setAside(this.#deps.clock.now() + pauseMs)
    // A disconnected agent proves nothing about the carrier.
    if (outcome.kind !== 'lost')
      this.#count(response?.status, outcome.kind === 'final' ? problemOf({ res: response }) : outcome.why)
    this.#wait(Math.max(interval, pauseMs ?? 0))
  }

  /**
   * Counts a ping, and logs a change of the target's state. `status`: final status, if any; `problem`: reason
   * why the target was unreachable, if known.
   */
  #count(status: number | undefined, problem: string | undefined): void {
    const target = this.#target
    const { log } = this.#deps
    const isAlive = status !== undefined && status !== 408 && status !== 503
    const result = {
      at: this.#deps.clock.now(),
      ...(status !== undefined && { status }),
      ...(!isAlive && problem !== undefined && { problem }),
    }
    if (!target.recordPing(isAlive, this.#rules, result)) return
    const facts = { carrier: this.#carrier.name, target: target.text, status }
    if (isAlive) log.info({ event: 'trunk.target-recovered', ...facts }, 'target of a carrier answers again')
    else log.warn({ event: 'trunk.target-failed', ...facts, problem }, 'target of a carrier does not answer')
  }
}

import { randomUUID } from 'node:crypto'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Timer } from '../../core/clock.ts'
import { DigestSession } from '../digest/digest-session.ts'
import { problemOf } from '../sip-causes.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierRequests, SendOutcome } from './carrier-requests.ts'
import type { CarrierTarget } from './carrier-target.ts'
import { retryAfterMs } from './retry-after.ts'

type ProbeRules = NonNullable<CarrierConfig['probe']>

/** Maximum wait for an answer. The transaction would last 32 s, during which no other ping is sent. */
const maxAnswerMs = 8_000

/**
 * Pings one target with OPTIONS. Any final response proves that the target is up, except 408 and 503. A 503
 * asks for a pause. The interval varies by a tenth either way. The first ping falls anywhere in the first
 * interval, so that pings do not come in bursts.
 */
export class Probe {
  readonly #requests: CarrierRequests
  readonly #carrier: Carrier
  readonly #target: CarrierTarget
  readonly #rules: ProbeRules
  readonly #random: () => number
  #timer: Timer | undefined
  #patience: Timer | undefined
  #giveUp: (() => void) | undefined
  #sequence = 0

  /** `random`: from 0 to below 1. */
  constructor(
    requests: CarrierRequests,
    carrier: Carrier,
    target: CarrierTarget,
    rules: ProbeRules,
    random: () => number,
  ) {
    this.#requests = requests
    this.#carrier = carrier
    this.#target = target
    this.#rules = rules
    this.#random = random
  }

  /** Starts the pings. */
  start(): void {
    this.#wait(this.#random() * this.#rules.intervalMs)
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#patience?.cancel()
    this.#giveUp?.()
  }

  #wait(ms: number): void {
    this.#timer = this.#requests.clock.after(ms, () => this.#ping())
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
    this.#patience = this.#requests.clock.after(maxAnswerMs, () => {
      this.#giveUp?.()
      this.#ended({ kind: 'refused', why: `no answer within ${maxAnswerMs / 1000} s` })
    })
    this.#giveUp = this.#requests.send(request, (outcome) => this.#ended(outcome))
  }

  #ended(outcome: SendOutcome): void {
    this.#patience?.cancel()
    const interval = this.#rules.intervalMs * (0.9 + this.#random() / 5)
    const response = outcome.kind === 'final' ? outcome.response : undefined
    const pauseMs = response?.status === 503 ? retryAfterMs(response.get('Retry-After')) : undefined
    if (pauseMs !== undefined) this.#target.setAside(this.#requests.clock.now() + pauseMs)
    // A lost agent says nothing about the carrier.
    if (outcome.kind !== 'lost')
      this.#count(response?.status, outcome.kind === 'final' ? problemOf({ res: response }) : outcome.why)
    this.#wait(Math.max(interval, pauseMs ?? 0))
  }

  /** `problem`: reason why the target was unreachable, if known. */
  #count(status: number | undefined, problem: string | undefined): void {
    const target = this.#target
    const { log } = this.#requests
    const isAlive = status !== undefined && status !== 408 && status !== 503
    if (!target.recordPing(isAlive, this.#rules)) return
    const facts = { carrier: this.#carrier.name, target: target.text, status }
    if (isAlive) log.info({ event: 'trunk.target-recovered', ...facts }, 'target of a carrier answers again')
    else log.warn({ event: 'trunk.target-failed', ...facts, problem }, 'target of a carrier does not answer')
  }
}

import { randomUUID } from 'node:crypto'
import type { CarrierConfig } from '../../../config/sip-types.ts'
import type { Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { problemOf } from '../causes.ts'
import { DigestSession } from '../digest/digest.ts'
import type { Carrier } from './carrier.ts'
import { retryAfterMs } from './retry-after.ts'
import { type SendOutcome, type SendParts, sendOutside } from './send.ts'
import type { CarrierTarget } from './target.ts'
import { farEndOfCarrier, type HostGuard, objectionTo } from './target-guard.ts'

/** What a probe works with. */
export interface ProbeParts extends SendParts {
  readonly carrier: Carrier
  readonly target: CarrierTarget
  readonly rules: NonNullable<CarrierConfig['probe']>
  readonly userAgent: string
  /** From 0 to below 1. */
  readonly random: () => number
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Default: every target may be reached. */
  readonly guard?: HostGuard
  /** The agent judges the addresses of customers' carriers itself; default false. */
  readonly marks?: boolean
}

/** A target that says nothing for so long does not answer. Its transaction would last for 32 s, in which no other ping is sent. */
const longestAnswerMs = 8_000

/**
 * Pings one target with OPTIONS. Any final response says that it is alive, but for 408, and 503, by which it asks to be left alone. The
 * interval is spread by a tenth either way, and the first ping comes somewhere within the first interval, so that pings do not come in
 * bursts.
 */
export class Probe {
  #parts: ProbeParts
  #timer: Timer | undefined
  #patience: Timer | undefined
  #giveUp: (() => void) | undefined
  #sequence = 0

  constructor(parts: ProbeParts) {
    this.#parts = parts
  }

  /** Begins to ping. */
  start(): void {
    const { random, rules } = this.#parts
    this.#wait(random() * rules.intervalMs)
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#patience?.cancel()
    this.#giveUp?.()
  }

  #wait(ms: number): void {
    this.#timer = this.#parts.clock.after(ms, () => this.#ping())
  }

  #ping(): void {
    const { target, carrier, userAgent, clock } = this.#parts
    const callId = randomUUID()
    const user = carrier.config.auth?.username
    const from = user === undefined ? 'sip:localhost' : `sip:${encodeURIComponent(user)}@localhost`
    const request = {
      method: 'OPTIONS',
      uri: target.text,
      digest: new DigestSession(carrier.credentials),
      ...objectionTo(carrier, target, this.#parts.guard),
      headers: () => ({
        From: `<${from}>`,
        To: `<${target.text}>`,
        'Call-ID': callId,
        CSeq: `${++this.#sequence} OPTIONS`,
        Accept: 'application/sdp',
        ...farEndOfCarrier(carrier, this.#parts.marks),
        ...(userAgent !== '' && { 'User-Agent': userAgent }),
      }),
    }
    this.#patience = clock.after(longestAnswerMs, () => {
      this.#giveUp?.()
      this.#ended({ kind: 'refused', why: `no answer within ${longestAnswerMs / 1000} s` })
    })
    this.#giveUp = sendOutside(this.#parts, request, (outcome) => this.#ended(outcome))
  }

  #ended(outcome: SendOutcome): void {
    const { rules, random, target, clock } = this.#parts
    this.#patience?.cancel()
    const interval = rules.intervalMs * (0.9 + random() / 5)
    const response = outcome.kind === 'final' ? outcome.response : undefined
    const pauseMs = response?.status === 503 ? retryAfterMs(response.get('Retry-After')) : undefined
    if (pauseMs !== undefined) target.setAside(clock.now() + pauseMs)
    // That our own agent is away says nothing of the carrier.
    if (outcome.kind !== 'lost')
      this.#count(response?.status, outcome.kind === 'final' ? problemOf({ res: response }) : outcome.why)
    this.#wait(Math.max(interval, pauseMs ?? 0))
  }

  /** `problem`: why it could not be reached, where that is known. */
  #count(status: number | undefined, problem: string | undefined): void {
    const { target, rules, log, carrier } = this.#parts
    const alive = status !== undefined && status !== 408 && status !== 503
    if (!target.pinged(alive, rules)) return
    const facts = { carrier: carrier.name, target: target.text, status }
    if (alive) log.info(facts, 'a target of a carrier is back')
    else log.warn({ ...facts, problem }, 'a target of a carrier does not answer; it is tried last')
  }
}

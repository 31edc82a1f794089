import { randomUUID } from 'node:crypto'
import type { CarrierConfig } from '../../../config/types.ts'
import type { Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { DigestSession } from '../digest/digest-session.ts'
import { problemOf } from '../sip-causes.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierTarget } from './carrier-target.ts'
import { retryAfterMs } from './retry-after.ts'
import { type RequestSenderDeps, type SendOutcome, sendOutOfDialog } from './send-out-of-dialog.ts'
import { farEndOfCarrier, type HostGuard, targetObjection } from './target-guard.ts'

/** Collaborators and settings of {@link Probe}. */
export interface ProbeDeps extends RequestSenderDeps {
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
  readonly hasPrivateHeaders?: boolean
}

/** Maximum wait for an answer. The transaction would last 32 s, during which no other ping is sent. */
const maxAnswerMs = 8_000

/**
 * Pings one target with OPTIONS. Any final response proves that the target is up, except 408, and 503, which
 * asks for a pause. The interval varies by a tenth either way. The first ping falls anywhere in the first
 * interval, so that pings do not come in bursts.
 */
export class Probe {
  #deps: ProbeDeps
  #timer: Timer | undefined
  #patience: Timer | undefined
  #giveUp: (() => void) | undefined
  #sequence = 0

  constructor(deps: ProbeDeps) {
    this.#deps = deps
  }

  /** Starts the pings. */
  start(): void {
    const { random, rules } = this.#deps
    this.#wait(random() * rules.intervalMs)
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#patience?.cancel()
    this.#giveUp?.()
  }

  #wait(ms: number): void {
    this.#timer = this.#deps.clock.after(ms, () => this.#ping())
  }

  #ping(): void {
    const { target, carrier, userAgent, clock } = this.#deps
    const callId = randomUUID()
    const user = carrier.config.auth?.username
    const from = user === undefined ? 'sip:localhost' : `sip:${encodeURIComponent(user)}@localhost`
    const request = {
      method: 'OPTIONS',
      uri: target.text,
      digest: new DigestSession(carrier.credentials),
      ...targetObjection(carrier, target, this.#deps.guard),
      headers: () => ({
        From: `<${from}>`,
        To: `<${target.text}>`,
        'Call-ID': callId,
        CSeq: `${++this.#sequence} OPTIONS`,
        Accept: 'application/sdp',
        ...farEndOfCarrier(carrier, this.#deps.hasPrivateHeaders),
        ...(userAgent !== '' && { 'User-Agent': userAgent }),
      }),
    }
    this.#patience = clock.after(maxAnswerMs, () => {
      this.#giveUp?.()
      this.#ended({ kind: 'refused', why: `no answer within ${maxAnswerMs / 1000} s` })
    })
    this.#giveUp = sendOutOfDialog(this.#deps, request, (outcome) => this.#ended(outcome))
  }

  #ended(outcome: SendOutcome): void {
    const { rules, random, target, clock } = this.#deps
    this.#patience?.cancel()
    const interval = rules.intervalMs * (0.9 + random() / 5)
    const response = outcome.kind === 'final' ? outcome.response : undefined
    const pauseMs = response?.status === 503 ? retryAfterMs(response.get('Retry-After')) : undefined
    if (pauseMs !== undefined) target.setAside(clock.now() + pauseMs)
    // A lost agent says nothing about the carrier.
    if (outcome.kind !== 'lost')
      this.#count(response?.status, outcome.kind === 'final' ? problemOf({ res: response }) : outcome.why)
    this.#wait(Math.max(interval, pauseMs ?? 0))
  }

  /** `problem`: reason why the target was unreachable, if known. */
  #count(status: number | undefined, problem: string | undefined): void {
    const { target, rules, log, carrier } = this.#deps
    const alive = status !== undefined && status !== 408 && status !== 503
    if (!target.recordPing(alive, rules)) return
    const facts = { carrier: carrier.name, target: target.text, status }
    if (alive) log.info({ event: 'trunk.target-recovered', ...facts }, 'target of a carrier answers again')
    else log.warn({ event: 'trunk.target-failed', ...facts, problem }, 'target of a carrier does not answer')
  }
}

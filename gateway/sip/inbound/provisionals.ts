import type { Timer } from '../../core/clock.ts'
import type { SignallingContext } from '../dialog/leg-session.ts'
import type { Headers, SipRequest, SipResponse } from '../srf.ts'

/**
 * Whether the caller and the agent support 100rel (RFC 3262). `required` makes every provisional response
 * reliable.
 */
export type Reliability = 'none' | 'supported' | 'required'

/** Listener of {@link Provisionals}. */
export interface ProvisionalsListener {
  /** Called with a PRACK, which must be answered. `described`: the acknowledged response had SDP. */
  acknowledged(request: SipRequest, response: SipResponse, described: boolean): void
  /**
   * Called if the agent reports neither a PRACK nor a missing one within 40 s; at most once for each
   * response.
   */
  timedOut(): void
}

/** A provisional response that waits for the PRACK of the one before it. */
interface Waiting {
  readonly status: number
  readonly sdp: string | undefined
  readonly done: () => void
}

/** Maximum wait for a PRACK. The agent itself gives up after 32 s; this timer is the fallback. */
const maxWaitMs = 40_000

/**
 * Provisional responses to one INVITE. A reliable response is sent after the PRACK of the previous one (RFC
 * 3262 section 3). A response with SDP is reliable if both sides support it.
 */
export class Provisionals {
  readonly #response: SipResponse
  readonly #context: Pick<SignallingContext, 'connection' | 'clock' | 'log'>
  readonly #reliability: Reliability
  readonly #headers: () => Headers
  readonly #listener: ProvisionalsListener
  #unacknowledged: Waiting | undefined
  #queue: Waiting[] = []
  #isStopped = false
  #onIdle: (() => void)[] = []
  #guard: Timer | undefined

  /** `headers` returns the headers of a response at the time when it is sent. */
  constructor(
    response: SipResponse,
    context: Pick<SignallingContext, 'connection' | 'clock' | 'log'>,
    reliability: Reliability,
    headers: () => Headers,
    listener: ProvisionalsListener,
  ) {
    this.#response = response
    this.#context = context
    this.#reliability = reliability
    this.#headers = headers
    this.#listener = listener
  }

  /**
   * Whether a response with SDP will be reliable. Only a reliable one may carry an offer (RFC 3262 section
   * 5).
   */
  get canCarryOffers(): boolean {
    return this.#reliability !== 'none'
  }

  /** Whether responses without SDP are reliable, too. */
  get isAlwaysReliable(): boolean {
    return this.#reliability === 'required'
  }

  /** Whether every reliable response has its PRACK. */
  get isIdle(): boolean {
    return this.#unacknowledged === undefined && this.#queue.length === 0
  }

  /** Sends a response. Resolves when it is sent; for a reliable response, at its PRACK or at {@link stop}. */
  send(status: number, sdp?: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const reliability = this.#reliability
    const waiting = { status, sdp, done: resolve }
    if (reliability === 'none' || (reliability === 'supported' && sdp === undefined)) this.#plain(waiting)
    else {
      this.#queue.push(waiting)
      this.#next()
    }
    return promise
  }

  /** Runs `run` when {@link isIdle}; never after {@link stop}. */
  whenIdle(run: () => void): void {
    if (this.#isStopped) return
    if (this.isIdle) run()
    else this.#onIdle.push(run)
  }

  /** Stops at the final response to the INVITE, or at its end. Idempotent. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#onIdle = []
    this.#guard?.cancel()
    this.#unacknowledged?.done()
    this.#unacknowledged = undefined
    for (const { done } of this.#queue.splice(0)) done()
  }

  #next(): void {
    if (this.#unacknowledged) return
    this.#guard?.cancel()
    const waiting = this.#queue.shift()
    if (waiting) {
      this.#unacknowledged = waiting
      this.#guard = this.#context.clock.after(maxWaitMs, () => this.#listener.timedOut())
      this.#reliable(waiting)
      return
    }
    for (const run of this.#onIdle.splice(0)) run()
  }

  #reliable(waiting: Waiting): void {
    const failed = (error: unknown) => {
      this.#context.log.warn(
        { event: 'call.reliable-response-failed', status: waiting.status, reason: String(error) },
        'reliable response not sent',
      )
      if (this.#unacknowledged !== waiting) return
      this.#unacknowledged = undefined
      waiting.done()
      this.#next()
    }
    const acknowledged = (request: SipRequest) => {
      const { res } = request
      if (res) this.#listener.acknowledged(request, res, waiting.sdp !== undefined)
      if (this.#unacknowledged !== waiting) return
      this.#unacknowledged = undefined
      waiting.done()
      this.#next()
    }
    this.#write(waiting, { Require: '100rel' }, failed, acknowledged)
  }

  #plain(waiting: Waiting): void {
    this.#write(waiting, {}, (error) =>
      this.#context.log.debug({ status: waiting.status, reason: String(error) }, 'response not sent'),
    )
    waiting.done()
  }

  #write(
    { status, sdp }: Waiting,
    more: Headers,
    failed: (error: unknown) => void,
    acknowledged?: (request: SipRequest) => void,
  ): void {
    const response = this.#response
    if (this.#isStopped || !this.#context.connection.isAlive || response.finalResponseSent) return
    const all = {
      ...this.#headers(),
      ...more,
      ...(sdp !== undefined && { 'Content-Type': 'application/sdp' }),
    }
    try {
      response.send(
        status,
        { headers: all, ...(sdp !== undefined && { body: sdp }) },
        (error) => {
          if (error) failed(error)
        },
        acknowledged,
      )
    } catch (error) {
      failed(error)
    }
  }
}

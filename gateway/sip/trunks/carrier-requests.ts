import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { DigestSession } from '../digest/digest-session.ts'
import type { GatewayHeaders } from '../gateway-headers.ts'
import type { FarResponse, Headers, SentRequest, SrfLike } from '../srf.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierTarget } from './carrier-target.ts'
import type { DialGuard } from './dial-guard.ts'

/** Request to a carrier outside a call: OPTIONS or REGISTER. */
export interface CarrierRequest {
  readonly carrier: Carrier
  readonly target: CarrierTarget
  readonly method: string
  /** Returns the headers for the next attempt. Each attempt needs a higher CSeq. */
  headers(): Headers
  /** Session that answers challenges to the request. */
  readonly digest: DigestSession
}

/** Result of a request. */
export type SendOutcome =
  | { readonly kind: 'final'; readonly response: FarResponse; readonly sent: SentRequest | undefined }
  /** The request is not permitted, or the agent cannot send it. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The agent is disconnected, or has reported no final response. */
  | { readonly kind: 'lost'; readonly why: string }

/** Maximum wait in ms for the agent. Without a response of the carrier, it reports a time-out after 32 s. */
const maxWaitMs = 40_000

/** Sends requests outside calls to the targets of carriers. */
export class CarrierRequests {
  readonly #srf: Pick<SrfLike, 'request'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #headers: GatewayHeaders
  readonly #guard: Pick<DialGuard, 'objection'> | undefined

  /** `guard`: checks the hosts of carriers that customers made; default: every host is permitted. */
  constructor(
    srf: Pick<SrfLike, 'request'>,
    clock: Clock,
    log: Log,
    headers: GatewayHeaders,
    guard?: Pick<DialGuard, 'objection'>,
  ) {
    this.#srf = srf
    this.#clock = clock
    this.#log = log
    this.#headers = headers
    this.#guard = guard
  }

  /**
   * Sends a request, and repeats it with credentials after each challenge that may be answered. Calls `done`
   * once. Returns the function that cancels the wait; `done` is then not called.
   */
  send(request: CarrierRequest, done: (outcome: SendOutcome) => void): () => void {
    const { carrier, target, method, digest } = request
    const signed = { method, uri: target.text, body: '' }
    let isOver = false
    const finish = (outcome: SendOutcome) => {
      if (isOver) return
      isOver = true
      timer.cancel()
      done(outcome)
    }
    const timer = this.#clock.after(maxWaitMs, () => finish({ kind: 'lost', why: 'no final response' }))
    const answered = (response: FarResponse, sent: SentRequest) => {
      const { status } = response
      if (isOver || status < 200) return
      if (status === 401 || status === 407) {
        const answer = digest.answer(response, signed)
        if ('headers' in answer) return send(answer.headers)
        this.#log.info(
          { event: 'digest.challenge-unanswered', carrier: carrier.name, method, status, why: answer.why },
          'challenge not answered',
        )
      }
      if (status < 300) digest.accepted()
      finish({ kind: 'final', response, sent })
    }
    const send = (credentials: Headers) => {
      const headers = { ...request.headers(), ...this.#headersFor(carrier), ...credentials }
      try {
        this.#srf.request(target.text, { method, headers }, (error, sent) => {
          if (error || !sent) finish({ kind: 'refused', why: String(error) })
          else sent.on('response', (response) => answered(response, sent))
        })
      } catch (error) {
        finish({ kind: 'lost', why: String(error) })
      }
    }
    const begin = (objection?: string) => {
      if (objection !== undefined) finish({ kind: 'refused', why: objection })
      else if (!isOver) send(digest.begin(signed))
    }
    // Only a carrier that a customer made can name any host as its target.
    if (carrier.config.guarded && this.#guard)
      this.#guard.objection(target.uri).then(begin, (error) => begin(String(error)))
    else begin()
    return () => {
      isOver = true
      timer.cancel()
    }
  }

  /**
   * Returns the gateway's headers of a request. For a carrier that a customer made, they make the agent check
   * each address before use.
   */
  #headersFor({ name, config }: Carrier): Headers {
    const farEnd = config.guarded ? this.#headers.farEnd({ kind: 'carrier', name }) : {}
    return { ...farEnd, ...this.#headers.request }
  }
}

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { OwnAddress } from '../core/app-headers.ts'
import type { SipRequest } from '../message/message.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { withoutFault } from '../message/sip-parse-error.ts'
import { splitOutside } from '../message/text.ts'
import { formatHost, isSipUri } from '../message/uri.ts'
import { RecentMap } from '../shield/recent-map.ts'
import { fullTokenBucket, type TokenBucket, takeTokens } from '../shield/token-bucket.ts'

/**
 * Parameter of the agent's Record-Route; its value proves that the agent made the route, and for which call.
 */
const mark = 'tk'
const hour = 3_600_000
/** Lifetime of a route in hours; no call lasts longer. */
const lifetimeHours = 24
/**
 * Maximum rate of forwarded requests of one call per second, including retransmissions; also the burst.
 * DTMF digits by INFO need far fewer.
 */
const maxPerSecond = 50
/** Maximum number of calls with a remembered rate. */
const maxCalls = 20_000

/** Destination of a forwarded request. */
export interface NextHop {
  /** The request-URI. */
  readonly uri: string
  readonly routes: readonly string[]
}

/**
 * Record-Route values of the agent as a proxy that stays in the path of a dialog. Each value proves that the
 * agent made it, and for which call. So only the parties of a call can use it, for one day at most, and at a
 * limited rate.
 */
export class OwnRoutes {
  readonly #clock: Pick<Clock, 'now'>
  readonly #start: number
  readonly #key = randomBytes(32)
  readonly #calls = new RecentMap<TokenBucket>(maxCalls)

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#start = clock.now()
  }

  /** Number of calls with a remembered rate; bounded. */
  get size(): number {
    return this.#calls.size
  }

  /** Returns the Record-Route value for the dialog of this request, as seen from the side of `own`. */
  make({ host, port, protocol }: OwnAddress, { callId, fromTag }: SipRequest): string {
    const now = this.#hours()
    const proof = `${this.#proof(callId, fromTag, now)}-${now}`
    return `<sip:${formatHost(host)}:${port};transport=${protocol};${mark}=${proof};lr>`
  }

  /**
   * Removes the agent's own routes from the top of a request, and returns the next destination. Returns
   * undefined if the topmost route is not the agent's, belongs to another call, or has expired.
   */
  nextHop(request: SipRequest): NextHop | undefined {
    const routes = request.headers.all('route').flatMap((value) => splitOutside(value, ',', 'Route'))
    // RFC 3261 16.4: a strict router before the agent puts the agent's route into the request-URI, and the
    // original request-URI behind all routes.
    const last = this.#isOurs(`<${request.uri}>`, request) ? routes.pop() : undefined
    const behind = routes.findIndex((value) => !this.#isOurs(value, request))
    const left = behind < 0 ? [] : routes.slice(behind)
    if (last !== undefined) return { uri: parseNameAddr(last, 'Route').uri, routes: left }
    return left.length === routes.length ? undefined : { uri: request.uri, routes: left }
  }

  /** Counts a forwarded request of a call. Returns false if the rate is exceeded. */
  admits(callId: string): boolean {
    const now = this.#clock.now()
    const bucket = this.#calls.get(callId) ?? fullTokenBucket(now)
    this.#calls.set(callId, bucket)
    return takeTokens(bucket, maxPerSecond, now)
  }

  #isOurs(value: string, { callId, fromTag, toTag }: SipRequest): boolean {
    if (!value.includes(`;${mark}=`)) return false
    const target = withoutFault(() => parseNameAddr(value, 'Route').target)
    const marked = target && isSipUri(target) ? target.params.get(mark) : undefined
    const [proof = '', made = ''] = marked?.split('-') ?? []
    if (!/^\d{1,7}$/.test(made) || this.#hours() - Number(made) >= lifetimeHours) return false
    // Either side may have created the dialog.
    return [fromTag, toTag].some((tag) => same(proof, this.#proof(callId, tag, Number(made))))
  }

  #proof(callId: string, fromTag: string, made: number): string {
    const facts = [callId, fromTag, made].join('\n')
    return createHmac('sha256', this.#key).update(facts).digest('hex').slice(0, 32)
  }

  #hours(): number {
    return Math.max(0, Math.floor((this.#clock.now() - this.#start) / hour))
  }
}

const same = (given: string, wanted: string): boolean =>
  given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted))

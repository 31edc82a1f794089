import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { OwnAddress } from '../core/app-headers.ts'
import type { SipRequest } from '../message/message.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { SipParseError } from '../message/sip-parse-error.ts'
import { splitOutside } from '../message/text.ts'
import { formatHost, isSipUri } from '../message/uri.ts'
import { RecentMap } from '../shield/recent-map.ts'
import { fullTokenBucket, type TokenBucket, takeTokens } from '../shield/token-bucket.ts'

/** Parameter of our Record-Route that proves that it is ours, for this call. */
const mark = 'tk'
const hour = 3_600_000
/** Hours for which a route of ours is good; no call lasts longer. */
const lifetimeHours = 24
/** Requests a second that one call may have sent on, retransmissions too; the same at once. Digits by INFO are far fewer. */
const maxPerSecond = 50
/** Most calls whose rate is remembered. */
const maxCalls = 20_000

/** Where a request goes on. */
export interface NextHop {
  /** The request-uri. */
  readonly uri: string
  readonly routes: readonly string[]
}

/**
 * The routes that the agent, as a proxy which stays in the path, puts into requests that make a dialog. Each proves that it is ours, and
 * for which call: nobody else can have requests sent on to where he likes, and the parties of the call only for a day, and no
 * more of them than a call needs.
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

  /** Calls whose rate is remembered; bounded. */
  get size(): number {
    return this.#calls.size
  }

  /** Our Record-Route value for the dialog that this request makes, as seen from the side of `own`. */
  make({ host, port, protocol }: OwnAddress, { callId, fromTag }: SipRequest): string {
    const now = this.#hours()
    const proof = `${this.#proof(callId, fromTag, now)}-${now}`
    return `<sip:${formatHost(host)}:${port};transport=${protocol};${mark}=${proof};lr>`
  }

  /** Where a request goes on behind our own routes on top; undefined where the topmost is not ours, for this call and good still. */
  nextHop(request: SipRequest): NextHop | undefined {
    const routes = request.headers.all('route').flatMap((value) => splitOutside(value, ',', 'Route'))
    // RFC 3261 16.4: a strict router before us has put our route there, and what was there behind all others.
    const last = this.#isOurs(`<${request.uri}>`, request) ? routes.pop() : undefined
    const behind = routes.findIndex((value) => !this.#isOurs(value, request))
    const left = behind < 0 ? [] : routes.slice(behind)
    if (last !== undefined) return { uri: parseNameAddr(last, 'Route').uri, routes: left }
    return left.length === routes.length ? undefined : { uri: request.uri, routes: left }
  }

  /** Counts a request of a call that is to be sent on; false where there were too many lately. */
  admits(callId: string): boolean {
    const now = this.#clock.now()
    const bucket = this.#calls.get(callId) ?? fullTokenBucket(now)
    this.#calls.set(callId, bucket)
    return takeTokens(bucket, maxPerSecond, now)
  }

  #isOurs(value: string, { callId, fromTag, toTag }: SipRequest): boolean {
    if (!value.includes(`;${mark}=`)) return false
    try {
      const { target } = parseNameAddr(value, 'Route')
      const [proof = '', made = ''] = (isSipUri(target) ? (target.params.get(mark) ?? '') : '').split('-')
      if (!/^\d{1,7}$/.test(made) || this.#hours() - Number(made) >= lifetimeHours) return false
      // The dialog was made by the one side or by the other.
      return [fromTag, toTag].some((tag) => same(proof, this.#proof(callId, tag, Number(made))))
    } catch (error) {
      if (error instanceof SipParseError) return false
      throw error
    }
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

import { parseSipUri, type SipUri } from '../../core/sip-uri.ts'

/**
 * Numbers of consecutive pings that change the state of a target. `down`: unanswered pings until it is down;
 * `up`: answered pings until it is up again.
 */
export interface Hysteresis {
  readonly down: number
  readonly up: number
}

/** Health of a target, from its pings. `unknown`: no ping has shown it yet, or the target is not pinged. */
export type TargetState = 'up' | 'down' | 'unknown'

/** Result of the last ping. */
export interface PingResult {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Final status; undefined if no response came. */
  readonly status?: number
  /** Reason why no response came, or why the target does not serve. */
  readonly problem?: string
}

/** Target of a carrier, and its health. */
export class CarrierTarget {
  /** Target as written in the configuration: `sip:host[:port][;transport=…]`. */
  readonly text: string
  readonly uri: SipUri
  #isUp = true
  /** Time of the last change of {@link state}; undefined before the first one. */
  #since: number | undefined
  #lastPing: PingResult | undefined
  #streak = 0
  #asideUntil = 0

  /** Throws a RangeError for text that is no SIP URI; the configuration was checked before. */
  constructor(text: string) {
    const uri = parseSipUri(text)
    if (!uri) throw new RangeError(`no SIP URI: ${text}`)
    this.text = text
    this.uri = uri
  }

  /**
   * Whether the target is up, by the rules of {@link Hysteresis}. Without pings, always true.
   */
  get isUp(): boolean {
    return this.#isUp
  }

  /** Health for operators. A target of unknown health is used like one that is up. */
  get state(): TargetState {
    if (this.#since === undefined) return 'unknown'
    return this.#isUp ? 'up' : 'down'
  }

  /** Time of the last change of {@link state} in ms since 1970; undefined while it is unknown. */
  get since(): number | undefined {
    return this.#since
  }

  /** Result of the last ping; undefined before the first one. */
  get lastPing(): PingResult | undefined {
    return this.#lastPing
  }

  /** Whether the target is tried in its normal order. Unusable targets are tried after all others. */
  isUsable(now: number): boolean {
    return this.#isUp && now >= this.#asideUntil
  }

  /** Makes the target unusable until a time. A later call with an earlier time has no effect. */
  setAside(until: number): void {
    this.#asideUntil = Math.max(this.#asideUntil, until)
  }

  /** Records whether a ping was answered. Returns whether {@link isUp} changed. */
  recordPing(answered: boolean, { down, up }: Hysteresis, result: PingResult = { at: 0 }): boolean {
    this.#lastPing = result
    // The first answer proves the health, whatever the number of pings that a change needs.
    if (answered && this.#isUp) this.#since ??= result.at
    this.#streak = answered === this.#isUp ? 0 : this.#streak + 1
    if (this.#streak < (this.#isUp ? down : up)) return false
    this.#isUp = answered
    this.#since = result.at
    this.#streak = 0
    return true
  }

  /** Whether a URI names this target: it has the target's host and, if it has a port, the target's port. */
  isMeantBy(uri: SipUri): boolean {
    return uri.host === this.uri.host && (uri.port === undefined || uri.port === portOf(this.uri))
  }

  /**
   * Returns the request-URI of a user at this target. `params`: parameters of the dialled URI. Parameters for
   * routing, such as `transport`, are taken from the target instead.
   */
  requestUri(user: string, params: ReadonlyMap<string, string> = new Map()): string {
    const more = [...params]
      .filter(([name]) => !routing.has(name) && !this.uri.params.has(name))
      .map(([name, value]) => (value === '' ? `;${name}` : `;${name}=${value}`))
    return `${this.text.replace(/^(sips?:)/i, (scheme) => `${scheme}${user}@`)}${more.join('')}`
  }
}

/** URI parameters that are used for routing. */
const routing = new Set(['transport', 'maddr', 'ttl', 'lr', 'ob', 'method'])

const portOf = ({ port, scheme, params }: SipUri): number =>
  port ?? (scheme === 'sips' || params.get('transport')?.toLowerCase() === 'tls' ? 5061 : 5060)

/**
 * Returns the targets in the order in which they are tried: the dialled target first, then the others in the
 * order of the configuration. Unusable targets come last, in the same order.
 */
export const orderedTargets = (
  targets: readonly CarrierTarget[],
  now: number,
  dialled?: CarrierTarget,
): readonly CarrierTarget[] => {
  const wanted = dialled ? [dialled, ...targets.filter((each) => each !== dialled)] : targets
  return [...wanted.filter((each) => each.isUsable(now)), ...wanted.filter((each) => !each.isUsable(now))]
}

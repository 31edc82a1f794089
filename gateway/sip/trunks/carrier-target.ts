import { parseSipUri, type SipUri } from '../../core/sip-uri.ts'

/** Numbers of consecutive pings that change the state of a target. */
export interface Hysteresis {
  readonly down: number
  readonly up: number
}

/** Target of a carrier, and its health. */
export class CarrierTarget {
  /** As the configuration has it: `sip:host[:port][;transport=…]`. */
  readonly text: string
  readonly uri: SipUri
  #isUp = true
  #streak = 0
  #asideUntil = 0

  /** Throws a RangeError for text that is no SIP URI; the configuration was checked before. */
  constructor(text: string) {
    const uri = parseSipUri(text)
    if (!uri) throw new RangeError(`no SIP URI: ${text}`)
    this.text = text
    this.uri = uri
  }

  /** False once so many pings were not answered, until so many were. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** Whether the target is tried before those that are not usable. */
  isUsable(now: number): boolean {
    return this.#isUp && now >= this.#asideUntil
  }

  /** Moves the target behind others until a time; a later earlier setting stands. */
  setAside(until: number): void {
    this.#asideUntil = Math.max(this.#asideUntil, until)
  }

  /** Records a ping; returns whether {@link isUp} changed. */
  recordPing(answered: boolean, { down, up }: Hysteresis): boolean {
    this.#streak = answered === this.#isUp ? 0 : this.#streak + 1
    if (this.#streak < (this.#isUp ? down : up)) return false
    this.#isUp = answered
    this.#streak = 0
    return true
  }

  /** Whether a URI means this target: the same host, and where the URI names a port, the same port. */
  isMeantBy(uri: SipUri): boolean {
    return uri.host === this.uri.host && (uri.port === undefined || uri.port === portOf(this.uri))
  }

  /**
   * The request-URI of a user here. `params` are those of the dialled URI; how to get there is the target's
   * own.
   */
  requestUri(user: string, params: ReadonlyMap<string, string> = new Map()): string {
    const more = [...params]
      .filter(([name]) => !routing.has(name) && !this.uri.params.has(name))
      .map(([name, value]) => (value === '' ? `;${name}` : `;${name}=${value}`))
    return `${this.text.replace(/^(sips?:)/i, (scheme) => `${scheme}${user}@`)}${more.join('')}`
  }
}

/** URI parameters that concern the way to the target. */
const routing = new Set(['transport', 'maddr', 'ttl', 'lr', 'ob', 'method'])

const portOf = ({ port, scheme, params }: SipUri): number =>
  port ?? (scheme === 'sips' || params.get('transport')?.toLowerCase() === 'tls' ? 5061 : 5060)

/**
 * The order in which targets are tried: as they stand, the one that was dialled first, and those that seem
 * dead last of all.
 */
export const orderedTargets = (
  targets: readonly CarrierTarget[],
  now: number,
  dialled?: CarrierTarget,
): readonly CarrierTarget[] => {
  const wanted = dialled ? [dialled, ...targets.filter((each) => each !== dialled)] : targets
  return [...wanted.filter((each) => each.isUsable(now)), ...wanted.filter((each) => !each.isUsable(now))]
}

import type { CarrierConfig } from '../../../config/sip-types.ts'
import type { Target } from '../../calls/ports.ts'
import type { Clock } from '../../clock.ts'
import type { SipUri } from '../uri.ts'
import { Carrier } from './carrier.ts'
import { type NumberRules, numberOf, userWrittenFor } from './number.ts'

/** The carrier's own rules apply to the URI. */
const asItIs: NumberRules = { prefix: '', plus: 'keep' }

/** The carriers of the configuration. */
export class Carriers {
  readonly all: readonly Carrier[]

  constructor(configs: readonly CarrierConfig[], clock: Pick<Clock, 'now'>) {
    this.all = configs.map((config) => new Carrier(config, clock))
  }

  byName(name: string): Carrier | undefined {
    return this.all.find((carrier) => carrier.name === name)
  }

  /** The carrier that has a URI's host among its targets, and its port where the URI names one. */
  of(uri: SipUri): Carrier | undefined {
    return this.all.find((carrier) => carrier.targetOf(uri))
  }

  /** What a telephone number stands for: a call by the default carrier. Undefined where it is no number, or there is no such carrier. */
  numberTarget(text: string): Extract<Target, { kind: 'sip' }> | undefined {
    const carrier = this.all.find(({ config }) => config.default)
    const number = carrier && numberOf(text)
    const [first] = carrier?.targets ?? []
    if (!carrier || number === undefined || !first) return undefined
    const user = userWrittenFor(number, text, asItIs)
    return { kind: 'sip', uri: first.requestUri(user), carrier: carrier.name }
  }
}

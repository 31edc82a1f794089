import type { LegDialer } from '../calls/connect/leg-dialer.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { parseSipUri, type SipUri } from '../core/sip-uri.ts'

/** Returns the reason why a project may not call a URI; undefined if it may. */
export type Objection = (uri: SipUri, projectId: string) => Promise<string | undefined>

const client = /^client:([^\s/?]+)$/i

/**
 * Returns a destination of the API in the form that calls use: `client:name` becomes the address of that
 * subscriber.
 */
export const destinationOf = (to: string): string => {
  const text = to.trim()
  const name = client.exec(text)?.[1]
  return name === undefined ? text : `/private/${name}`
}

/** Checks the destinations of calls that the API makes. */
export class CalleeCheck {
  readonly #dialer: Pick<LegDialer, 'targetsOf'>
  readonly #objection: Objection

  constructor(dialer: Pick<LegDialer, 'targetsOf'>, objection: Objection) {
    this.#dialer = dialer
    this.#objection = objection
  }

  /**
   * Checks whether a project may call a destination of {@link destinationOf}. `offline`: a SIP endpoint
   * without a registration. Throws `unknown_address`, `no_carrier`, `not_permitted` and `bad_request`,
   * with the attribute `to` in their facts.
   */
  async check(to: string, projectId: string): Promise<'ready' | 'offline'> {
    const targets = this.#dialer.targetsOf(to, projectId)
    if ('code' in targets) {
      if (targets.code === 'not_online') return 'offline'
      const { code, detail } = targets
      if (code === 'no_carrier') throw new TrunklineError(code, undefined, { attribute: 'to' })
      const isUnknown = code === 'unknown_address'
      throw new TrunklineError(isUnknown ? code : 'bad_request', detail, { attribute: 'to' })
    }
    for (const target of targets) {
      // Numbers of a carrier and contacts of an endpoint need no permission.
      if (target.kind !== 'sip' || target.carrier !== undefined || target.endpointId !== undefined) continue
      const uri = parseSipUri(target.uri)
      if (!uri) throw new TrunklineError('bad_request', 'A SIP URI is required.', { attribute: 'to' })
      const objection = await this.#objection(uri, projectId)
      if (objection) throw new TrunklineError('not_permitted', objection, { attribute: 'to' })
    }
    return 'ready'
  }
}

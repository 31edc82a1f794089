import type { Party } from '../../calls/leg.ts'
import type { AddressBook, Arrival } from '../../calls/ports.ts'
import { parseAddress } from '../../directory/declared.ts'
import type { SipEndpoint } from '../../directory/types.ts'
import type { Code } from '../../errors.ts'
import { printable } from '../headers.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import { type SipUri, userOf } from '../uri.ts'
import { EndpointDoor, type EndpointDoorParts } from './door.ts'

/** What lets the calls of endpoints in. */
export interface EndpointCallersParts extends EndpointDoorParts {
  /** Hosts at which endpoints call, in lower case. */
  readonly domains: readonly string[]
  readonly directory: EndpointDoorParts['directory'] & AddressBook
}

/** A call that an endpoint makes. */
export interface EndpointCall {
  readonly endpointId: string
  readonly projectId: string
  /** The endpoint itself, whatever its From says. */
  readonly from: Party
  readonly plan: Arrival['plan']
}

/** Who calls from a registrar's domain, and whom. */
export class EndpointCallers {
  readonly #parts: EndpointCallersParts
  readonly #door: EndpointDoor

  constructor(parts: EndpointCallersParts) {
    this.#parts = parts
    this.#door = new EndpointDoor(parts)
  }

  /** Whether calls to this host, in lower case, are those of endpoints. */
  serves(host: string): boolean {
    return this.#parts.domains.includes(host)
  }

  /** The call of an INVITE at one of the domains; undefined: it was challenged or refused, and is over. */
  admit(request: SipRequest, response: SipResponse, target: SipUri): EndpointCall | undefined {
    const endpoint = this.#door.signedIn(request, response, target.host)
    if (!endpoint) return undefined
    const plan = planOf(target, endpoint, this.#parts.directory)
    if ('refuse' in plan) {
      this.#parts.refusals.refuse(response, plan.refuse, {
        ...{ source: request.source_address, transport: printable(request.protocol, 8) },
        ...{
          endpoint: endpoint.username,
          mayDialOut: endpoint.mayDialOut,
          dialled: printable(userOf(target)),
        },
      })
      return undefined
    }
    const { id: endpointId, projectId, address: uri, callerId: user, displayName: name } = endpoint
    return { endpointId, projectId, from: { uri, user, name }, plan }
  }
}

/**
 * What an endpoint's call is handled by: its own handler, or whom it dialled. A name is looked for in its own context, then among the public
 * and the private ones; an address or a SIP URI may stand in the user part, escaped. What is no address needs the permission to dial out.
 */
export const planOf = (
  target: Pick<SipUri, 'user'>,
  endpoint: Pick<SipEndpoint, 'address' | 'mayDialOut' | 'handler'>,
  addresses: AddressBook,
): Arrival['plan'] | { readonly refuse: Code } => {
  const { handler, address, mayDialOut } = endpoint
  if (handler) return { kind: 'handler', handler }
  const dialled = userOf(target)
  const contexts = [parseAddress(address)?.context ?? 'public', 'public', 'private']
  const names = dialled.startsWith('/') ? [dialled] : contexts.map((context) => `/${context}/${dialled}`)
  const found = names.find((name) => addresses.resolve(name))
  if (found !== undefined) return { kind: 'dial', to: found }
  if (dialled === '' || !addresses.resolve(dialled)) return { refuse: 'unknown_address' }
  return mayDialOut ? { kind: 'dial', to: dialled } : { refuse: 'not_permitted' }
}

import type { Endpoints } from '../../calls/leg/outbound-request.ts'
import type { Target } from '../../model.ts'
import type { Binding } from './bindings.ts'
import { nextHopOf, type Registrations } from './registrations.ts'

type SipTarget = Extract<Target, { kind: 'sip' }>

/** SIP targets of calls to endpoints. */
export class EndpointContacts implements Endpoints {
  readonly #registrations: Pick<Registrations, 'of'>
  readonly #isEmbedded: boolean

  /** `isEmbedded`: the agent is the embedded one, which sends over the connection that a next hop names. */
  constructor(registrations: Pick<Registrations, 'of'>, isEmbedded: boolean) {
    this.#registrations = registrations
    this.#isEmbedded = isEmbedded
  }

  /** Returns all contacts of an endpoint. They ring together, so preferences (`q`) have no effect. */
  contacts(endpointId: string): readonly SipTarget[] {
    return this.#registrations.of(endpointId).map((binding) => this.#targetOf(binding))
  }

  /**
   * Returns the target of a binding: the source of the REGISTER, and not the address in the contact. Behind
   * NAT no other address works, and a contact with a third party's address must not cause calls to that
   * party. A drachtio-server finds the connection of a contact by itself.
   */
  #targetOf({ uri, source }: Binding): SipTarget {
    const byItself = !this.#isEmbedded && source.transport !== 'udp'
    return { kind: 'sip', uri: uri.bare, ...(!byItself && { nextHop: nextHopOf(source) }) }
  }
}

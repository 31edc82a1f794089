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

  /** All contacts of an endpoint, of every preference: they ring together. */
  contacts(endpointId: string): readonly SipTarget[] {
    return this.#registrations.of(endpointId).map((binding) => this.#targetOf(binding))
  }

  /**
   * Returns the target of a binding: the source of the REGISTER, whatever the contact says. Behind NAT no
   * other address works, and a registration of a third party's address must not cause calls to it. A
   * drachtio-server finds the connection of a contact by itself.
   */
  #targetOf({ uri, source }: Binding): SipTarget {
    const byItself = !this.#isEmbedded && source.transport !== 'udp'
    return { kind: 'sip', uri: uri.bare, ...(!byItself && { nextHop: nextHopOf(source) }) }
  }
}

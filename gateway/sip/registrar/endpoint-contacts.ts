import type { Endpoints } from '../../calls/call-ports.ts'
import type { Target } from '../../model.ts'
import type { Binding } from './bindings.ts'
import { nextHopOf, type Registrations } from './registrations.ts'

type SipTarget = Extract<Target, { kind: 'sip' }>

/** Where calls to endpoints go. */
export class EndpointContacts implements Endpoints {
  readonly #registrations: Pick<Registrations, 'of'>
  readonly #embedded: boolean

  /** `embedded`: the agent is our own one, which sends over the connection that a next hop names. */
  constructor(registrations: Pick<Registrations, 'of'>, embedded: boolean) {
    this.#registrations = registrations
    this.#embedded = embedded
  }

  /** All contacts of an endpoint, of every preference: they ring together. */
  contacts(endpointId: string): readonly SipTarget[] {
    return this.#registrations.of(endpointId).map((binding) => this.#targetOf(binding))
  }

  /**
   * A call goes where the REGISTER came from, whatever its contact says: behind NAT nothing else arrives, and
   * nobody can make us call a third party by registering its address. A drachtio-server finds the connection
   * of a contact by itself, and only so.
   */
  #targetOf({ uri, source }: Binding): SipTarget {
    const byItself = !this.#embedded && source.transport !== 'udp'
    return { kind: 'sip', uri: uri.bare, ...(!byItself && { nextHop: nextHopOf(source) }) }
  }
}

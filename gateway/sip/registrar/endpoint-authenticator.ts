import type { Directory, SipEndpoint } from '../../directory/types.ts'
import type { Challenger } from '../admission/challenger.ts'
import type { Refusals } from '../admission/refusals.ts'
import { printable } from '../headers.ts'
import { sourceOf } from '../signalling-source.ts'
import type { SipRequest, SipResponse } from '../srf.ts'

/** Collaborators of {@link EndpointAuthenticator}. */
export interface EndpointAuthenticatorDeps {
  readonly directory: Pick<Directory, 'endpointByName'>
  readonly challenger: Pick<Challenger, 'check'>
  /** Called with an address that certainly sent a wrong password. */
  readonly recordOffense: (address: string) => void
  readonly refusals: Refusals
}

/** Identifies the endpoint that sent a request, by its digest answer only. */
export class EndpointAuthenticator {
  readonly #deps: EndpointAuthenticatorDeps

  constructor(deps: EndpointAuthenticatorDeps) {
    this.#deps = deps
  }

  /** The endpoint that signed the request; undefined: it was answered with a challenge of this realm. */
  authenticate(request: SipRequest, response: SipResponse, realm: string): SipEndpoint | undefined {
    const { challenger, directory, refusals, recordOffense } = this.#deps
    const { method, uri, body = '', source_address: source, protocol } = request
    const signed = {
      method,
      uri,
      body,
      source,
      isOverConnection: sourceOf(request).transport !== 'udp',
      authorization: request.get('Authorization'),
    }
    const secretOf = (username: string) => directory.endpointByName(username)?.secrets.get(realm)
    const signIn = challenger.check(signed, realm, secretOf)
    if (signIn.kind === 'accepted') return directory.endpointByName(signIn.username)
    if (signIn.why === 'wrong' && signIn.isProven) recordOffense(source)
    const { headers } = signIn
    const facts = { method, source, transport: printable(protocol, 8), domain: realm, answer: signIn.why }
    refusals.refuse(response, 'unauthorized', facts, { headers, isQuiet: signIn.why !== 'wrong' })
    return undefined
  }
}

import type { Directory } from '../../directory/directory.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import { type Challenger, digestRequestOf } from '../admission/challenger.ts'
import type { Refusals } from '../admission/refusals.ts'
import { printable } from '../headers.ts'
import type { SipRequest, SipResponse } from '../srf.ts'

/** Identifies the endpoint that sent a request, by its digest answer only. */
export class EndpointAuthenticator {
  readonly #directory: Pick<Directory, 'endpointByName'>
  readonly #challenger: Pick<Challenger, 'check'>
  readonly #refusals: Refusals

  constructor(
    directory: Pick<Directory, 'endpointByName'>,
    challenger: Pick<Challenger, 'check'>,
    refusals: Refusals,
  ) {
    this.#directory = directory
    this.#challenger = challenger
    this.#refusals = refusals
  }

  /** Returns the endpoint that signed the request; undefined if it was challenged for this realm. */
  authenticate(request: SipRequest, response: SipResponse, realm: string): SipEndpoint | undefined {
    const directory = this.#directory
    const { method, source_address: source, protocol } = request
    const secretOf = (username: string) => directory.endpointByName(username)?.secrets.get(realm)
    const signIn = this.#challenger.check(digestRequestOf(request), realm, secretOf)
    if (signIn.kind === 'accepted') return directory.endpointByName(signIn.username)
    const { headers } = signIn
    const facts = { method, source, transport: printable(protocol, 8), domain: realm, answer: signIn.why }
    this.#refusals.refuse(response, 'unauthorized', facts, { headers, isQuiet: signIn.why !== 'wrong' })
    return undefined
  }
}

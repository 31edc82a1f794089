import type { Directory, SipEndpoint } from '../../directory/types.ts'
import type { Challenger } from '../challenge.ts'
import { printable } from '../headers.ts'
import { type Refusals, serverHeader } from '../refusals.ts'
import type { SipRequest, SipResponse } from '../srf.ts'

/** What the sign-in works with. */
export interface EndpointDoorParts {
  readonly directory: Pick<Directory, 'endpointByName'>
  readonly challenger: Pick<Challenger, 'check'>
  /** Told of each sign-in that failed, with the address that it certainly came from. */
  readonly offence: (address: string) => void
  readonly refusals: Refusals
  readonly userAgent: string
}

/** Finds out which endpoint a request comes from. Nothing but a right digest answer tells one user name from another. */
export class EndpointDoor {
  readonly #parts: EndpointDoorParts

  constructor(parts: EndpointDoorParts) {
    this.#parts = parts
  }

  /** The endpoint that signed the request; undefined: it was answered with a challenge of this realm. */
  signedIn(request: SipRequest, response: SipResponse, realm: string): SipEndpoint | undefined {
    const { challenger, directory, refusals, offence, userAgent } = this.#parts
    const { method, uri, body = '', source_address: source, protocol } = request
    const authorization = request.get('Authorization')
    const signIn = challenger.check({ method, uri, body, source, authorization }, realm, (username) =>
      directory.endpointByName(username)?.secrets.get(realm),
    )
    if (signIn.kind === 'accepted') return directory.endpointByName(signIn.username)
    response.send(401, { headers: { ...serverHeader(userAgent), ...signIn.headers } })
    if (signIn.why === 'wrong') {
      if (signIn.proven) offence(source)
      // The answer is on its way; this is the log line and the count.
      const facts = { method, source, transport: printable(protocol, 8), domain: realm }
      refusals.refuse(response, 'unauthorized', facts)
    }
    return undefined
  }
}

import type { Directory, SipEndpoint } from '../../directory/types.ts'
import { printable } from '../headers.ts'
import { type Refusals, serverHeader } from '../refusals.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import type { Challenges } from './ports.ts'

/** What the sign-in works with. */
export interface EndpointDoorParts {
  readonly directory: Pick<Directory, 'endpointByName'>
  readonly challenges: Challenges
  /** Told of each sign-in that failed, with the address that it came from. */
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
    const { challenges, directory, refusals, offence, userAgent } = this.#parts
    const secretOf = (username: string) => directory.endpointByName(username)?.secrets.get(realm)
    const proof = challenges.check(request, { realm, secretOf })
    if (proof.kind === 'proved') return directory.endpointByName(proof.username)
    response.send(401, { headers: { ...serverHeader(userAgent), ...proof.headers } })
    if (proof.why === 'wrong') {
      const { method, source_address: source, protocol } = request
      offence(source)
      // The answer is on its way; this is the log line and the count.
      refusals.refuse(response, 'unauthorized', {
        ...{ method, source, transport: printable(protocol, 8), domain: realm },
      })
    }
    return undefined
  }
}

import { type DestinationDeps, targetsOf } from '../calls/connect/destinations.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { parseSipUri, type SipUri } from '../core/sip-uri.ts'

/** Collaborators of {@link checkCallee}. */
export interface CalleeCheckDeps extends DestinationDeps {
  /** Returns the reason why a project may not call a URI; undefined if it may. */
  readonly objection: (uri: SipUri, projectId: string) => Promise<string | undefined>
}

const client = /^client:([^\s/?]+)$/i

/** Returns a destination of the API as the calls expect it: `client:name` is that subscriber. */
export const destinationOf = (to: string): string => {
  const text = to.trim()
  const name = client.exec(text)?.[1]
  return name === undefined ? text : `/private/${name}`
}

/**
 * Checks whether a project may call a destination of {@link destinationOf}. `offline`: a SIP endpoint without
 * a registration. Throws `unknown_address`, `not_permitted` and `bad_request`, with the attribute `to` in
 * their facts.
 */
export const checkCallee = async (
  parts: CalleeCheckDeps,
  to: string,
  projectId: string,
): Promise<'ready' | 'offline'> => {
  const targets = targetsOf(to, projectId, parts)
  if ('code' in targets) {
    if (targets.code === 'not_online') return 'offline'
    const code = targets.code === 'unknown_address' ? 'unknown_address' : 'bad_request'
    const isNumber = /^\+?\d+$/.test(to.trim())
    const detail = isNumber ? 'The project has no carrier that numbers go to (`default`).' : targets.detail
    throw new TrunklineError(code, detail, { attribute: 'to' })
  }
  for (const target of targets) {
    // Numbers of a carrier and contacts of an endpoint need no permission.
    if (target.kind !== 'sip' || target.carrier !== undefined || target.endpointId !== undefined) continue
    const uri = parseSipUri(target.uri)
    if (!uri) throw new TrunklineError('bad_request', 'This is no SIP URI.', { attribute: 'to' })
    const objection = await parts.objection(uri, projectId)
    if (objection) throw new TrunklineError('not_permitted', objection, { attribute: 'to' })
  }
  return 'ready'
}

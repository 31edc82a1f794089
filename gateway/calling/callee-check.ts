import { type DestinationDeps, targetsOf } from '../calls/connect/destinations.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { parseSipUri, type SipUri } from '../core/sip-uri.ts'

/** What is asked before somebody is called. */
export interface CalleeCheckDeps extends DestinationDeps {
  /** Why a URI may not be called by a project; undefined where it may. */
  readonly objection: (uri: SipUri, projectId: string) => Promise<string | undefined>
}

const client = /^client:([^\s/?]+)$/i

/** A destination as calls have it: `client:name` is that subscriber. */
export const destinationOf = (to: string): string => {
  const text = to.trim()
  const name = client.exec(text)?.[1]
  return name === undefined ? text : `/private/${name}`
}

/**
 * Whether a project may call somebody, by {@link destinationOf}. `offline`: a SIP endpoint that is registered nowhere. Throws
 * `unknown_address`, `not_permitted` and `bad_request`, whose facts name the attribute `to`.
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
    // A carrier that numbers go by, and a phone's contact, are no matter of who may be called.
    if (target.kind !== 'sip' || target.carrier !== undefined || target.endpointId !== undefined) continue
    const uri = parseSipUri(target.uri)
    if (!uri) throw new TrunklineError('bad_request', 'This is no SIP URI.', { attribute: 'to' })
    const objection = await parts.objection(uri, projectId)
    if (objection) throw new TrunklineError('not_permitted', objection, { attribute: 'to' })
  }
  return 'ready'
}

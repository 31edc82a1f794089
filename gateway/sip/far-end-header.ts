import { reachHeader } from '@trunkline/sip-agent'
import type { Capabilities } from './agent-link.ts'
import type { Headers } from './srf.ts'

/** Far end of a request or a call: a carrier, or a SIP URI that a project dials without one. */
export type FarEndOfCall =
  | { readonly kind: 'carrier'; readonly name: string }
  | { readonly kind: 'project'; readonly id: string }

/** Header that names the far end to the embedded agent; none for an agent that would send it on. */
export const farEndHeader = (
  farEnd: FarEndOfCall | undefined,
  { hasPrivateHeaders }: Pick<Capabilities, 'hasPrivateHeaders'>,
): Headers => {
  if (!farEnd || !hasPrivateHeaders) return {}
  return { [reachHeader]: `${farEnd.kind} ${farEnd.kind === 'carrier' ? farEnd.name : farEnd.id}` }
}

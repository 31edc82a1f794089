import { canonicalHost } from '../../../config/networks.ts'
import type { RegistrarConfig } from '../../../config/sip-types.ts'
import { Registrar, type RegistrarParts } from './registrar.ts'

export { partyOf, planOf } from './callers.ts'
export { EndpointContacts } from './endpoint-contacts.ts'
export { Registrations } from './registrations.ts'

/** What the SIP edge is given of the registrar; the rest is its own. */
export interface RegistrarOptions
  extends Pick<RegistrarParts, 'directory' | 'offence' | 'registrations' | 'clock'> {
  readonly config: RegistrarConfig
}

/** Makes the registrar; undefined where the configuration names no domain for it. */
export const openRegistrar = (
  { config, ...options }: RegistrarOptions,
  surroundings: Pick<
    RegistrarParts,
    'challenger' | 'refusals' | 'draining' | 'metrics' | 'log' | 'userAgent'
  >,
): Registrar | undefined => {
  const domains = config.domains.map(canonicalHost)
  if (domains.length === 0) return undefined
  return new Registrar({ ...options, ...surroundings, limits: config, domains })
}

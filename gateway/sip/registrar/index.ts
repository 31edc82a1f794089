import type { RegistrarConfig } from '../../../config/sip-types.ts'
import type { EndpointCallersParts } from './callers.ts'
import { EndpointCallers } from './callers.ts'
import { Registrar, type RegistrarParts } from './registrar.ts'

export { EndpointContacts } from './endpoint-contacts.ts'
export { Registrations } from './registrations.ts'

/** What the SIP edge is given of the registrar; the rest is its own. */
export interface RegistrarOptions
  extends Pick<EndpointCallersParts, 'directory' | 'offence'>,
    Pick<RegistrarParts, 'registrations' | 'clock'> {
  readonly config: RegistrarConfig
}

/** What the SIP edge adds. */
export type RegistrarSurroundings = Pick<
  RegistrarParts,
  'challenger' | 'refusals' | 'draining' | 'metrics' | 'log' | 'userAgent'
>

/** The door of the SIP endpoints: they register at it, and call through it. */
export interface EndpointSide {
  /** Hosts at which they do, in lower case. */
  readonly domains: readonly string[]
  readonly registrar: Registrar
  readonly callers: EndpointCallers
}

/** Makes the door; undefined where the configuration names no domain for it. */
export const openEndpointSide = (
  { config, ...options }: RegistrarOptions,
  surroundings: RegistrarSurroundings,
): EndpointSide | undefined => {
  if (config.domains.length === 0) return undefined
  const parts = {
    ...{ ...options, ...surroundings, limits: config },
    domains: config.domains.map((domain) => domain.toLowerCase()),
  }
  const { domains } = parts
  return { domains, registrar: new Registrar(parts), callers: new EndpointCallers(parts) }
}

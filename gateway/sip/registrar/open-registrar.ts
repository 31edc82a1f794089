import { canonicalHost } from '../../../config/networks.ts'
import type { RegistrarConfig } from '../../../config/sip-types.ts'
import { KeepAlive, type KeepAliveParts } from './keep-alive.ts'
import { Registrar, type RegistrarParts } from './registrar.ts'

export { partyOf, planOf } from './callers.ts'
export { EndpointContacts } from './endpoint-contacts.ts'
export { Registrations } from './registrations.ts'

/** What the SIP edge is given of the registrar; the rest is its own. */
export interface RegistrarOptions
  extends Pick<RegistrarParts, 'directory' | 'offence' | 'registrations' | 'clock'> {
  /** Its limits and intervals are read whenever they are needed. */
  readonly config: RegistrarConfig
}

/** What the SIP edge adds. */
export type RegistrarSurroundings = Pick<
  RegistrarParts,
  'challenger' | 'refusals' | 'draining' | 'isKnown' | 'asks' | 'metrics' | 'log' | 'userAgent'
> &
  Pick<KeepAliveParts, 'srf' | 'connected'>

/** The registrar, and what keeps its phones within reach. */
export interface OpenRegistrar extends Pick<Registrar, 'handle'> {
  /** Idempotent. */
  close(): void
}

/** Makes the registrar; undefined where the configuration names no domain for it. */
export const openRegistrar = (
  { config, ...options }: RegistrarOptions,
  surroundings: RegistrarSurroundings,
): OpenRegistrar | undefined => {
  const domains = config.domains.map(canonicalHost)
  if (domains.length === 0) return undefined
  const registrar = new Registrar({ ...options, ...surroundings, limits: config, domains })
  const keepAlive = new KeepAlive({
    ...options,
    ...surroundings,
    get intervalMs() {
      return config.keepAliveMs
    },
  })
  keepAlive.start()
  return {
    handle: (request, response) => registrar.handle(request, response),
    close: () => keepAlive.close(),
  }
}

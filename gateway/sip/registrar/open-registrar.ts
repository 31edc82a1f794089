import { canonicalHost } from '../../../config/networks.ts'
import type { RegistrarConfig } from '../../../config/types.ts'
import { KeepAlive, type KeepAliveDeps } from './keep-alive.ts'
import { Registrar, type RegistrarDeps } from './registrar.ts'

export { EndpointContacts } from './endpoint-contacts.ts'
export { Registrations } from './registrations.ts'

/** Parts of the registrar that its owner passes to the SIP edge. */
export interface RegistrarOptions
  extends Pick<RegistrarDeps, 'directory' | 'recordOffense' | 'registrations' | 'clock'> {
  /** Its limits and intervals are read whenever they are needed. */
  readonly config: RegistrarConfig
}

/** Parts of the registrar that the SIP edge adds. */
export type RegistrarEdgeDeps = Pick<
  RegistrarDeps,
  'challenger' | 'refusals' | 'isDraining' | 'isKnown' | 'mayChallenge' | 'metrics' | 'log' | 'userAgent'
> &
  Pick<KeepAliveDeps, 'srf' | 'isConnected'>

/** The registrar with its keep-alive. */
export interface OpenRegistrar extends Pick<Registrar, 'handle'> {
  /** Idempotent. */
  close(): void
}

/** Makes the registrar; undefined where the configuration names no domain for it. */
export const openRegistrar = (
  { config, ...options }: RegistrarOptions,
  surroundings: RegistrarEdgeDeps,
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

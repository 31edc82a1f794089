import { canonicalHost } from '../../config/networks.ts'
import type { CodecName, Config, HandlerConfig } from '../../config/types.ts'
import type { HandlerSpec } from '../calls/ports.ts'
import { digestSecret } from './secrets.ts'
import type { DigestSecret } from './types.ts'

/** What of the configuration the directory is made from. */
export type DirectoryConfig = Pick<
  Config,
  'project' | 'domains' | 'endpoints' | 'subscribers' | 'resources'
> & { readonly sip: { readonly registrar: Pick<Config['sip']['registrar'], 'domains'> } }

/** A domain application as the file declares it. */
export interface DeclaredDomain {
  /** Lower case. */
  readonly domain: string
  readonly allow: readonly string[] | undefined
  readonly handler: HandlerSpec | undefined
  readonly maxCalls: number | undefined
  readonly callsPerSecond: number | undefined
  readonly callsPerSecondOfSource: number | undefined
  readonly maxCallsOfSource: number | undefined
  readonly challenge: DigestSecret | undefined
  readonly codecs: readonly CodecName[] | undefined
}

/** A thing with an address as the file declares it. */
export interface DeclaredResource {
  readonly type: 'subscriber' | 'app' | 'endpoint'
  readonly context: string
  readonly name: string
  readonly displayName: string
  readonly handler: HandlerSpec | undefined
  readonly person?: DeclaredPerson
  readonly phone?: DeclaredPhone
}

/** The person behind a declared subscriber. */
export interface DeclaredPerson {
  /** Lower case. */
  readonly email: string
  readonly password: string
  readonly firstName: string
  readonly lastName: string
  readonly mayDialOut: boolean
}

/** The phone behind a declared endpoint. */
export interface DeclaredPhone {
  readonly username: string
  readonly callerId: string
  readonly mayDialOut: boolean
  readonly maxCalls: number
  readonly callsPerSecond: number
  readonly codecs: readonly CodecName[]
  /** One for each host of the registrar. */
  readonly secrets: readonly DigestSecret[]
}

/** What the file declares, in the store's terms. */
export interface Declared {
  readonly projectId: string
  readonly domains: readonly DeclaredDomain[]
  readonly resources: readonly DeclaredResource[]
}

/**
 * Turns the configuration into what the store is to hold. Throws on an address, domain, e-mail or digest user that is declared twice or
 * malformed.
 */
export const declaredBy = (config: DirectoryConfig): Declared => {
  const domains = config.domains.map(domainApp)
  const realms = config.sip.registrar.domains.map(canonicalHost)
  const resources = [
    ...config.subscribers.map(subscriber),
    ...config.endpoints.map((each) => endpoint(each, realms)),
    ...config.resources.map(app),
  ]
  unique(
    'domain',
    domains.map((d) => d.domain),
  )
  unique(
    'address',
    resources.map((r) => `/${r.context}/${r.name}`),
  )
  unique(
    'subscriber',
    resources.flatMap((r) => (r.person ? [r.person.email] : [])),
  )
  unique(
    'endpoint',
    resources.flatMap((r) => (r.phone ? [r.phone.username] : [])),
  )
  return { projectId: config.project, domains, resources }
}

/** The parts of `/context/name`, without a query; undefined when it is no such address. */
export const parseAddress = (text: string): { context: string; name: string } | undefined => {
  const match = /^\/([^/?#\s]+)\/([^/?#\s]+)(?:\?.*)?$/.exec(text)
  return match?.[1] && match[2] ? { context: match[1], name: match[2] } : undefined
}

/** A handler as the calls take it. */
export const handlerSpec = (config: HandlerConfig): HandlerSpec => {
  if (config.kind === 'realtime') return config
  if (config.url !== undefined)
    return { kind: config.kind, url: config.url, fallbackUrl: config.fallbackUrl, method: config.method }
  if (config.document !== undefined)
    return { kind: config.kind, document: config.document, name: config.name }
  throw new Error(`${config.name}: a handler has a url or a document.`)
}

const domainApp = (d: DirectoryConfig['domains'][number]): DeclaredDomain => {
  const domain = canonicalHost(d.domain)
  const { allow, handler, maxCalls, callsPerSecond, callsPerSecondOfSource, maxCallsOfSource, challenge } = d
  return {
    ...{ domain, allow, maxCalls, callsPerSecond, callsPerSecondOfSource, maxCallsOfSource },
    handler: handler && handlerSpec(handler),
    codecs: d.codecs,
    // Callers are asked in the name of the domain that they call.
    challenge: challenge && digestSecret(challenge.username, domain, challenge.password),
  }
}

const subscriber = (s: DirectoryConfig['subscribers'][number]): DeclaredResource => {
  const address = checkedAddress(`/${s.context}/${s.name}`, `subscriber ${s.email}`)
  const [firstName, lastName] = [s.firstName ?? '', s.lastName ?? '']
  return {
    type: 'subscriber',
    ...address,
    displayName: s.displayName ?? (`${firstName} ${lastName}`.trim() || s.name),
    handler: undefined,
    person: {
      email: s.email.toLowerCase(),
      password: s.password,
      firstName,
      lastName,
      mayDialOut: s.mayDialOut,
    },
  }
}

const endpoint = (e: DirectoryConfig['endpoints'][number], realms: readonly string[]): DeclaredResource => {
  const { username, password, mayDialOut, maxCalls, callsPerSecond, codecs } = e
  return {
    type: 'endpoint',
    ...checkedAddress(`/${e.context}/${e.name}`, `endpoint ${username}`),
    displayName: e.displayName ?? e.name,
    handler: e.handler && handlerSpec(e.handler),
    phone: {
      username,
      callerId: e.callerId ?? username,
      ...{ mayDialOut, maxCalls, callsPerSecond, codecs },
      secrets: realms.map((realm) => digestSecret(username, realm, password)),
    },
  }
}

const app = (r: DirectoryConfig['resources'][number]): DeclaredResource => {
  const address = checkedAddress(r.address, 'resource')
  return {
    type: 'app',
    ...address,
    displayName: r.displayName ?? address.name,
    handler: handlerSpec(r.handler),
  }
}

const checkedAddress = (text: string, owner: string): { context: string; name: string } => {
  const address = parseAddress(text)
  if (!address || text.includes('?'))
    throw new Error(`${owner}: "${text}" is no address; expected /context/name.`)
  return address
}

const unique = (what: string, values: readonly string[]): void => {
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value)) throw new Error(`The ${what} ${value} is declared twice.`)
    seen.add(value)
  }
}

import type { Config, HandlerConfig } from '../../config/types.ts'
import type { HandlerSpec } from '../calls/ports.ts'

/** What of the configuration the directory is made from. */
export type DirectoryConfig = Pick<Config, 'project' | 'domains' | 'subscribers' | 'resources'>

/** A domain application as the file declares it. */
export interface DeclaredDomain {
  /** Lower case. */
  readonly domain: string
  readonly allow: readonly string[] | undefined
  readonly handler: HandlerSpec | undefined
  readonly maxCalls: number | undefined
}

/** A thing with an address as the file declares it. */
export interface DeclaredResource {
  readonly type: 'subscriber' | 'app'
  readonly context: string
  readonly name: string
  readonly displayName: string
  readonly handler: HandlerSpec | undefined
  readonly person: DeclaredPerson | undefined
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

/** What the file declares, in the store's terms. */
export interface Declared {
  readonly projectId: string
  readonly domains: readonly DeclaredDomain[]
  readonly resources: readonly DeclaredResource[]
}

/** Turns the configuration into what the store is to hold. Throws on an address, domain or e-mail that is declared twice or malformed. */
export const declaredBy = (config: DirectoryConfig): Declared => {
  const domains = config.domains.map((d) => ({
    domain: d.domain.toLowerCase(),
    allow: d.allow,
    handler: d.handler && handlerSpec(d.handler),
    maxCalls: d.maxCalls,
  }))
  const resources = [...config.subscribers.map(subscriber), ...config.resources.map(app)]
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
  return { projectId: config.project, domains, resources }
}

/** The parts of `/context/name`, without a query; undefined when it is no such address. */
export const parseAddress = (text: string): { context: string; name: string } | undefined => {
  const match = /^\/([^/?#\s]+)\/([^/?#\s]+)(?:\?.*)?$/.exec(text)
  return match?.[1] && match[2] ? { context: match[1], name: match[2] } : undefined
}

/** A handler as the calls take it. */
export const handlerSpec = (config: HandlerConfig): HandlerSpec => {
  if (config.url !== undefined)
    return { kind: config.kind, url: config.url, fallbackUrl: config.fallbackUrl, method: config.method }
  if (config.document !== undefined)
    return { kind: config.kind, document: config.document, name: config.name }
  throw new Error(`${config.name}: a handler has a url or a document.`)
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

const app = (r: DirectoryConfig['resources'][number]): DeclaredResource => {
  const address = checkedAddress(r.address, 'resource')
  return {
    type: 'app',
    ...address,
    displayName: r.displayName ?? address.name,
    handler: handlerSpec(r.handler),
    person: undefined,
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

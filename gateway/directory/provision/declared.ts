import { canonicalHost } from '../../../config/networks.ts'
import { parseRtmpUrl } from '../../../config/rtmp-url.ts'
import type {
  Config,
  HandlerConfig,
  ProjectConfig,
  ProjectLimits,
  RoomConfig,
} from '../../../config/types.ts'
import type { AudioCodec } from '../../../media/types.ts'
import type { HandlerSpec } from '../../model.ts'
import { parseAddress } from '../model/address-path.ts'
import { type AgentSilence, agentScript, defaultSilence } from '../model/agent-script.ts'
import type { DigestSecret } from '../model/digest-secret.ts'
import { digestSecret } from '../model/digest-secret.ts'
import type {
  AgentDetails,
  EndpointDetails,
  FlowDetails,
  ResourceDetails,
  ResourceType,
  RoomDetails,
  SubscriberDetails,
} from '../model/resource-types.ts'
import type { StreamUrl } from '../tables/room-streams.ts'

/** Parts of the configuration that the directory uses. */
export type DirectoryConfig = Pick<
  Config,
  'project' | 'projects' | 'domains' | 'endpoints' | 'subscribers' | 'resources'
> &
  Partial<Pick<Config, 'carriers' | 'rooms'>> & {
    readonly agents?: Pick<Config['agents'], 'silence'>
    readonly sip: { readonly registrar: Pick<Config['sip']['registrar'], 'domains'> }
  }

/** Parts of a configuration that declare entries of the directory and limit the API. */
export interface DeclaringConfig {
  readonly config: DirectoryConfig
  readonly limits: ProjectLimits
  readonly domainSuffix: string
}

/** Domain application that the configuration file declares. */
export interface DeclaredDomain {
  readonly projectId: string
  /** Lower case. */
  readonly domain: string
  readonly allow: readonly string[] | undefined
  readonly handler: HandlerSpec | undefined
  readonly maxCalls: number | undefined
  readonly callsPerSecond: number | undefined
  readonly callsPerSecondOfSource: number | undefined
  readonly maxCallsOfSource: number | undefined
  readonly challenge: DigestSecret | undefined
  readonly codecs: readonly AudioCodec[] | undefined
}

/** Resource with an address that the configuration file declares. */
export interface DeclaredResource {
  readonly projectId: string
  readonly type: ResourceType
  readonly context: string
  readonly name: string
  readonly displayName: string
  /** Details of the type, without the e-mail and the user name. */
  readonly details: object
  /** Sign-in of a subscriber. */
  readonly person?: { /** Lower case. */ readonly email: string; readonly password: string }
  /** Credentials of a SIP endpoint; one secret for each host of the registrar. */
  readonly phone?: { readonly username: string; readonly secrets: readonly DigestSecret[] }
  /** Streams that start with each session of a room. */
  readonly streams?: readonly StreamUrl[]
}

/** Declarations of the configuration file, converted for the store. */
export interface Declared {
  readonly projects: readonly ProjectConfig[]
  readonly domains: readonly DeclaredDomain[]
  readonly resources: readonly DeclaredResource[]
}

/**
 * Converts the configuration to the content that the store must hold. Throws for an address, domain, e-mail
 * or digest user that is malformed or declared twice.
 */
export const declaredBy = (config: DirectoryConfig): Declared => {
  const { project: first, projects } = config
  const silence = config.agents?.silence ?? defaultSilence
  const domains = config.domains.map((each) => domainApp(each, first, silence))
  const realms = realmsOf(config)
  const resources = [
    ...config.subscribers.map((each) => subscriber(each, first)),
    ...config.endpoints.map((each) => endpoint(each, { realms, first, silence })),
    ...config.resources.map((each) => resource(each, first)),
    ...(config.rooms ?? []).map((each) => room(each, first)),
  ]
  unique(
    'domain',
    domains.map(({ domain }) => [domain, '']),
  )
  unique(
    'address',
    resources.map(({ context, name, projectId }) => [`/${context}/${name}`, projectId]),
  )
  unique(
    'subscriber',
    resources.flatMap(({ person, projectId }) => (person ? [[person.email, projectId] as const] : [])),
  )
  unique(
    'endpoint',
    resources.flatMap(({ phone }) => (phone ? [[phone.username, ''] as const] : [])),
  )
  return { projects, domains, resources }
}

/** Returns the hosts at which endpoints register; each host is a digest realm. */
export const realmsOf = ({ sip }: Pick<DirectoryConfig, 'sip'>): string[] =>
  sip.registrar.domains.map(canonicalHost)

/** Converts a handler to the form that calls use. */
export const handlerSpec = (config: HandlerConfig, silence: AgentSilence): HandlerSpec => {
  if (config.kind === 'realtime') return config
  const { kind, url, document, name } = config
  if (kind === 'agent') return { kind: 'script', document: agentScript(settingsOf(document), silence), name }
  if (url !== undefined) return { kind, url, ...requestOf(config) }
  if (document !== undefined) return { kind, document, name }
  throw new Error(`${name}: a handler has a url or a document.`)
}

const domainApp = (
  d: DirectoryConfig['domains'][number],
  first: string,
  silence: AgentSilence,
): DeclaredDomain => {
  const domain = canonicalHost(d.domain)
  const { allow, handler, maxCalls, callsPerSecond, callsPerSecondOfSource, maxCallsOfSource, challenge } = d
  return {
    projectId: d.project ?? first,
    domain,
    allow,
    maxCalls,
    callsPerSecond,
    callsPerSecondOfSource,
    maxCallsOfSource,
    handler: handler && handlerSpec(handler, silence),
    codecs: d.codecs,
    // The realm of callers is the domain that they call.
    challenge: challenge && digestSecret(challenge.username, domain, challenge.password),
  }
}

const subscriber = (s: DirectoryConfig['subscribers'][number], first: string): DeclaredResource => {
  const { email, password, firstName, lastName, mayDialOut, maxCalls, callsPerSecond } = s
  const details: Omit<SubscriberDetails, 'email'> = {
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    mayDialOut,
    ...(maxCalls !== undefined && { maxCalls }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
  }
  return {
    projectId: s.project ?? first,
    type: 'subscriber',
    ...checkedAddress(`/${s.context}/${s.name}`, `subscriber ${email}`),
    displayName: s.displayName ?? (`${firstName ?? ''} ${lastName ?? ''}`.trim() || s.name),
    details,
    person: { email: email.toLowerCase(), password },
  }
}

const endpoint = (
  e: DirectoryConfig['endpoints'][number],
  { realms, first, silence }: { realms: readonly string[]; first: string; silence: AgentSilence },
): DeclaredResource => {
  const { username, password, mayDialOut, maxCalls, callsPerSecond, codecs } = e
  const details: Omit<EndpointDetails, 'username'> = {
    callerId: e.callerId ?? username,
    mayDialOut,
    maxCalls,
    callsPerSecond,
    codecs,
    encryption: 'default',
    ...(e.handler && { handler: handlerSpec(e.handler, silence) }),
  }
  return {
    projectId: e.project ?? first,
    type: 'sip_endpoint',
    ...checkedAddress(`/${e.context}/${e.name}`, `endpoint ${username}`),
    displayName: e.displayName ?? e.name,
    details,
    phone: { username, secrets: realms.map((realm) => digestSecret(username, realm, password)) },
  }
}

const resource = (r: DirectoryConfig['resources'][number], first: string): DeclaredResource => {
  const address = checkedAddress(r.address, 'resource')
  const displayName = r.displayName ?? address.name
  return { projectId: r.project ?? first, ...address, displayName, ...kindOf(r.handler) }
}

const room = (r: RoomConfig, first: string): DeclaredResource => {
  const address = checkedAddress(r.address, 'room')
  const details: RoomDetails = {
    maxMembers: r.maxMembers,
    layout: r.layout,
    recordOnStart: r.recordOnStart,
    recordMembers: r.recordMembers,
    toneOnEntryAndExit: r.tones,
    userJoinVideoOff: r.videoOff,
    prioritizeHandraise: r.handsFirst,
    names: r.names,
  }
  const displayName = r.displayName ?? address.name
  const streams = r.streams.map(({ url }) => streamUrl(url, r.address))
  return { projectId: r.project ?? first, type: 'room', ...address, displayName, details, streams }
}

/** Reads the URL of a stream. The error does not contain it, as it is secret. */
const streamUrl = (url: string, address: string): StreamUrl => {
  const read = parseRtmpUrl(url)
  if (!read) throw new Error(`A stream of the room ${address} has no URL such as rtmp://host/app/key.`)
  return { url, shown: read.masked }
}

/** Returns the type of a resource, which follows from its handler. */
const kindOf = (handler: HandlerConfig): Pick<DeclaredResource, 'type' | 'details'> => {
  if (handler.kind === 'realtime') return { type: 'relay_application', details: { topic: handler.topic } }
  const { kind, url, document = '', name: declaredAt } = handler
  if (kind === 'agent') {
    const details = { settings: settingsOf(document), declaredAt }
    return { type: 'ai_agent', details: details satisfies ResourceDetails['ai_agent'] }
  }
  if (kind === 'flow') {
    const text = url === undefined ? { flow: document, declaredAt } : { url, ...requestOf(handler) }
    return { type: 'call_flow', details: { ...text, version: 1 } satisfies FlowDetails }
  }
  const family = kind === 'xml' ? 'cxml' : 'swml'
  if (url === undefined)
    return {
      type: `${family}_script`,
      details: { document, declaredAt } satisfies ResourceDetails['swml_script'],
    }
  const asked: ResourceDetails['swml_webhook'] = { url, method: 'POST', ...requestOf(handler) }
  return { type: `${family}_webhook`, details: asked }
}

/** Returns the settings of an agent; the loader has made its document an object in JSON. */
const settingsOf = (document = '{}'): AgentDetails['settings'] => JSON.parse(document)

const requestOf = ({ fallbackUrl, method }: Exclude<HandlerConfig, { kind: 'realtime' }>) => ({
  ...(fallbackUrl !== undefined && { fallbackUrl }),
  ...(method !== undefined && { method }),
})

const checkedAddress = (text: string, owner: string): { context: string; name: string } => {
  const address = parseAddress(text)
  if (!address || text.includes('?'))
    throw new Error(`${owner}: "${text}" is no address; expected /context/name.`)
  return address
}

/** Throws if a name occurs twice in one project. */
const unique = (what: string, names: readonly (readonly [name: string, projectId: string])[]): void => {
  const seen = new Set<string>()
  for (const [name, projectId] of names) {
    const key = `${projectId} ${name}`
    if (seen.has(key)) throw new Error(`The ${what} ${name} is declared twice.`)
    seen.add(key)
  }
}

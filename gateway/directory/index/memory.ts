import { canonicalHost } from '../../../config/networks.ts'
import type { Target } from '../../model.ts'
import { parseAddress, pathOf } from '../model/address-path.ts'
import type { AgentSilence } from '../model/agent-script.ts'
import type { DomainApp, SipEndpoint } from '../model/callers.ts'
import type { FoundRoom } from '../model/resource-types.ts'
import type { Store } from '../store/sqlite.ts'
import { Tokens } from './api-tokens.ts'
import { Contents } from './contents.ts'
import { admittedBy, Domains, domainEntryOf } from './domains.ts'
import type { Entry } from './entry.ts'
import { handlerAt, handlerOf, roomOf } from './handlers.ts'
import { readAllEntries, readDomains, readEntries, readTokens } from './reading.ts'
import { StoredCarriers } from './stored-carriers.ts'

/** Returns the target of a telephone number for a caller of the project: a carrier's address. */
export type NumberTarget = (number: string, projectId: string) => Target | undefined

/** Changed rows of the store. */
export interface Changed {
  readonly resources?: readonly string[]
  readonly domains?: readonly string[]
  readonly carriers?: true
  readonly projects?: true
}

/** Maximum number of entries that are replaced without a pause; calls are handled in the pauses. */
const putTogether = 2_000

/** Content of the store in memory, for calls and the API. */
export class Memory {
  readonly contents = new Contents()
  readonly domains = new Domains()
  readonly tokens = new Tokens()
  readonly carriers: StoredCarriers
  readonly #numberTarget: NumberTarget | undefined
  readonly #resourceListeners: ((ids: readonly string[]) => void)[] = []
  #onSenders: () => void = () => {}

  constructor(numberTarget?: NumberTarget, carriers = new StoredCarriers()) {
    this.#numberTarget = numberTarget
    this.carriers = carriers
  }

  /** Sets the listener for domain applications and carriers that were read again or removed. */
  set onSenders(listener: () => void) {
    this.#onSenders = listener
  }

  /** Adds a listener that gets the ids of resources that were read again or removed. */
  onResources(listener: (ids: readonly string[]) => void): void {
    this.#resourceListeners.push(listener)
  }

  /** Reads everything; entries that are not stored any more are removed. */
  async readAll(store: Store): Promise<void> {
    const entries = await readAllEntries(store)
    const domains = await readDomains(store)
    const gone = new Set(this.contents.ids())
    for (const [i, entry] of entries.entries()) {
      gone.delete(entry.resource.id)
      this.contents.put(entry)
      if (i % putTogether === putTogether - 1) await new Promise(setImmediate)
    }
    for (const id of gone) this.contents.remove(id)
    const all = [...this.contents.ids(), ...gone]
    const left = new Set(this.domains.ids())
    for (const row of domains) {
      left.delete(row.id)
      this.domains.put(domainEntryOf(row))
    }
    for (const id of left) this.domains.remove(id)
    this.tokens.replace(await readTokens(store))
    await this.carriers.read(store)
    for (const listener of this.#resourceListeners) listener(all)
    this.#onSenders()
  }

  /** Reads the changed rows and replaces their entries. */
  async read(store: Store, { resources = [], domains = [], carriers, projects }: Changed): Promise<void> {
    if (resources.length > 0) {
      const entries = await readEntries(store, resources)
      const found = new Set(entries.map(({ resource }) => resource.id))
      // Removals come first, because a name may move from one resource to another.
      for (const id of resources) if (!found.has(id)) this.contents.remove(id)
      for (const entry of entries) this.contents.put(entry)
      for (const listener of this.#resourceListeners) listener(resources)
    }
    if (domains.length > 0) {
      const rows = await readDomains(store, domains)
      const found = new Set(rows.map(({ id }) => id))
      for (const id of domains) if (!found.has(id)) this.domains.remove(id)
      for (const row of rows) this.domains.put(domainEntryOf(row))
    }
    if (carriers) await this.carriers.read(store)
    if (carriers || domains.length > 0) this.#onSenders()
    if (projects) this.tokens.replace(await readTokens(store))
  }

  /** Finds a domain application by the host of a request-URI, ignoring case. */
  domainApp(host: string): DomainApp | undefined {
    const entry = this.domains.byDomain(canonicalHost(host))
    if (!entry) return undefined
    const { projectId, handler } = entry.record
    return admittedBy(entry, handlerOf(this.contents, projectId, handler))
  }

  /** Finds an endpoint by its digest user name, case-sensitive. */
  endpointByName(username: string): SipEndpoint | undefined {
    return this.#endpointOf(this.contents.byUsername(username))
  }

  endpoint(id: string): SipEndpoint | undefined {
    return this.#endpointOf(this.contents.byId(id))
  }

  /** See `AddressBook`. */
  resolve(to: string, projectId: string): Target | undefined {
    const text = to.trim()
    if (/^sips?:[^\s]+$/i.test(text)) return { kind: 'sip', uri: text }
    if (/^\+?\d{1,32}$/.test(text)) return this.#numberTarget?.(text, projectId)
    const parts = parseAddress(text)
    const entry = parts && this.contents.byAddress(projectId, parts)
    return entry && targetOf(entry, this.contents.silence)
  }

  /** See `Directory.room`. */
  room(name: string, projectId: string): FoundRoom {
    return roomOf(this.contents, projectId, name)
  }

  #endpointOf(entry: Entry | undefined): SipEndpoint | undefined {
    if (entry?.resource.type !== 'sip_endpoint' || !entry.endpoint) return undefined
    const { projectId, details } = entry.resource
    return { ...entry.endpoint, handler: handlerOf(this.contents, projectId, details.handler) }
  }
}

const targetOf = (entry: Entry, silence: AgentSilence): Target | undefined => {
  const { resource } = entry
  const address = pathOf(resource.address)
  if (resource.type === 'subscriber') return { kind: 'subscriber', subscriberId: resource.id, address }
  // Calls to an endpoint ring it: its handler is only for calls that it makes.
  if (resource.type === 'sip_endpoint') return { kind: 'endpoint', endpointId: resource.id, address }
  if (resource.type === 'sip_gateway') {
    const { uri, encryption, codecs } = resource.details
    return { kind: 'sip', uri, address, encryption, ...(codecs && { codecs }) }
  }
  const handler = handlerAt(entry, silence)
  return handler && { kind: 'handler', handler, address }
}

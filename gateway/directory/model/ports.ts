/**
 * Ports for reading and changing the store. Each rejects with a TrunklineError of the named code, and never
 * finds entries of another project.
 */
import type { AudioCodec } from '../../../media/types.ts'
import type {
  HandlerSource,
  Listed,
  ListPage,
  NewResource,
  Resource,
  ResourceChange,
  ResourceType,
} from './resource-types.ts'
import type { Scope } from './scopes.ts'

/** Project: owner of calls, resources and tokens. */
export interface Project {
  readonly id: string
  /** Name in the domains of its domain applications: letters, digits and dashes. */
  readonly name: string
}

/** Token of the API, without its secret. Times in milliseconds since 1970. */
export interface ApiToken {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly managedByFile: boolean
  readonly createdAt: number
  readonly expiresAt?: number
}

/** Projects and their tokens in memory, for calls and the API. */
export interface Projects {
  project(id: string): Project | undefined
  /** Returns the valid token with this secret, if any. The time taken does not depend on the secret. */
  tokenOf(secret: string): ApiToken | undefined
  tokens(projectId: string): readonly ApiToken[]
  /** Calls the listener after changes of projects or tokens. Returns a function that ends this. */
  onChange(listener: () => void): () => void
  /** Creates a token and returns its secret, which cannot be read again later. */
  addToken(
    projectId: string,
    token: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt?: number },
  ): Promise<{ readonly token: ApiToken; readonly secret: string }>
  /** Rejects with `unknown_resource`, `managed_by_file`. */
  changeToken(
    projectId: string,
    id: string,
    change: { readonly name?: string; readonly scopes?: readonly Scope[] },
  ): Promise<ApiToken>
  /** Rejects with `unknown_resource`, `managed_by_file`. */
  removeToken(projectId: string, id: string): Promise<void>
}

/** All resources with an address. Reads use memory, and show a write as soon as the write has resolved. */
export interface Resources {
  find<T extends ResourceType>(projectId: string, type: T, id: string): Resource<T> | undefined
  find(projectId: string, type: undefined, id: string): Resource | undefined
  findByAddressId(projectId: string, addressId: string): Resource | undefined
  findByAddress(projectId: string, context: string, name: string): Resource | undefined
  findSubscriber(projectId: string, email: string): Resource<'subscriber'> | undefined
  list(
    projectId: string,
    query: ListPage & {
      readonly types?: readonly ResourceType[]
      /** Part of the display name, ignoring case. */
      readonly displayName?: string
      /** A name, or `/context/name`. */
      readonly name?: string
      /** Default `created_at`. */
      readonly sortBy?: 'name' | 'created_at'
      readonly descending?: boolean
    },
  ): Listed<Resource>
  /** Rejects with `address_taken`, `email_taken`, `username_taken`, `over_quota`. */
  create<T extends ResourceType>(resource: NewResource<T>): Promise<Resource<T>>
  /**
   * Rejects like {@link create}, and with `unknown_resource`, `managed_by_file`. The id stays after a change
   * of names.
   */
  update<T extends ResourceType>(
    projectId: string,
    type: T,
    id: string,
    change: ResourceChange<T>,
  ): Promise<Resource<T>>
  /** Rejects with `unknown_resource`, `managed_by_file`. */
  remove(projectId: string, type: ResourceType | undefined, id: string): Promise<void>
  flowVersions(projectId: string, id: string): Promise<readonly FlowVersionRecord[]>
  /**
   * Deploys a version of the working copy; `version` undefined: the present one. Rejects with
   * `unknown_resource`, `managed_by_file`.
   */
  deployFlow(
    projectId: string,
    id: string,
    version?: number | { readonly id: string },
  ): Promise<FlowVersionRecord>
  /** Returns the versions of a voice agent, the oldest first; empty for an unknown agent. */
  agentVersions(projectId: string, id: string): Promise<readonly AgentVersionSummary[]>
  /** Returns one version of a voice agent; undefined if it does not exist. */
  agentVersion(projectId: string, id: string, versionId: string): Promise<AgentVersionRecord | undefined>
  /**
   * Makes the settings of an earlier version the present ones. Rejects with `unknown_resource`,
   * `managed_by_file`.
   */
  restoreAgent(
    projectId: string,
    id: string,
    version: number | { readonly id: string },
  ): Promise<AgentVersionRecord>
}

/** Version of a voice agent, without its settings. */
export interface AgentVersionSummary {
  readonly id: string
  /** Number from 1, in the order of the changes. */
  readonly version: number
  readonly createdAt: number
  /** Whether calls run it. */
  readonly current: boolean
}

/** Version of a voice agent. */
export interface AgentVersionRecord extends AgentVersionSummary {
  readonly settings: Readonly<Record<string, unknown>>
}

/** Deployed version of a call flow. */
export interface FlowVersionRecord {
  readonly id: string
  readonly version: number
  readonly flow?: string
  readonly script?: string
  readonly createdAt: number
  /** Whether it is the running version. */
  readonly current: boolean
}

/** Domain application of the API; {@link DomainApp} is its form for the admission of calls. */
export interface DomainAppRecord {
  readonly id: string
  readonly projectId: string
  readonly name: string
  /** Letters, digits and dashes, from which the domain is made. Absent if the file names the domain. */
  readonly identifier?: string
  readonly domain: string
  /** User part of the request-URI that it accepts; `*`: any. */
  readonly user: string
  readonly ipAuthEnabled: boolean
  /** Networks (CIDR). */
  readonly ipAuth: readonly string[]
  readonly encryption: 'optional' | 'required' | 'forbidden'
  readonly codecs?: readonly AudioCodec[]
  /** Suites of SDES; absent: all. */
  readonly ciphers?: readonly string[]
  readonly handler?: HandlerSource
  readonly statusCallback?: { readonly url: string; readonly method: 'GET' | 'POST' }
  readonly maxCalls?: number
  readonly callsPerSecond?: number
  readonly managedByFile: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** Names of the properties of a domain application that the store sets. */
type MadeByStore = 'id' | 'projectId' | 'domain' | 'managedByFile' | 'createdAt' | 'updatedAt'

/** Domain applications; reads use memory. */
export interface DomainApps {
  find(projectId: string, id: string): DomainAppRecord | undefined
  list(
    projectId: string,
    query: ListPage & { readonly name?: string; readonly domain?: string },
  ): Listed<DomainAppRecord>
  /** Rejects with `domain_taken`. */
  create(
    projectId: string,
    app: Omit<DomainAppRecord, MadeByStore> & { readonly identifier: string },
  ): Promise<DomainAppRecord>
  /** Rejects with `unknown_resource`, `managed_by_file`, `domain_taken`. Null removes a property. */
  update(
    projectId: string,
    id: string,
    change: { readonly [K in keyof Omit<DomainAppRecord, MadeByStore>]?: DomainAppRecord[K] | null },
  ): Promise<DomainAppRecord>
  /** Rejects with `unknown_resource`, `managed_by_file`. */
  remove(projectId: string, id: string): Promise<void>
}

/**
 * Carrier in the form of the configuration file (`carriers` in docs/configuration.md), without files and
 * project.
 */
export interface CarrierEntry {
  readonly name: string
  readonly auth?: CarrierAccount
  readonly challenge?: CarrierAccount
  readonly [key: string]: unknown
}

interface CarrierAccount {
  readonly username?: string
  /** Never shown. */
  readonly password?: string
  readonly realm?: string
}

/** Carrier of the API. Times in milliseconds since 1970. */
export interface CarrierRecord {
  readonly id: string
  readonly projectId: string
  readonly name: string
  /** Configuration of the carrier, without passwords. */
  readonly entry: CarrierEntry
  readonly managedByFile: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** Carriers of projects; reads use memory. */
export interface ProjectCarriers {
  find(projectId: string, id: string): CarrierRecord | undefined
  list(projectId: string, query: ListPage): Listed<CarrierRecord>
  /** Rejects with `invalid_field`, `name_taken`, `over_quota`. */
  create(projectId: string, entry: CarrierEntry): Promise<CarrierRecord>
  /**
   * Replaces the whole entry; an absent password keeps its value if the user name is unchanged. Rejects like
   * {@link create}, and with `unknown_resource`, `managed_by_file`.
   */
  replace(projectId: string, id: string, entry: CarrierEntry): Promise<CarrierRecord>
  /** Rejects with `unknown_resource`, `managed_by_file`. */
  remove(projectId: string, id: string): Promise<void>
}

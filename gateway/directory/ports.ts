/**
 * What the store is asked to read and change. Each rejects with a TrunklineError of the named code; nothing
 * of another project is ever found.
 */
import type { AudioCodec } from '../../media/types.ts'
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

/** A project: whom calls, resources and tokens belong to. */
export interface Project {
  readonly id: string
  /** In the domains of its domain applications: letters, digits and dashes. */
  readonly name: string
}

/** A token of the API, without its secret. Times in milliseconds since 1970. */
export interface ApiToken {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly managedByFile: boolean
  readonly createdAt: number
  readonly expiresAt?: number
}

/** Projects and their tokens, as the calls and the API use them: in memory. */
export interface Projects {
  project(id: string): Project | undefined
  /** The token that this text is, where it is good now; takes the same time whichever it is, or none. */
  tokenOf(secret: string): ApiToken | undefined
  tokens(projectId: string): readonly ApiToken[]
  /** Calls the listener after projects or tokens have changed; returns what ends it. */
  onChange(listener: () => void): () => void
  /** The secret is given this once. */
  addToken(
    projectId: string,
    token: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt?: number },
  ): Promise<{ readonly token: ApiToken; readonly secret: string }>
  /** `unknown_resource`, `managed_by_file`. */
  changeToken(
    projectId: string,
    id: string,
    change: { readonly name?: string; readonly scopes?: readonly Scope[] },
  ): Promise<ApiToken>
  /** `unknown_resource`, `managed_by_file`. */
  removeToken(projectId: string, id: string): Promise<void>
}

/** Everything that has an address. Reads are of memory, and exact as soon as a write has resolved. */
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
      /** Part of the display name, without regard to case. */
      readonly displayName?: string
      /** A name, or `/context/name`. */
      readonly name?: string
      /** Default `created_at`. */
      readonly sortBy?: 'name' | 'created_at'
      readonly descending?: boolean
    },
  ): Listed<Resource>
  /** `address_taken`, `email_taken`, `username_taken`, `over_quota`. */
  create<T extends ResourceType>(resource: NewResource<T>): Promise<Resource<T>>
  /** As {@link create}, and `unknown_resource`, `managed_by_file`. The id stays, whatever is renamed. */
  update<T extends ResourceType>(
    projectId: string,
    type: T,
    id: string,
    change: ResourceChange<T>,
  ): Promise<Resource<T>>
  /** `unknown_resource`, `managed_by_file`. */
  remove(projectId: string, type: ResourceType | undefined, id: string): Promise<void>
  flowVersions(projectId: string, id: string): Promise<readonly FlowVersionRecord[]>
  /**
   * Makes a version of the working copy the one that is deployed; `version` undefined: the present one.
   * `unknown_resource`, `managed_by_file`.
   */
  deployFlow(
    projectId: string,
    id: string,
    version?: number | { readonly id: string },
  ): Promise<FlowVersionRecord>
}

/** A call flow as it was deployed once. */
export interface FlowVersionRecord {
  readonly id: string
  readonly version: number
  readonly flow?: string
  readonly script?: string
  readonly createdAt: number
  /** The one that runs. */
  readonly current: boolean
}

/** A domain application as the API keeps it; {@link DomainApp} is what calls are admitted by. */
export interface DomainAppRecord {
  readonly id: string
  readonly projectId: string
  readonly name: string
  /** Letters, digits and dashes; the domain is made of it. Absent where the file names the domain. */
  readonly identifier?: string
  readonly domain: string
  /** User part of the request-URI that it takes; `*`: any. */
  readonly user: string
  readonly ipAuthEnabled: boolean
  /** CIDRs. */
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

/** What of a domain application is the store's own to say. */
type MadeByStore = 'id' | 'projectId' | 'domain' | 'managedByFile' | 'createdAt' | 'updatedAt'

/** Domain applications; reads are of memory. */
export interface DomainApps {
  find(projectId: string, id: string): DomainAppRecord | undefined
  list(
    projectId: string,
    query: ListPage & { readonly name?: string; readonly domain?: string },
  ): Listed<DomainAppRecord>
  /** `domain_taken`. */
  create(
    projectId: string,
    app: Omit<DomainAppRecord, MadeByStore> & { readonly identifier: string },
  ): Promise<DomainAppRecord>
  /** `unknown_resource`, `managed_by_file`, `domain_taken`. Null takes something away. */
  update(
    projectId: string,
    id: string,
    change: { readonly [K in keyof Omit<DomainAppRecord, MadeByStore>]?: DomainAppRecord[K] | null },
  ): Promise<DomainAppRecord>
  /** `unknown_resource`, `managed_by_file`. */
  remove(projectId: string, id: string): Promise<void>
}

/**
 * A carrier as the configuration file would declare it (`carriers` in docs/configuration.md), but for files
 * and its project.
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

/** A carrier as the API keeps it. Times in milliseconds since 1970. */
export interface CarrierRecord {
  readonly id: string
  readonly projectId: string
  readonly name: string
  /** What was given, without passwords. */
  readonly entry: CarrierEntry
  readonly managedByFile: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** Carriers that projects bring; reads are of memory. */
export interface ProjectCarriers {
  find(projectId: string, id: string): CarrierRecord | undefined
  list(projectId: string, query: ListPage): Listed<CarrierRecord>
  /** `invalid_field`, `name_taken`, `over_quota`. */
  create(projectId: string, entry: CarrierEntry): Promise<CarrierRecord>
  /**
   * In place of the whole entry; a password that is not given stays where its user name does. As {@link
   * create}, `unknown_resource`, `managed_by_file`.
   */
  replace(projectId: string, id: string, entry: CarrierEntry): Promise<CarrierRecord>
  /** `unknown_resource`, `managed_by_file`. */
  remove(projectId: string, id: string): Promise<void>
}

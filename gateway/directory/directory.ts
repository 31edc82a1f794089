import type { HandlerSpec, Target } from '../calls/ports.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { type DirectoryConfig, declaredBy, parseAddress } from './declared.ts'
import { migrate } from './migrations.ts'
import { Passwords } from './passwords.ts'
import { provision } from './provision.ts'
import { openSqliteStore, type Store } from './sqlite.ts'
import type { AddressRecord, Directory, DomainApp, SipEndpoint, Subscriber } from './types.ts'

/** What the directory is made from. */
export interface DirectoryOptions {
  /** The SQLite file, or `:memory:`. Its folder must exist. */
  readonly file: string
  /** What the configuration file declares. */
  readonly config: DirectoryConfig
  /** Key that is kept apart from the store; it tells whether a declared password changed. At least 16 bytes. */
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'info'>
}

/**
 * Opens the store, brings it to the present version, puts into it what the file declares, and reads it into memory.
 * Throws when the store cannot be opened, is newer than this release, or the file declares something twice.
 */
export const createDirectory = async (options: DirectoryOptions): Promise<Directory> => {
  const { file, config, secret, clock, log } = options
  const declared = declaredBy(config)
  const store = openSqliteStore(file)
  try {
    const version = await migrate(store, clock)
    const passwords = new Passwords()
    await provision(store, declared, { secret, passwords }, clock.now())
    const contents = await load(store)
    log.info(
      { file, version, domains: contents.domains.length, addresses: contents.entries.length },
      'directory ready',
    )
    return new LoadedDirectory(store, contents, passwords, await passwords.hash('nobody'))
  } catch (error) {
    await store.destroy()
    throw error
  }
}

/** An address and what it stands for. */
interface Entry {
  readonly record: AddressRecord
  readonly handler: HandlerSpec | undefined
  readonly subscriber: Subscriber | undefined
  readonly passwordHash: string | undefined
}

interface Contents {
  readonly domains: readonly DomainApp[]
  readonly entries: readonly Entry[]
}

class LoadedDirectory implements Directory {
  #store: Store
  #domains: ReadonlyMap<string, DomainApp>
  #byAddress: ReadonlyMap<string, Entry>
  #bySubscriber = new Map<string, Entry>()
  #byEmail = new Map<string, Entry>()
  #endpoints = new Map<string, SipEndpoint>()
  #endpointsByName = new Map<string, SipEndpoint>()
  #addresses: readonly AddressRecord[]
  #passwords: Passwords
  #dummyHash: string
  #closed = false

  constructor(store: Store, contents: Contents, passwords: Passwords, dummyHash: string) {
    this.#store = store
    this.#passwords = passwords
    this.#dummyHash = dummyHash
    this.#domains = new Map(contents.domains.map((d) => [d.domain, d]))
    this.#byAddress = new Map(contents.entries.map((e) => [pathOf(e.record), e]))
    this.#addresses = contents.entries.map((e) => e.record)
    for (const entry of contents.entries) {
      if (!entry.subscriber) continue
      this.#bySubscriber.set(entry.subscriber.id, entry)
      this.#byEmail.set(entry.subscriber.email, entry)
    }
  }

  domainApp(host: string): DomainApp | undefined {
    return this.#domains.get(host.toLowerCase())
  }

  subscriber(id: string): Subscriber | undefined {
    return this.#bySubscriber.get(id)?.subscriber
  }

  subscriberByEmail(email: string): Subscriber | undefined {
    return this.#byEmail.get(email.toLowerCase())?.subscriber
  }

  endpointByName(username: string): SipEndpoint | undefined {
    return this.#endpointsByName.get(username)
  }

  endpoint(id: string): SipEndpoint | undefined {
    return this.#endpoints.get(id)
  }

  async signIn(email: string, password: string): Promise<Subscriber | undefined> {
    const entry = this.#byEmail.get(email.toLowerCase())
    // An unknown e-mail costs what a known one does.
    const matches = await this.#passwords.verify(password, entry?.passwordHash ?? this.#dummyHash)
    return matches ? entry?.subscriber : undefined
  }

  addresses(): readonly AddressRecord[] {
    return this.#addresses
  }

  resolve(to: string): Target | undefined {
    const text = to.trim()
    if (/^sips?:[^\s]+$/i.test(text)) return { kind: 'sip', uri: text }
    const parts = parseAddress(text)
    const entry = parts && this.#byAddress.get(pathOf(parts))
    if (!entry) return undefined
    const address = pathOf(entry.record)
    if (entry.subscriber) return { kind: 'subscriber', subscriberId: entry.subscriber.id, address }
    return entry.handler && { kind: 'handler', handler: entry.handler, address }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    void this.#store.destroy()
  }
}

const pathOf = ({ context, name }: { context: string; name: string }): string => `/${context}/${name}`

const load = async (store: Store): Promise<Contents> => ({
  domains: await loadDomains(store),
  entries: await loadEntries(store),
})

const loadDomains = async (store: Store): Promise<DomainApp[]> => {
  const rows = await store.selectFrom('domain_app').selectAll().orderBy('domain').execute()
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    domain: row.domain,
    allow: parsed<readonly string[]>(row.allow_json),
    handler: parsed<HandlerSpec>(row.handler_json),
    maxCalls: row.max_calls ?? undefined,
  }))
}

const entryRows = (store: Store) =>
  store
    .selectFrom('resource')
    .innerJoin('address', 'address.resource_id', 'resource.id')
    .leftJoin('subscriber', 'subscriber.resource_id', 'resource.id')
    .select(['resource.id as resource_id', 'project_id', 'type', 'display_name', 'handler_json'])
    .select(['address.id as address_id', 'context', 'name', 'address.created_at'])
    .select(['email', 'password_hash', 'first_name', 'last_name', 'may_dial_out'])
    .orderBy('context')
    .orderBy('name')
    .execute()

type EntryRow = Awaited<ReturnType<typeof entryRows>>[number]

const loadEntries = async (store: Store): Promise<Entry[]> =>
  (await entryRows(store)).map((row) => ({
    record: {
      id: row.address_id,
      resourceId: row.resource_id,
      context: row.context,
      name: row.name,
      displayName: row.display_name,
      type: row.type,
      createdAt: Number(row.created_at),
    },
    handler: parsed<HandlerSpec>(row.handler_json),
    subscriber: subscriberOf(row),
    passwordHash: row.password_hash ?? undefined,
  }))

const subscriberOf = (row: EntryRow): Subscriber | undefined =>
  row.email === null
    ? undefined
    : {
        id: row.resource_id,
        projectId: row.project_id,
        email: row.email,
        address: pathOf(row),
        addressId: row.address_id,
        displayName: row.display_name,
        firstName: row.first_name ?? '',
        lastName: row.last_name ?? '',
        mayDialOut: row.may_dial_out === 1,
      }

// Only this module's own provisioning writes these columns.
const parsed = <T>(json: string | null): T | undefined =>
  json === null ? undefined : (JSON.parse(json) as T)

import { canonicalHost } from '../../config/networks.ts'
import type { Target } from '../calls/ports.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { CallbackRows } from './callbacks.ts'
import { type DirectoryConfig, declaredBy, parseAddress } from './declared.ts'
import { type Contents, type Entry, load, pathOf } from './load.ts'
import { migrate } from './migrations.ts'
import { Passwords } from './passwords.ts'
import { provision } from './provision.ts'
import { RecordingRows } from './recordings.ts'
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
  /** What a telephone number stands for (digits, with or without a plus): a carrier's address. Default: nothing. */
  readonly numberTarget?: (number: string) => Target | undefined
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
    const dummyHash = await passwords.hash('nobody')
    return new LoadedDirectory({ store, contents, passwords, dummyHash, numberTarget: options.numberTarget })
  } catch (error) {
    await store.destroy()
    throw error
  }
}

interface Parts {
  readonly store: Store
  readonly contents: Contents
  readonly passwords: Passwords
  /** What the password of somebody unknown is compared with. */
  readonly dummyHash: string
  readonly numberTarget: DirectoryOptions['numberTarget']
}

class LoadedDirectory implements Directory {
  readonly recordings: RecordingRows
  readonly callbacks: CallbackRows
  #parts: Parts
  #domains: ReadonlyMap<string, DomainApp>
  #byAddress: ReadonlyMap<string, Entry>
  #bySubscriber = new Map<string, Entry>()
  #byEmail = new Map<string, Entry>()
  #endpoints = new Map<string, SipEndpoint>()
  #endpointsByName = new Map<string, SipEndpoint>()
  #addresses: readonly AddressRecord[]
  #closed = false

  constructor(parts: Parts) {
    const { contents } = parts
    this.#parts = parts
    this.recordings = new RecordingRows(parts.store)
    this.callbacks = new CallbackRows(parts.store)
    this.#domains = new Map(contents.domains.map((d) => [d.domain, d]))
    this.#byAddress = new Map(contents.entries.map((e) => [pathOf(e.record), e]))
    this.#addresses = contents.entries.map((e) => e.record)
    for (const entry of contents.entries) {
      const { subscriber, endpoint } = entry
      if (subscriber) this.#bySubscriber.set(subscriber.id, entry)
      if (subscriber) this.#byEmail.set(subscriber.email, entry)
      if (endpoint) this.#endpoints.set(endpoint.id, endpoint)
      if (endpoint) this.#endpointsByName.set(endpoint.username, endpoint)
    }
  }

  domainApp(host: string): DomainApp | undefined {
    return this.#domains.get(canonicalHost(host))
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
    const { passwords, dummyHash } = this.#parts
    const matches = await passwords.verify(password, entry?.passwordHash ?? dummyHash)
    return matches ? entry?.subscriber : undefined
  }

  addresses(): readonly AddressRecord[] {
    return this.#addresses
  }

  resolve(to: string): Target | undefined {
    const text = to.trim()
    if (/^sips?:[^\s]+$/i.test(text)) return { kind: 'sip', uri: text }
    if (/^\+?\d{1,32}$/.test(text)) return this.#parts.numberTarget?.(text)
    const parts = parseAddress(text)
    const entry = parts && this.#byAddress.get(pathOf(parts))
    if (!entry) return undefined
    const address = pathOf(entry.record)
    if (entry.subscriber) return { kind: 'subscriber', subscriberId: entry.subscriber.id, address }
    // Its handler is for the calls that it makes.
    if (entry.endpoint) return { kind: 'endpoint', endpointId: entry.endpoint.id, address }
    return entry.handler && { kind: 'handler', handler: entry.handler, address }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    void this.#parts.store.destroy()
  }
}

import type { ProjectLimits } from '../../config/types.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { Sealing } from '../core/sealing.ts'
import type { AddressBook, Target } from '../model.ts'
import { type Changed, Memory } from './index/memory.ts'
import { OtherGateways } from './index/other-gateways.ts'
import { Refresh } from './index/refresh.ts'
import { StoredCarriers } from './index/stored-carriers.ts'
import { migrate } from './migrations/run.ts'
import { defaultSilence } from './model/agent-script.ts'
import type { DomainApp, Senders, SipEndpoint, Subscriber } from './model/callers.ts'
import type { DomainApps, ProjectCarriers, Projects, Resources } from './model/ports.ts'
import type { FoundRoom } from './model/resource-types.ts'
import type { DirectoryOptions } from './opening/directory-options.ts'
import { openEngine } from './opening/open-engine.ts'
import type { PreparedStep } from './provision/config-followers.ts'
import { type DeclaringConfig, declaredBy, realmsOf } from './provision/declared.ts'
import { provision } from './provision/provision.ts'
import { Redeclaring } from './provision/redeclaring.ts'
import type { ConnectionUse, Engine, News } from './store/engine.ts'
import type { Store, Write } from './store/sqlite.ts'
import { forgetDevices } from './tables/devices.ts'
import { RecordingRows } from './tables/recordings.ts'
import { RoomStreams, sealingOfStreams } from './tables/room-streams.ts'
import { StoredDomainApps } from './writing/domain-apps.ts'
import { Passwords } from './writing/passwords.ts'
import { StoredProjectCarriers } from './writing/project-carriers.ts'
import { Quotas } from './writing/quotas.ts'
import { StoredResources } from './writing/resources.ts'
import { StoredProjects } from './writing/stored-projects.ts'
import type { WritingDeps } from './writing/writing-deps.ts'

/**
 * Subscribers, endpoints and callable addresses. Every look-up uses memory; the store is read at start and
 * after changes.
 */
export interface Directory extends AddressBook {
  /** Finds a domain application by the host of a request-URI, ignoring case. */
  domainApp(host: string): DomainApp | undefined
  subscriber(id: string): Subscriber | undefined
  subscriberByEmail(projectId: string, email: string): Subscriber | undefined
  /** Finds an endpoint by its digest user name, case-sensitive. */
  endpointByName(username: string): SipEndpoint | undefined
  endpoint(id: string): SipEndpoint | undefined
  /**
   * Verifies a password in constant time, whether or not the subscriber exists. A disabled subscriber cannot
   * sign in.
   */
  signIn(projectId: string, email: string, password: string): Promise<Subscriber | undefined>
  /**
   * Changes properties that are not part of the resource. A push key that exists is kept. Rejects with
   * `unknown_resource`.
   */
  changeSubscriber(
    projectId: string,
    id: string,
    change: Partial<Pick<Subscriber, 'disabled' | 'tokensAfter' | 'pushKey' | 'doNotDisturb'>>,
  ): Promise<void>
  readonly resources: Resources
  /** Finds a room of a project by its name at `/public/<name>`, or by its address `/context/name`. */
  room(name: string, projectId: string): FoundRoom
  /**
   * Adds a listener that gets the ids of resources that were created, changed or removed by any gateway, once
   * reads show the change.
   */
  onResources(listener: (ids: readonly string[]) => void): void
  readonly domainApps: DomainApps
  readonly projects: Projects
  readonly carriers: ProjectCarriers
  /**
   * Sets the listener for the senders of calls and the carriers; called immediately and after each change.
   */
  onSenders(listener: (senders: Senders) => void): void
  /** For queries that always use the store. */
  readonly store: Store
  /** Recordings of calls; always queried in the store, as there may be many. */
  readonly recordings: RecordingRows
  /** Streams that start with the sessions of rooms; always queried in the store. */
  readonly roomStreams: RoomStreams
  /**
   * Adds a listener for changes by other gateways, called once reads show the change. A listener that rejects
   * is later called with `anything`.
   */
  onElsewhere(listener: (news: News) => Promise<void> | void): void
  /**
   * Prepares the declarations of another configuration; returns undefined if they are the same. Throws if an
   * entry is malformed or declared twice.
   */
  prepareDeclared(next: DeclaringConfig, now: DeclaringConfig): Promise<PreparedStep | undefined>
  /** Runs `work` in one transaction, during which no other gateway can change its declarations. */
  transaction(work: (write: Write) => Promise<void>): Promise<void>
  /** Connections to the database server; undefined without one. */
  readonly connections: ConnectionUse | undefined
  /** Idempotent. */
  close(): Promise<void>
}

const defaultLimits: ProjectLimits = {
  subscribers: 200_000,
  resources: 10_000,
  domainApps: 1_000,
  carriers: 100,
  tokens: 100,
}

/**
 * Opens the store, migrates it, applies the file's declarations, and reads it into memory. Throws if the
 * store cannot be opened or is newer than this release, or if the file declares something twice.
 */
export const createDirectory = async (options: DirectoryOptions): Promise<Directory> => {
  const { config, secret, clock, log, passwords = new Passwords() } = options
  const declared = declaredBy(config)
  const engine = await openEngine(options)
  const { store } = engine
  let others: OtherGateways | undefined
  try {
    const version = await migrate(store, clock, engine.lock)
    await provision(engine, declared, { secret, passwords }, clock.now())
    const sealing = new Sealing(secret, 'passwords of carriers')
    const fault = (carrier: string, err: unknown) =>
      log.error({ event: 'carrier.unusable', carrier, err }, 'stored carrier cannot be used')
    const memory = new Memory(options.numberTarget, new StoredCarriers({ sealing, fault }))
    memory.contents.silence = config.agents?.silence ?? defaultSilence
    const refresh = new Refresh(store, memory)
    others = new OtherGateways({ refresh, clock, log })
    await engine.listen((news) => others?.take(news))
    await refresh.everything()
    log.info(
      {
        event: 'directory.opened',
        store: engine.name,
        version,
        domains: memory.domains.size,
        addresses: memory.contents.size,
      },
      'directory opened',
    )
    const { limits = defaultLimits, domainSuffix = 'dapp.localhost' } = options
    // Schedules a complete reading after a change that could not be read.
    const noteMissed = (error: unknown) => {
      others?.missed()
      throw error
    }
    const quotas = new Quotas(limits)
    const changed = (what: Changed) => refresh.changed(what).catch(noteMissed)
    const writing: WritingDeps = { store, memory, changed, quotas, clock }
    const domainApps = new StoredDomainApps(writing, domainSuffix)
    const carriers = new StoredProjectCarriers(writing, sealing)
    carriers.declare(config.carriers ?? [], config.project)
    const redeclaring = new Redeclaring({
      store,
      hashing: { secret, passwords },
      clock,
      quotas,
      domainApps,
      carriers,
      contents: memory.contents,
      refresh: () => refresh.everything().catch(noteMissed),
    })
    const writers = {
      resources: new StoredResources(writing, passwords, realmsOf(config)),
      domainApps,
      projects: new StoredProjects(writing),
      carriers,
      roomStreams: new RoomStreams(store, sealingOfStreams(secret), clock, log),
    }
    const dummyHash = await passwords.hash('unknown')
    return new LoadedDirectory({
      engine,
      others,
      memory,
      changed,
      writers,
      passwords,
      dummyHash,
      redeclaring,
    })
  } catch (error) {
    others?.close()
    await engine.close()
    throw error
  }
}

interface LoadedDirectoryDeps {
  readonly engine: Engine
  readonly others: OtherGateways
  readonly memory: Memory
  /** See {@link WritingDeps.changed}. */
  readonly changed: WritingDeps['changed']
  readonly writers: Pick<Directory, 'resources' | 'domainApps' | 'projects' | 'carriers' | 'roomStreams'>
  readonly passwords: Passwords
  /** Hash that is compared with the given password if the subscriber is unknown. */
  readonly dummyHash: string
  readonly redeclaring: Redeclaring
}

class LoadedDirectory implements Directory {
  readonly store: Store
  readonly recordings: RecordingRows
  readonly resources: Resources
  readonly domainApps: DomainApps
  readonly projects: Projects
  readonly carriers: ProjectCarriers
  readonly roomStreams: RoomStreams
  readonly #deps: LoadedDirectoryDeps
  readonly #memory: Memory

  constructor(deps: LoadedDirectoryDeps) {
    const { engine, memory, writers } = deps
    this.#deps = deps
    this.#memory = memory
    this.store = engine.store
    this.recordings = new RecordingRows(engine.store)
    this.resources = writers.resources
    this.domainApps = writers.domainApps
    this.projects = writers.projects
    this.carriers = writers.carriers
    this.roomStreams = writers.roomStreams
  }

  domainApp(host: string): DomainApp | undefined {
    return this.#memory.domainApp(host)
  }

  subscriber(id: string): Subscriber | undefined {
    return this.#memory.contents.byId(id)?.subscriber
  }

  subscriberByEmail(projectId: string, email: string): Subscriber | undefined {
    return this.#memory.contents.byEmail(projectId, email)?.subscriber
  }

  endpointByName(username: string): SipEndpoint | undefined {
    return this.#memory.endpointByName(username)
  }

  endpoint(id: string): SipEndpoint | undefined {
    return this.#memory.endpoint(id)
  }

  async signIn(projectId: string, email: string, password: string): Promise<Subscriber | undefined> {
    const entry = this.#memory.contents.byEmail(projectId, email)
    // A sign-in with an unknown e-mail takes as long as one with a known e-mail.
    const { passwords, dummyHash } = this.#deps
    const matches = await passwords.verify(password, entry?.passwordHash ?? dummyHash)
    const known = matches && entry?.passwordHash !== undefined && !entry.subscriber?.disabled
    return known ? entry.subscriber : undefined
  }

  async changeSubscriber(
    projectId: string,
    id: string,
    { disabled, tokensAfter, pushKey, doNotDisturb }: Parameters<Directory['changeSubscriber']>[2],
  ): Promise<void> {
    const subscriber = this.subscriber(id)
    if (subscriber?.projectId !== projectId) throw new TrunklineError('unknown_resource')
    await this.store.transaction().execute(async (write) => {
      await write
        .updateTable('subscriber')
        .set((eb) => ({
          ...(tokensAfter !== undefined && { tokens_after: tokensAfter }),
          ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
          ...(doNotDisturb !== undefined && { do_not_disturb: doNotDisturb ? 1 : 0 }),
          ...(pushKey !== undefined && { push_key: eb.fn.coalesce('push_key', eb.val(pushKey)) }),
        }))
        .where('resource_id', '=', id)
        .execute()
      if (tokensAfter !== undefined || disabled) await forgetDevices(write, id)
    })
    await this.#deps.changed({ resources: [id] })
  }

  resolve(to: string, projectId: string): Target | undefined {
    return this.#memory.resolve(to, projectId)
  }

  room(name: string, projectId: string): FoundRoom {
    return this.#memory.room(name, projectId)
  }

  onResources(listener: (ids: readonly string[]) => void): void {
    this.#memory.onResources(listener)
  }

  onSenders(listener: (senders: Senders) => void): void {
    const { domains, carriers } = this.#memory
    const tell = () =>
      listener({
        domains: [...domains.all].map(({ record, admission }) => ({
          allow: admission.allow,
          challenge: admission.challenge,
          project: record.projectId,
          guarded: !record.managedByFile,
        })),
        carriers: carriers.all.flatMap(({ config }) => config ?? []),
      })
    this.#memory.onSenders = tell
    tell()
  }

  onElsewhere(listener: (news: News) => Promise<void> | void): void {
    this.#deps.others.on(listener)
  }

  prepareDeclared(
    ...args: Parameters<Directory['prepareDeclared']>
  ): ReturnType<Directory['prepareDeclared']> {
    return this.#deps.redeclaring.prepare(...args)
  }

  transaction(work: (write: Write) => Promise<void>): Promise<void> {
    return this.store.transaction().execute(async (write) => {
      await this.#deps.engine.lock(write)
      await work(write)
    })
  }

  get connections(): ConnectionUse | undefined {
    return this.#deps.engine.connections()
  }

  close(): Promise<void> {
    this.#deps.others.close()
    return this.#deps.engine.close()
  }
}

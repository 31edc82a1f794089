import { randomUUID } from 'node:crypto'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { listResources } from '../index/listing.ts'
import { digestSecret } from '../model/digest-secret.ts'
import type { AgentVersionRecord, AgentVersionSummary, FlowVersionRecord, Resources } from '../model/ports.ts'
import type {
  AgentDetails,
  DetailsChange,
  NewResource,
  Resource,
  ResourceChange,
  ResourceDetails,
  ResourceType,
} from '../model/resource-types.ts'
import type { Write } from '../store/sqlite.ts'
import { forgetDevices } from '../tables/devices.ts'
import { agentVersion, agentVersions, keepAgentVersion, restoreAgent } from './agent-versions.ts'
import { rejectConflicts } from './conflicts.ts'
import { columnsOf, merged } from './details.ts'
import { deployFlow, flowVersions } from './flows.ts'
import { lockResource } from './lock-resource.ts'
import { addressFor, checkedName } from './names.ts'
import type { Passwords } from './passwords.ts'
import { changeable, present, type WritingDeps } from './writing-deps.ts'

/** Resources of the store. */
export class StoredResources implements Resources {
  readonly #deps: WritingDeps
  readonly #passwords: Pick<Passwords, 'hash'>
  readonly #realms: readonly string[]

  /** `realms`: hosts at which SIP endpoints register. */
  constructor(deps: WritingDeps, passwords: Pick<Passwords, 'hash'>, realms: readonly string[]) {
    this.#deps = deps
    this.#passwords = passwords
    this.#realms = realms
  }

  find<T extends ResourceType>(projectId: string, type: T, id: string): Resource<T> | undefined
  find(projectId: string, type: undefined, id: string): Resource | undefined
  find(projectId: string, type: ResourceType | undefined, id: string): Resource | undefined {
    const resource = this.#deps.memory.contents.byId(id)?.resource
    return resource && own(resource, projectId) && (type === undefined || resource.type === type)
      ? resource
      : undefined
  }

  findByAddressId(projectId: string, addressId: string): Resource | undefined {
    const resource = this.#deps.memory.contents.byAddressId(addressId)?.resource
    return resource && own(resource, projectId) ? resource : undefined
  }

  findByAddress(projectId: string, context: string, name: string): Resource | undefined {
    return this.#deps.memory.contents.byAddress(projectId, { context, name })?.resource
  }

  findSubscriber(projectId: string, email: string): Resource<'subscriber'> | undefined {
    const resource = this.#deps.memory.contents.byEmail(projectId, email)?.resource
    return resource?.type === 'subscriber' ? resource : undefined
  }

  list(projectId: string, query: Parameters<Resources['list']>[1]) {
    return listResources(this.#deps.memory.contents, projectId, query)
  }

  async create<T extends ResourceType>(resource: NewResource<T>): Promise<Resource<T>> {
    const { projectId } = resource
    this.#checkHandler(projectId, resource.details)
    const isPerson = resource.type === 'subscriber'
    const id = await this.#deps.quotas.within(
      projectId,
      isPerson ? 'subscribers' : 'resources',
      () => this.#deps.memory.contents.made(projectId, isPerson),
      () => this.#create(resource),
    )
    return present(this.find(projectId, resource.type as T, id))
  }

  async update<T extends ResourceType>(
    projectId: string,
    type: T,
    id: string,
    change: ResourceChange<T>,
  ): Promise<Resource<T>> {
    const { store, changed } = this.#deps
    this.#checkHandler(projectId, change.details)
    const hash =
      type === 'subscriber' && change.password !== undefined
        ? await this.#passwords.hash(change.password)
        : undefined
    await rejectConflicts(
      store.transaction().execute(async (write) => {
        await this.#change(write, projectId, type, id, change, hash)
      }),
    )
    await changed({ resources: [id] })
    return present(this.find(projectId, type, id))
  }

  async remove(projectId: string, type: ResourceType | undefined, id: string): Promise<void> {
    changeable(type === undefined ? this.find(projectId, type, id) : this.find(projectId, type, id))
    const { store, changed } = this.#deps
    const { numDeletedRows } = await store
      .deleteFrom('resource')
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .where('managed_by_file', '=', 0)
      .executeTakeFirst()
    await changed({ resources: [id] })
    if (numDeletedRows === 0n) throw new TrunklineError('unknown_resource')
  }

  /**
   * Checks that the resource of a handler source belongs to the project. The resource may still be removed
   * later.
   */
  #checkHandler(projectId: string, details: DetailsChange = {}): void {
    const handler = 'handler' in details ? details.handler : undefined
    if (handler?.kind !== 'resource' || this.find(projectId, undefined, handler.resourceId)) return
    const facts = { attribute: 'calling_handler_resource_id' }
    throw new TrunklineError('invalid_field', 'No resource with this id can handle calls.', facts)
  }

  flowVersions(projectId: string, id: string): Promise<readonly FlowVersionRecord[]> {
    return flowVersions(this.#deps.store, projectId, id)
  }

  async deployFlow(
    projectId: string,
    id: string,
    version?: number | { readonly id: string },
  ): Promise<FlowVersionRecord> {
    const { store, changed, clock } = this.#deps
    const deployed = await store
      .transaction()
      .execute((write) => deployFlow(write, { projectId, id, version, now: clock.now() }))
    await changed({ resources: [id] })
    return deployed
  }

  agentVersions(projectId: string, id: string): Promise<readonly AgentVersionSummary[]> {
    return agentVersions(this.#deps.store, projectId, id)
  }

  agentVersion(projectId: string, id: string, versionId: string): Promise<AgentVersionRecord | undefined> {
    return agentVersion(this.#deps.store, projectId, id, versionId)
  }

  async restoreAgent(
    projectId: string,
    id: string,
    version: number | { readonly id: string },
  ): Promise<AgentVersionRecord> {
    const { store, changed, clock } = this.#deps
    const restored = await store
      .transaction()
      .execute((write) => restoreAgent(write, { projectId, id, version, now: clock.now() }))
    await changed({ resources: [id] })
    return restored
  }

  async #create(resource: NewResource): Promise<string> {
    const { store, memory, changed } = this.#deps
    const id = randomUUID()
    const hash =
      resource.type === 'subscriber' && resource.password !== undefined
        ? await this.#passwords.hash(resource.password)
        : null
    const insert = (isTaken: boolean) => {
      const address = addressFor(memory.contents, resource, isTaken)
      return rejectConflicts(
        store.transaction().execute((write) => this.#insert(write, id, resource, address, hash)),
      )
    }
    await insert(false).catch((error: unknown) => {
      // Another request took the name first. A generated name is generated again.
      const again =
        resource.name === undefined && error instanceof TrunklineError && error.code === 'address_taken'
      if (!again) throw error
      return insert(true)
    })
    await changed({ resources: [id] })
    return id
  }

  async #insert(
    write: Write,
    id: string,
    { projectId, type, displayName, details, password }: NewResource,
    address: { readonly context: string; readonly name: string },
    hash: string | null,
  ): Promise<void> {
    const now = this.#deps.clock.now()
    const { email, username, rest } = columnsOf(type, details)
    const row = { id, project_id: projectId, type, display_name: displayName, managed_by_file: 0 }
    await write
      .insertInto('resource')
      .values({ ...row, details_json: JSON.stringify(rest), created_at: now, updated_at: now })
      .execute()
    await write
      .insertInto('address')
      .values({ id: randomUUID(), resource_id: id, project_id: projectId, ...address, created_at: now })
      .execute()
    if ('settings' in details) await keepAgentVersion(write, id, { settings: details.settings, now })
    if (email !== undefined)
      await write
        .insertInto('subscriber')
        .values({
          resource_id: id,
          project_id: projectId,
          email,
          password_hash: hash,
          password_mark: null,
          disabled: 0,
          tokens_after: 0,
          push_key: null,
        })
        .execute()
    if (username !== undefined)
      await write
        .insertInto('endpoint')
        .values({ resource_id: id, username, secrets_json: this.#secrets(username, password) })
        .execute()
  }

  async #change(
    write: Write,
    projectId: string,
    type: ResourceType,
    id: string,
    change: ResourceChange,
    hash: string | undefined,
  ): Promise<void> {
    const now = this.#deps.clock.now()
    const before = await lockResource(write, { projectId, id, type, now })
    const details = JSON.parse(before.details_json)
    const { details: changed = {} } = change
    const { email, username, rest } = columnsOf(
      type,
      (typeof changed === 'function' ? changed(details) : changed) as Partial<ResourceDetails[ResourceType]>,
    )
    await write
      .updateTable('resource')
      .set({
        display_name: change.displayName ?? before.display_name,
        details_json: JSON.stringify(merged(type, details, rest)),
      })
      .where('id', '=', id)
      .execute()
    const { settings } = rest as Partial<AgentDetails>
    if (type === 'ai_agent' && settings)
      await keepAgentVersion(write, id, { settings, before: details.settings, now })
    await this.#move(write, id, change)
    if (type === 'subscriber') await this.#changePerson(write, id, email, hash, now)
    if (type === 'sip_endpoint') await this.#changePhone(write, id, username, change.password)
  }

  async #move(write: Write, id: string, { context, name }: ResourceChange): Promise<void> {
    if (context === undefined && name === undefined) return
    await write
      .updateTable('address')
      .set({
        ...(context !== undefined && { context: checkedName(context, 'context') }),
        ...(name !== undefined && { name: checkedName(name, 'name') }),
      })
      .where('resource_id', '=', id)
      .execute()
  }

  /**
   * Writes a subscriber. A new password invalidates the subscriber's tokens and removes the subscriber's
   * devices.
   */
  async #changePerson(
    write: Write,
    id: string,
    email: string | undefined,
    hash: string | undefined,
    now: number,
  ): Promise<void> {
    if (email === undefined && hash === undefined) return
    if (hash !== undefined) await forgetDevices(write, id)
    await write
      .updateTable('subscriber')
      .set({
        ...(email !== undefined && { email }),
        ...(hash !== undefined && { password_hash: hash, password_mark: null, tokens_after: now }),
      })
      .where('resource_id', '=', id)
      .execute()
  }

  /** Writes a SIP endpoint. Digest secrets depend on the user name, so a new user name needs the password. */
  async #changePhone(
    write: Write,
    id: string,
    username: string | undefined,
    password: string | undefined,
  ): Promise<void> {
    if (username === undefined && password === undefined) return
    const before = await write
      .selectFrom('endpoint')
      .select('username')
      .where('resource_id', '=', id)
      .executeTakeFirstOrThrow()
    const name = username ?? before.username
    if (name === before.username && password === undefined) return
    if (password === undefined)
      throw new TrunklineError('invalid_field', 'A new user name requires the password.', {
        attribute: 'password',
      })
    await write
      .updateTable('endpoint')
      .set({ username: name, secrets_json: this.#secrets(name, password) })
      .where('resource_id', '=', id)
      .execute()
  }

  #secrets(username: string, password: string | undefined): string {
    if (password === undefined) return '[]'
    return JSON.stringify(this.#realms.map((realm) => digestSecret(username, realm, password)))
  }
}

const own = (resource: Resource, projectId: string): boolean => resource.projectId === projectId

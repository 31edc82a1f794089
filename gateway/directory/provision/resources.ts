import { randomUUID } from 'node:crypto'
import type { Write } from '../store/sqlite.ts'
import { forgetDevices } from '../tables/devices.ts'
import type { DeclaredResource } from './declared.ts'

/** Stored form of a password. */
export interface Credential {
  readonly hash: string
  readonly mark: string
}

/** Stored resource that a declaration of the file may refer to. */
interface Existing {
  readonly id: string
  readonly project_id: string
  readonly type: DeclaredResource['type']
  readonly display_name: string
  readonly details_json: string
  readonly managed_by_file: number
  readonly context: string
  readonly name: string
  readonly email: string | null
  readonly username: string | null
}

/**
 * Removes resources that are no longer in the file, and creates or changes the others. `credentials`: by
 * {@link personKey}. Returns the id of each resource of the file.
 */
export const provisionResources = async (
  write: Write,
  resources: readonly DeclaredResource[],
  credentials: ReadonlyMap<string, Credential>,
  now: number,
): Promise<ReadonlyMap<DeclaredResource, string>> => {
  const managed = await existing(write).where('managed_by_file', '=', 1).execute()
  const byKey = new Map(managed.map((each) => [keyOfExisting(each), each]))
  const existingOf = new Map<DeclaredResource, Existing | undefined>()
  for (const each of resources) {
    const own = byKey.get(keyOf(each))
    // An endpoint whose project changed in the file is a new resource: resources never move between projects.
    const same = own?.project_id === each.projectId ? own : undefined
    existingOf.set(each, same ?? (await othersOwn(write, each)))
  }
  const ids = new Set([...existingOf.values()].map((each) => each?.id))
  for (const row of managed)
    if (!ids.has(row.id)) await write.deleteFrom('resource').where('id', '=', row.id).execute()
  await vacate(write, existingOf)
  const idOf = new Map<DeclaredResource, string>()
  for (const [resource, before] of existingOf) {
    const id = before?.id ?? randomUUID()
    idOf.set(resource, id)
    await writeResource(write, id, resource, before, now)
    await writeAddress(write, id, resource, now)
    const credential = resource.person && credentials.get(personKey(resource))
    if (credential) await writePerson(write, id, resource, credential, now)
    if (resource.phone) await writePhone(write, id, resource.phone)
  }
  return idOf
}

/** Returns the key that identifies a subscriber. */
export const personKey = ({ projectId, person }: DeclaredResource): string => `${projectId} ${person?.email}`

/**
 * Returns the key that identifies a resource of the file: the e-mail, the user name or otherwise the address.
 */
const keyOf = (resource: DeclaredResource): string => {
  const { phone, person, projectId, context, name } = resource
  if (person) return `person ${personKey(resource)}`
  return phone ? `phone ${phone.username}` : `address ${projectId} /${context}/${name}`
}

const keyOfExisting = ({ type, project_id, email, username, context, name }: Existing): string => {
  if (type === 'subscriber') return `person ${project_id} ${email}`
  return type === 'sip_endpoint' ? `phone ${username}` : `address ${project_id} /${context}/${name}`
}

/**
 * Finds a stored resource that the file declares but did not create. Queried one at a time, because very many
 * resources may exist outside the file.
 */
const othersOwn = async (write: Write, resource: DeclaredResource): Promise<Existing | undefined> => {
  const { phone, person, projectId, context, name } = resource
  const own = existing(write).where('managed_by_file', '=', 0)
  if (phone) return own.where('username', '=', phone.username).executeTakeFirst()
  const ofProject = own.where('resource.project_id', '=', projectId)
  if (person)
    return ofProject
      .where('subscriber.project_id', '=', projectId)
      .where('email', '=', person.email)
      .executeTakeFirst()
  const found = await ofProject
    .where('address.project_id', '=', projectId)
    .where('context', '=', context)
    .where('name', '=', name)
    .executeTakeFirst()
  return found && keyOfExisting(found) === keyOf(resource) ? found : undefined
}

const existing = (write: Write) =>
  write
    .selectFrom('resource')
    .innerJoin('address', 'address.resource_id', 'resource.id')
    .leftJoin('subscriber', 'subscriber.resource_id', 'resource.id')
    .leftJoin('endpoint', 'endpoint.resource_id', 'resource.id')
    .select(['resource.id', 'resource.project_id', 'type', 'display_name', 'details_json', 'managed_by_file'])
    .select(['context', 'name', 'email', 'username'])

/** Clears old addresses before new addresses are set, so that subscribers can swap their addresses. */
const vacate = async (
  write: Write,
  existingOf: ReadonlyMap<DeclaredResource, Existing | undefined>,
): Promise<void> => {
  for (const [resource, before] of existingOf) {
    if (!before || (before.context === resource.context && before.name === resource.name)) continue
    await write
      .updateTable('address')
      .set({ name: `moving ${before.id}` })
      .where('resource_id', '=', before.id)
      .execute()
  }
}

const writeResource = async (
  write: Write,
  id: string,
  { projectId, type, displayName, details }: DeclaredResource,
  before: Existing | undefined,
  now: number,
): Promise<void> => {
  if (before?.username !== null && before !== undefined && before.project_id !== projectId)
    throw new Error(`The endpoint ${before.username} of the file belongs to another project of the store.`)
  const values = {
    type,
    display_name: displayName,
    details_json: JSON.stringify(details),
    managed_by_file: 1,
  }
  if (before && isSame(before, values)) return
  await write
    .insertInto('resource')
    .values({ id, project_id: projectId, created_at: now, updated_at: now, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...values, updated_at: now }))
    .execute()
}

const isSame = (before: Existing, values: Partial<Existing>): boolean =>
  Object.entries(values).every(([key, value]) => before[key as keyof Existing] === value)

const writeAddress = async (
  write: Write,
  resourceId: string,
  { projectId, context, name }: DeclaredResource,
  now: number,
): Promise<void> => {
  const taken = await write
    .selectFrom('address')
    .select('resource_id')
    .where('project_id', '=', projectId)
    .where('context', '=', context)
    .where('name', '=', name)
    .where('resource_id', '!=', resourceId)
    .executeTakeFirst()
  if (taken)
    throw new Error(`The address /${context}/${name} of the file belongs to another resource of the store.`)
  const values = { resource_id: resourceId, project_id: projectId, context, name }
  await write
    .insertInto('address')
    .values({ id: randomUUID(), created_at: now, ...values })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet({ context, name }))
    .execute()
}

/**
 * Writes a subscriber. A new password invalidates the subscriber's tokens and removes the subscriber's
 * devices.
 */
const writePerson = async (
  write: Write,
  resourceId: string,
  { projectId, person }: DeclaredResource,
  { hash, mark }: Credential,
  now: number,
): Promise<void> => {
  const before = await write
    .selectFrom('subscriber')
    .select(['password_mark', 'tokens_after'])
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
  const changed = before !== undefined && before.password_mark !== mark
  if (changed) await forgetDevices(write, resourceId)
  const values = {
    password_hash: hash,
    password_mark: mark,
    tokens_after: changed ? now : Number(before?.tokens_after ?? 0),
  }
  await write
    .insertInto('subscriber')
    .values({
      resource_id: resourceId,
      project_id: projectId,
      email: person?.email ?? '',
      disabled: 0,
      ...values,
    })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet(values))
    .execute()
}

const writePhone = async (
  write: Write,
  resourceId: string,
  { username, secrets }: NonNullable<DeclaredResource['phone']>,
): Promise<void> => {
  const secrets_json = JSON.stringify(secrets)
  await write
    .insertInto('endpoint')
    .values({ resource_id: resourceId, username, secrets_json })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet({ secrets_json }))
    .execute()
}

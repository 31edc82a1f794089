import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Declared, DeclaredPerson, DeclaredPhone, DeclaredResource } from './declared.ts'
import { type Passwords, passwordMark } from './passwords.ts'
import type { Tables } from './schema.ts'
import type { Store } from './sqlite.ts'

type Write = Transaction<Tables>

/** What hashes declared passwords, and the key that tells whether they changed. */
export interface Hashing {
  readonly secret: Uint8Array
  readonly passwords: Pick<Passwords, 'hash'>
}

/** A password as it is stored. */
interface Credential {
  readonly hash: string
  readonly mark: string
}

interface Existing {
  readonly id: string
  readonly type: DeclaredResource['type']
  readonly managed_by_file: number
  readonly context: string
  readonly name: string
  readonly email: string | null
  readonly username: string | null
}

/**
 * Makes the store hold what the file declares, in one transaction: missing rows are made, changed ones updated, and file-managed rows
 * that the file has no longer are removed. A domain is known by its name, a subscriber by the e-mail, an endpoint by its user name, an app by
 * the address; as long as that stays, so does the id. What was made otherwise is left alone, unless the file declares the same thing: then it becomes the file's.
 */
export const provision = async (
  store: Store,
  declared: Declared,
  hashing: Hashing,
  now: number,
): Promise<void> => {
  // Hashing takes long: it is done before the transaction holds the store.
  const credentials = await credentialsFor(store, declared, hashing)
  await store.transaction().execute(async (write) => {
    await provisionDomains(write, declared, now)
    await provisionResources(write, declared, credentials, now)
  })
}

const credentialsFor = async (
  store: Store,
  declared: Declared,
  { secret, passwords }: Hashing,
): Promise<ReadonlyMap<string, Credential>> => {
  const rows = await store
    .selectFrom('subscriber')
    .select(['email', 'password_hash', 'password_mark'])
    .execute()
  const stored = new Map(rows.map((row) => [row.email, row]))
  const people = declared.resources.flatMap((r) => (r.person ? [r.person] : []))
  const entries = people.map(async ({ email, password }): Promise<[string, Credential]> => {
    const mark = passwordMark(secret, email, password)
    const before = stored.get(email)
    const hash = before?.password_mark === mark ? before.password_hash : await passwords.hash(password)
    return [email, { hash, mark }]
  })
  return new Map(await Promise.all(entries))
}

const provisionDomains = async (
  write: Write,
  { projectId, domains }: Declared,
  now: number,
): Promise<void> => {
  const rows = await write.selectFrom('domain_app').select(['id', 'domain', 'managed_by_file']).execute()
  const wanted = new Set(domains.map((d) => d.domain))
  for (const row of rows)
    if (row.managed_by_file === 1 && !wanted.has(row.domain))
      await write.deleteFrom('domain_app').where('id', '=', row.id).execute()
  for (const { domain, ...app } of domains) {
    const values = {
      project_id: projectId,
      allow_json: json(app.allow),
      handler_json: json(app.handler),
      max_calls: app.maxCalls ?? null,
      calls_per_second: app.callsPerSecond ?? null,
      calls_per_second_of_source: app.callsPerSecondOfSource ?? null,
      max_calls_of_source: app.maxCallsOfSource ?? null,
      challenge_json: json(app.challenge),
      codecs_json: json(app.codecs),
      managed_by_file: 1,
    }
    await write
      .insertInto('domain_app')
      .values({ id: randomUUID(), domain, created_at: now, ...values })
      .onConflict((conflict) => conflict.column('domain').doUpdateSet(values))
      .execute()
  }
}

const provisionResources = async (
  write: Write,
  { projectId, resources }: Declared,
  credentials: ReadonlyMap<string, Credential>,
  now: number,
): Promise<void> => {
  const existing = await existingResources(write)
  const kept = new Map(resources.map((resource) => [resource, existing.find((e) => same(e, resource))]))
  const ids = new Set([...kept.values()].map((e) => e?.id))
  for (const row of existing)
    if (row.managed_by_file === 1 && !ids.has(row.id))
      await write.deleteFrom('resource').where('id', '=', row.id).execute()
  await vacate(write, kept)
  for (const [resource, before] of kept) {
    const id = before?.id ?? randomUUID()
    await writeResource(write, id, projectId, resource, now)
    await writeAddress(write, id, resource, now)
    const credential = resource.person && credentials.get(resource.person.email)
    if (resource.person && credential) await writePerson(write, id, resource.person, credential)
    if (resource.phone) await writePhone(write, id, resource.phone)
  }
}

const existingResources = (write: Write): Promise<Existing[]> =>
  write
    .selectFrom('resource')
    .innerJoin('address', 'address.resource_id', 'resource.id')
    .leftJoin('subscriber', 'subscriber.resource_id', 'resource.id')
    .leftJoin('endpoint', 'endpoint.resource_id', 'resource.id')
    .select(['resource.id', 'type', 'managed_by_file', 'context', 'name', 'email', 'username'])
    .execute()

const same = (existing: Existing, { type, person, phone, context, name }: DeclaredResource): boolean => {
  if (existing.type !== type) return false
  if (person) return existing.email === person.email
  if (phone) return existing.username === phone.username
  return existing.context === context && existing.name === name
}

/** Subscribers may trade addresses; each that moves leaves its old one first, so that no two meet on the way. */
const vacate = async (
  write: Write,
  kept: ReadonlyMap<DeclaredResource, Existing | undefined>,
): Promise<void> => {
  for (const [resource, before] of kept) {
    if (!before || (before.context === resource.context && before.name === resource.name)) continue
    await write
      .updateTable('address')
      .set({ context: '', name: before.id })
      .where('resource_id', '=', before.id)
      .execute()
  }
}

const writeResource = async (
  write: Write,
  id: string,
  projectId: string,
  { type, displayName, handler }: DeclaredResource,
  now: number,
): Promise<void> => {
  const values = {
    project_id: projectId,
    display_name: displayName,
    handler_json: json(handler),
    managed_by_file: 1,
  }
  await write
    .insertInto('resource')
    .values({ id, type, created_at: now, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute()
}

const writeAddress = async (
  write: Write,
  resourceId: string,
  { context, name }: DeclaredResource,
  now: number,
): Promise<void> => {
  const taken = await write
    .selectFrom('address')
    .select('resource_id')
    .where('context', '=', context)
    .where('name', '=', name)
    .where('resource_id', '!=', resourceId)
    .executeTakeFirst()
  if (taken)
    throw new Error(`The address /${context}/${name} of the file belongs to another resource of the store.`)
  await write
    .insertInto('address')
    .values({ id: randomUUID(), resource_id: resourceId, context, name, created_at: now })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet({ context, name }))
    .execute()
}

const writePerson = async (
  write: Write,
  resourceId: string,
  person: DeclaredPerson,
  credential: Credential,
): Promise<void> => {
  const values = {
    email: person.email,
    password_hash: credential.hash,
    password_mark: credential.mark,
    first_name: person.firstName,
    last_name: person.lastName,
    may_dial_out: person.mayDialOut ? 1 : 0,
  }
  await write
    .insertInto('subscriber')
    .values({ resource_id: resourceId, ...values })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet(values))
    .execute()
}

const writePhone = async (write: Write, resourceId: string, phone: DeclaredPhone): Promise<void> => {
  const values = {
    username: phone.username,
    caller_id: phone.callerId,
    may_dial_out: phone.mayDialOut ? 1 : 0,
    max_calls: phone.maxCalls,
    calls_per_second: phone.callsPerSecond,
    codecs_json: JSON.stringify(phone.codecs),
    secrets_json: JSON.stringify(phone.secrets),
  }
  await write
    .insertInto('endpoint')
    .values({ resource_id: resourceId, ...values })
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet(values))
    .execute()
}

const json = (value: object | undefined): string | null => (value ? JSON.stringify(value) : null)

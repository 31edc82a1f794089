import { isPasswordHash } from '../../../config/password-hash.ts'
import type { Engine } from '../store/engine.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { sealingOfStreams } from '../tables/room-streams.ts'
import { type Passwords, passwordMark } from '../writing/passwords.ts'
import type { Declared } from './declared.ts'
import { provisionDomains } from './domains.ts'
import { provisionProjects } from './provision-projects.ts'
import { type Credential, personKey, provisionResources } from './resources.ts'
import { provisionStreams } from './streams.ts'

/** Hasher of declared passwords, and the gateway's secret: it detects their changes, and encrypts URLs. */
export interface Hashing {
  readonly secret: Uint8Array
  readonly passwords: Pick<Passwords, 'hash'>
}

/**
 * Applies the declarations of the file to the store, in one transaction. Missing rows are created, changed
 * ones updated, and file-managed rows that left the file removed. A domain is identified by its name, a
 * subscriber by the e-mail, an endpoint by its user name, and any other resource by its address. The row's id
 * stays as long as this key does. Rows that the API created are unchanged, unless the file declares the same
 * resource; then the file manages the row.
 */
export const provision = async (
  { store, lock }: Pick<Engine, 'store' | 'lock'>,
  declared: Declared,
  hashing: Hashing,
  now: number,
): Promise<void> => {
  const provisioning = await prepareProvision(store, declared, hashing)
  await store.transaction().execute(async (write) => {
    await lock(write)
    await provisioning(write, now)
  })
}

/**
 * Hashes the passwords before a transaction locks the store, because hashing is slow. The result performs
 * {@link provision} within a given transaction.
 */
export const prepareProvision = async (
  store: Store,
  declared: Declared,
  hashing: Hashing,
): Promise<(write: Write, now: number) => Promise<void>> => {
  const credentials = await credentialsFor(store, declared, hashing)
  const sealing = sealingOfStreams(hashing.secret)
  return async (write, now) => {
    await provisionProjects(write, declared.projects, now)
    await provisionDomains(write, declared.domains, now)
    const ids = await provisionResources(write, declared.resources, credentials, now)
    const streams = [...ids].map(([{ projectId, streams = [] }, roomId]) => ({ projectId, roomId, streams }))
    await provisionStreams(write, streams, sealing, now)
  }
}

const credentialsFor = async (
  store: Store,
  { resources }: Declared,
  { secret, passwords }: Hashing,
): Promise<ReadonlyMap<string, Credential>> => {
  const rows = await store
    .selectFrom('subscriber')
    .select(['project_id', 'email', 'password_hash', 'password_mark'])
    .where('password_mark', 'is not', null)
    .execute()
  const stored = new Map(rows.map((row) => [`${row.project_id} ${row.email}`, row]))
  const entries = resources.map(async (resource): Promise<[string, Credential][]> => {
    if (!resource.person) return []
    const { email, password } = resource.person
    const mark = passwordMark(secret, email, password)
    const before = stored.get(personKey(resource))
    const known = before?.password_mark === mark ? before.password_hash : null
    const given = isPasswordHash(password) ? password : known
    return [[personKey(resource), { hash: given ?? (await passwords.hash(password)), mark }]]
  })
  return new Map((await Promise.all(entries)).flat())
}

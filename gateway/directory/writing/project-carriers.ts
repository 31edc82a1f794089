import { randomUUID } from 'node:crypto'
import { readCarrierEntry } from '../../../config/carrier-entry.ts'
import type { CarrierConfig } from '../../../config/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Sealing } from '../../core/sealing.ts'
import { pageOf } from '../index/listing.ts'
import { type CarrierSecrets, openedSecrets, withoutSecrets, withSecrets } from '../index/stored-carriers.ts'
import type { CarrierEntry, CarrierRecord, ProjectCarriers } from '../model/ports.ts'
import type { Listed, ListPage } from '../model/resource-types.ts'
import { rejectConflicts } from './conflicts.ts'
import { declaredCarriers } from './declared-carriers.ts'
import { changeable, countCreated, present, type WritingDeps } from './writing-deps.ts'

/**
 * Carriers of projects, from the configuration file and from the API. The API can only read the carriers of
 * the file.
 */
export class StoredProjectCarriers implements ProjectCarriers {
  readonly #deps: WritingDeps
  readonly #sealing: Sealing
  #declared: readonly CarrierRecord[] = []

  /** `sealing` encrypts the passwords. */
  constructor(deps: WritingDeps, sealing: Sealing) {
    this.#deps = deps
    this.#sealing = sealing
  }

  /**
   * Replaces the carriers of the configuration file. `firstProject`: project of the carriers that name no
   * project.
   */
  declare(carriers: readonly CarrierConfig[], firstProject: string): void {
    this.#declared = declaredCarriers(carriers, firstProject)
  }

  find(projectId: string, id: string): CarrierRecord | undefined {
    return this.#ofProject(projectId).find((record) => record.id === id)
  }

  list(projectId: string, query: ListPage): Listed<CarrierRecord> {
    return pageOf(this.#ofProject(projectId), query)
  }

  create(projectId: string, entry: CarrierEntry): Promise<CarrierRecord> {
    const { store, quotas, clock, changed } = this.#deps
    const count = () => countCreated(this.#ofProject(projectId))
    return quotas.within(projectId, 'carriers', count, async () => {
      const id = randomUUID()
      const now = clock.now()
      const row = { ...this.#rowOf(projectId, id, entry), id, created_at: now, updated_at: now }
      await rejectConflicts(store.insertInto('carrier').values(row).execute())
      await changed({ carriers: true })
      return present(this.find(projectId, id))
    })
  }

  async replace(projectId: string, id: string, entry: CarrierEntry): Promise<CarrierRecord> {
    const { store, clock, changed } = this.#deps
    const before = changeable(this.find(projectId, id))
    const stored = await store.selectFrom('carrier').select('secrets').where('id', '=', id).executeTakeFirst()
    const secrets = this.#secretsOf(id, stored?.secrets ?? null)
    const whole = withSecrets(entry, {
      ...(sameAccount(entry, before.entry, 'auth') && { auth: secrets.auth }),
      ...(sameAccount(entry, before.entry, 'challenge') && { challenge: secrets.challenge }),
    })
    const row = { ...this.#rowOf(projectId, id, whole), updated_at: clock.now() }
    await rejectConflicts(store.updateTable('carrier').set(row).where('id', '=', id).execute())
    await changed({ carriers: true })
    return present(this.find(projectId, id))
  }

  async remove(projectId: string, id: string): Promise<void> {
    changeable(this.find(projectId, id))
    const { store, changed } = this.#deps
    await store.deleteFrom('carrier').where('id', '=', id).execute()
    await changed({ carriers: true })
  }

  /** Returns the passwords; empty if another gateway's key has sealed them: they must be set again. */
  #secretsOf(id: string, sealed: string | null): CarrierSecrets {
    try {
      return openedSecrets(id, sealed, this.#sealing)
    } catch {
      return {}
    }
  }

  #rowOf(projectId: string, id: string, given: CarrierEntry) {
    const isDefault = this.#check(projectId, id, given).default
    const { entry, secrets } = withoutSecrets(given)
    const sealed = Object.keys(secrets).length > 0
    return {
      project_id: projectId,
      name: entry.name,
      entry_json: JSON.stringify(entry),
      is_default: isDefault ? (1 as const) : null,
      secrets: sealed ? this.#sealing.seal(JSON.stringify(secrets), id) : null,
    }
  }

  #check(projectId: string, id: string, entry: CarrierEntry): CarrierConfig {
    const read = readCarrierEntry(entry)
    if ('faults' in read) {
      const [first] = read.faults
      const detail = read.faults.map(({ path, message }) => `${path} ${message}`).join('; ')
      throw new TrunklineError('invalid_field', `${detail}.`, { attribute: first?.path || null })
    }
    const others = this.#ofProject(projectId).filter((record) => record.id !== id)
    if (others.some(({ name }) => name === entry.name))
      throw new TrunklineError('name_taken', undefined, { attribute: 'name' })
    if (read.carrier.default && others.some((other) => other.entry.default === true))
      throw new TrunklineError('invalid_field', 'Another carrier of the project is the default one.', {
        attribute: 'default',
      })
    return read.carrier
  }

  #ofProject(projectId: string): readonly CarrierRecord[] {
    const made = this.#deps.memory.carriers.all.map(({ record }) => record)
    return [...this.#declared, ...made].filter((record) => record.projectId === projectId)
  }
}

const sameAccount = (a: CarrierEntry, b: CarrierEntry, key: 'auth' | 'challenge'): boolean =>
  a[key]?.password === undefined && a[key]?.username === b[key]?.username

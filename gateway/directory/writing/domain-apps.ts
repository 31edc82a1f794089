import { randomUUID } from 'node:crypto'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { domainEntryOf } from '../index/domains.ts'
import { pageOf } from '../index/listing.ts'
import type { DomainAppRecord, DomainApps } from '../model/ports.ts'
import type { Listed } from '../model/resource-types.ts'
import type { DomainAppTable } from '../store/schema.ts'
import { rejectConflicts } from './conflicts.ts'
import { changeable, countCreated, present, type WritingDeps } from './writing-deps.ts'

/** Properties of a domain application that the API accepts. */
type AppFields = Omit<
  DomainAppRecord,
  'id' | 'projectId' | 'domain' | 'managedByFile' | 'createdAt' | 'updatedAt'
>

/** Domain applications of the store. */
export class StoredDomainApps implements DomainApps {
  readonly #deps: WritingDeps
  #domainSuffix: string

  /** `domainSuffix`: suffix of the domains of domain applications. */
  constructor(deps: WritingDeps, domainSuffix: string) {
    this.#deps = deps
    this.#domainSuffix = domainSuffix
  }

  /** Applies another suffix to later changes. */
  changeSuffix(domainSuffix: string): void {
    this.#domainSuffix = domainSuffix
  }

  find(projectId: string, id: string): DomainAppRecord | undefined {
    const record = this.#deps.memory.domains.byId(id)?.record
    return record?.projectId === projectId ? record : undefined
  }

  list(projectId: string, query: Parameters<DomainApps['list']>[1]): Listed<DomainAppRecord> {
    const name = query.name?.toLowerCase()
    const domain = query.domain?.toLowerCase()
    const found = this.#ofProject(projectId).filter(
      (record) =>
        (name === undefined || record.name.toLowerCase().includes(name)) &&
        (domain === undefined || record.domain.includes(domain)),
    )
    return pageOf(found, query)
  }

  create(projectId: string, app: AppFields & { readonly identifier: string }): Promise<DomainAppRecord> {
    const { store, clock, quotas, changed } = this.#deps
    const count = () => countCreated(this.#ofProject(projectId))
    return quotas.within(projectId, 'domainApps', count, async () => {
      const id = randomUUID()
      const now = clock.now()
      const own = { id, project_id: projectId, managed_by_file: 0, created_at: now, updated_at: now }
      const unsaid = { challenge_json: null, calls_per_second_of_source: null, max_calls_of_source: null }
      const values = {
        ...valuesOf(app),
        domain: this.#domainOf(projectId, app.identifier),
        ...own,
        ...unsaid,
      }
      await rejectConflicts(store.insertInto('domain_app').values(values).execute())
      await changed({ domains: [id] })
      return present(this.find(projectId, id))
    })
  }

  async update(
    projectId: string,
    id: string,
    change: { readonly [K in keyof AppFields]?: AppFields[K] | null },
  ): Promise<DomainAppRecord> {
    const { store, clock, changed } = this.#deps
    changeable(this.find(projectId, id))
    await rejectConflicts(
      store.transaction().execute(async (write) => {
        // The transaction starts with a write, which locks the row before it is read.
        const row = await write
          .updateTable('domain_app')
          .set({ updated_at: clock.now() })
          .where('id', '=', id)
          .where('managed_by_file', '=', 0)
          .returningAll()
          .executeTakeFirst()
        if (!row) throw new TrunklineError('unknown_resource')
        await write.updateTable('domain_app').set(this.#changed(row, change)).where('id', '=', id).execute()
      }),
    )
    await changed({ domains: [id] })
    return present(this.find(projectId, id))
  }

  async remove(projectId: string, id: string): Promise<void> {
    changeable(this.find(projectId, id))
    const { store, changed } = this.#deps
    await store.deleteFrom('domain_app').where('id', '=', id).where('managed_by_file', '=', 0).execute()
    await changed({ domains: [id] })
  }

  #changed(row: DomainAppTable, change: { readonly [K in keyof AppFields]?: AppFields[K] | null }) {
    const { record: before } = domainEntryOf(row)
    const said = Object.entries(change).filter(([, value]) => value !== undefined)
    const after: typeof change = { ...before, ...Object.fromEntries(said) }
    const identifier = after.identifier ?? before.identifier
    return {
      ...valuesOf(after),
      ...(identifier !== undefined && { identifier, domain: this.#domainOf(before.projectId, identifier) }),
    }
  }

  #ofProject(projectId: string): DomainAppRecord[] {
    return this.#deps.memory.domains.ofProject(projectId).map(({ record }) => record)
  }

  #domainOf(projectId: string, identifier: string): string {
    if (!/^[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?$/i.test(identifier))
      throw new TrunklineError('invalid_field', 'It must consist of at most 30 letters, digits and dashes.', {
        attribute: 'identifier',
      })
    const { tokens } = this.#deps.memory
    const name = tokens.project(projectId)?.name ?? projectId
    const label = `${name}-${identifier}`.toLowerCase()
    // If projects `a` and `a-b` exist, a label that begins with `a-b-` belongs to `a-b`, not to `a`.
    const isOfOther = (other: string) => other.length > name.length && label.startsWith(`${other}-`)
    if (tokens.names().some(isOfOther))
      throw new TrunklineError('domain_taken', undefined, { attribute: 'identifier' })
    return `${label}.${this.#domainSuffix}`.toLowerCase()
  }
}

/** Returns the columns of an application; absent properties become null. */
const valuesOf = (app: { readonly [K in keyof AppFields]?: AppFields[K] | null }) => ({
  name: app.name ?? '',
  identifier: app.identifier ?? null,
  user_pattern: app.user ?? '*',
  ip_auth_enabled: app.ipAuthEnabled ? 1 : 0,
  ip_auth_json: JSON.stringify(app.ipAuth ?? []),
  encryption: app.encryption ?? ('optional' as const),
  codecs_json: json(app.codecs),
  ciphers_json: json(app.ciphers),
  handler_json: json(app.handler),
  status_json: json(app.statusCallback),
  max_calls: app.maxCalls ?? null,
  calls_per_second: app.callsPerSecond ?? null,
})

const json = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null)

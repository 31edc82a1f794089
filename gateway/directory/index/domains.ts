import type { HandlerSpec } from '../../model.ts'
import type { DomainApp } from '../model/callers.ts'
import type { DigestSecret } from '../model/digest-secret.ts'
import type { DomainAppRecord } from '../model/ports.ts'
import type { HandlerSource } from '../model/resource-types.ts'
import type { DomainAppTable } from '../store/schema.ts'
import { dialectOf, statusOf } from './handlers.ts'

/** Domain application in memory, in two forms: the record for the API, and the rules for admitting calls. */
export interface DomainEntry {
  readonly record: DomainAppRecord
  readonly admission: Omit<DomainApp, 'handler'>
}

/** Converts a row to an entry. */
export const domainEntryOf = (row: DomainAppTable): DomainEntry => {
  const shared = {
    id: row.id,
    projectId: row.project_id,
    domain: row.domain,
    user: row.user_pattern,
    encryption: row.encryption,
    ...optional('codecs', parsed<DomainApp['codecs']>(row.codecs_json)),
    ...optional('ciphers', parsed<readonly string[]>(row.ciphers_json)),
    ...optional('callsPerSecond', row.calls_per_second),
  }
  const ipAuth: readonly string[] = JSON.parse(row.ip_auth_json)
  const ipAuthEnabled = row.ip_auth_enabled === 1
  return {
    record: {
      ...shared,
      name: row.name,
      ipAuthEnabled,
      ipAuth,
      managedByFile: row.managed_by_file === 1,
      ...optional('identifier', row.identifier),
      ...optional('handler', parsed<HandlerSource>(row.handler_json)),
      ...optional('statusCallback', parsed<DomainAppRecord['statusCallback']>(row.status_json)),
      ...optional('maxCalls', row.max_calls),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    },
    admission: {
      ...shared,
      allow: ipAuthEnabled ? ipAuth : undefined,
      maxCalls: row.max_calls ?? undefined,
      ...optional('callsPerSecondOfSource', row.calls_per_second_of_source),
      ...optional('maxCallsOfSource', row.max_calls_of_source),
      ...optional('challenge', parsed<DigestSecret>(row.challenge_json)),
    },
  }
}

/** All domain applications. */
export class Domains {
  #byId = new Map<string, DomainEntry>()
  #byDomain = new Map<string, DomainEntry>()

  get size(): number {
    return this.#byId.size
  }

  byId(id: string): DomainEntry | undefined {
    return this.#byId.get(id)
  }

  /** `domain`: lower case. */
  byDomain(domain: string): DomainEntry | undefined {
    return this.#byDomain.get(domain)
  }

  get all(): Iterable<DomainEntry> {
    return this.#byId.values()
  }

  /** Returns the domain applications of a project, in the order of creation. */
  ofProject(projectId: string): DomainEntry[] {
    return [...this.#byId.values()].filter(({ record }) => record.projectId === projectId)
  }

  ids(): Iterable<string> {
    return this.#byId.keys()
  }

  put(entry: DomainEntry): void {
    this.#forget(entry.record.id)
    this.#byId.set(entry.record.id, entry)
    this.#byDomain.set(entry.record.domain, entry)
  }

  remove(id: string): void {
    this.#forget(id)
    this.#byId.delete(id)
  }

  #forget(id: string): void {
    const before = this.#byId.get(id)
    if (before && this.#byDomain.get(before.record.domain) === before)
      this.#byDomain.delete(before.record.domain)
  }
}

/**
 * Returns the application with its present handler. If the application has a status URL, that URL replaces
 * the handler's.
 */
export const admittedBy = (
  { record, admission }: DomainEntry,
  handler: HandlerSpec | undefined,
): DomainApp => {
  const callback = record.statusCallback
  return {
    ...admission,
    handler: handler && { ...handler, ...statusOf(dialectOf(handler.kind), callback?.url, callback?.method) },
  }
}

const parsed = <T>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T))

/** Returns an object with the key and value; an empty object if the value is undefined. */
const optional = <K extends string, V>(key: K, value: V): { readonly [key in K]?: NonNullable<V> } =>
  value === null || value === undefined ? {} : ({ [key]: value } as { readonly [key in K]?: NonNullable<V> })

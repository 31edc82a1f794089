import type { AudioCodec } from '../../media/types.ts'
import type { HandlerSpec } from '../calls/ports.ts'
import type { Store } from './sqlite.ts'
import type { AddressRecord, DigestSecret, DomainApp, SipEndpoint, Subscriber } from './types.ts'

/** An address and what it stands for. */
export interface Entry {
  readonly record: AddressRecord
  readonly handler: HandlerSpec | undefined
  readonly subscriber: Subscriber | undefined
  readonly endpoint: SipEndpoint | undefined
  readonly passwordHash: string | undefined
}

/** What the store holds, as the gateway uses it. */
export interface Contents {
  readonly domains: readonly DomainApp[]
  readonly entries: readonly Entry[]
}

/** The path of an address. */
export const pathOf = ({ context, name }: { context: string; name: string }): string => `/${context}/${name}`

/** Reads the whole store. */
export const load = async (store: Store): Promise<Contents> => ({
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
    callsPerSecond: row.calls_per_second ?? undefined,
    callsPerSecondOfSource: row.calls_per_second_of_source ?? undefined,
    maxCallsOfSource: row.max_calls_of_source ?? undefined,
    challenge: parsed<DigestSecret>(row.challenge_json),
    codecs: parsed<readonly AudioCodec[]>(row.codecs_json),
  }))
}

const entryRows = (store: Store) =>
  store
    .selectFrom('resource')
    .innerJoin('address', 'address.resource_id', 'resource.id')
    .leftJoin('subscriber', 'subscriber.resource_id', 'resource.id')
    .leftJoin('endpoint', 'endpoint.resource_id', 'resource.id')
    .select(['resource.id as resource_id', 'project_id', 'type', 'display_name', 'handler_json'])
    .select(['address.id as address_id', 'context', 'name', 'address.created_at'])
    .select(['email', 'password_hash', 'first_name', 'last_name', 'subscriber.may_dial_out'])
    .select(['username', 'caller_id', 'secrets_json', 'endpoint.may_dial_out as endpoint_dials_out'])
    .select(['endpoint.max_calls', 'endpoint.calls_per_second', 'codecs_json'])
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
    endpoint: endpointOf(row),
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

const endpointOf = (row: EntryRow): SipEndpoint | undefined =>
  row.username === null
    ? undefined
    : {
        id: row.resource_id,
        projectId: row.project_id,
        username: row.username,
        address: pathOf(row),
        displayName: row.display_name,
        callerId: row.caller_id ?? row.username,
        mayDialOut: row.endpoint_dials_out === 1,
        maxCalls: row.max_calls ?? undefined,
        callsPerSecond: row.calls_per_second ?? undefined,
        codecs: parsed<readonly AudioCodec[]>(row.codecs_json),
        handler: parsed<HandlerSpec>(row.handler_json),
        secrets: new Map(
          (parsed<readonly DigestSecret[]>(row.secrets_json) ?? []).map((secret) => [secret.realm, secret]),
        ),
      }

// Only our own provisioning writes these columns.
const parsed = <T>(json: string | null): T | undefined =>
  json === null ? undefined : (JSON.parse(json) as T)

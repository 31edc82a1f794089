import type { Kysely } from 'kysely'

/** Domain application before the introduction of several projects. */
export interface OldDomain {
  readonly id: string
  readonly project_id: string
  readonly domain: string
  readonly allow_json: string | null
  readonly handler_json: string | null
  readonly max_calls: number | null
  readonly calls_per_second: number | null
  readonly calls_per_second_of_source: number | null
  readonly max_calls_of_source: number | null
  readonly challenge_json: string | null
  readonly codecs_json: string | null
  readonly managed_by_file: number
  readonly created_at: number
}

/** Resource with an address before the introduction of several projects. */
export interface OldResource {
  readonly id: string
  readonly project_id: string
  readonly type: 'subscriber' | 'app' | 'endpoint'
  readonly display_name: string
  readonly handler_json: string | null
  readonly managed_by_file: number
  readonly created_at: number
  readonly address_id: string
  readonly context: string
  readonly name: string
  readonly address_created_at: number
  readonly email: string | null
  readonly password_hash: string | null
  readonly password_mark: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly may_dial_out: number | null
  readonly username: string | null
  readonly caller_id: string | null
  readonly endpoint_dials_out: number | null
  readonly secrets_json: string | null
  readonly max_calls: number | null
  readonly calls_per_second: number | null
  readonly codecs_json: string | null
}

/** Former content of the store. */
export interface Before {
  readonly domains: readonly OldDomain[]
  readonly resources: readonly OldResource[]
}

/** Reads the former tables. */
export const readBefore = async (db: Kysely<unknown>): Promise<Before> => {
  const tables = db as Kysely<
    Record<'domain_app' | 'resource' | 'address' | 'subscriber' | 'endpoint', Record<string, never>>
  >
  const domains = await tables.selectFrom('domain_app').selectAll().execute()
  const resources = await tables
    .selectFrom('resource as r')
    .innerJoin('address as a', 'a.resource_id', 'r.id')
    .leftJoin('subscriber as s', 's.resource_id', 'r.id')
    .leftJoin('endpoint as e', 'e.resource_id', 'r.id')
    .select(['r.id', 'r.project_id', 'r.type', 'r.display_name', 'r.handler_json', 'r.managed_by_file'])
    .select([
      'r.created_at',
      'a.id as address_id',
      'a.context',
      'a.name',
      'a.created_at as address_created_at',
    ])
    .select([
      's.email',
      's.password_hash',
      's.password_mark',
      's.first_name',
      's.last_name',
      's.may_dial_out',
    ])
    .select(['e.username', 'e.caller_id', 'e.may_dial_out as endpoint_dials_out', 'e.secrets_json'])
    .select(['e.max_calls', 'e.calls_per_second', 'e.codecs_json'])
    .execute()
  return {
    domains: domains as unknown as readonly OldDomain[],
    resources: resources as unknown as readonly OldResource[],
  }
}

interface OldHandler {
  readonly kind: 'xml' | 'script' | 'flow' | 'realtime'
  readonly topic?: string
  readonly url?: string
  readonly fallbackUrl?: string
  readonly method?: 'GET' | 'POST'
  readonly document?: string
  readonly name?: string
}

/** Returns the type of a resource: that of an app follows from its handler. */
export const typeOf = ({ type, handler_json }: OldResource): string => {
  if (type === 'subscriber') return 'subscriber'
  if (type === 'endpoint') return 'sip_endpoint'
  const { kind, url } = handlerOf(handler_json)
  if (kind === 'realtime') return 'relay_application'
  if (kind === 'flow') return 'call_flow'
  return `${kind === 'xml' ? 'cxml' : 'swml'}_${url === undefined ? 'script' : 'webhook'}`
}

/** Returns the details of a type. */
export const detailsOf = (old: OldResource): object => {
  if (old.type === 'subscriber')
    return {
      firstName: old.first_name || undefined,
      lastName: old.last_name || undefined,
      mayDialOut: old.may_dial_out === 1,
    }
  if (old.type === 'endpoint') return endpointOf(old)
  const { kind, topic, url, fallbackUrl, method, document, name } = handlerOf(old.handler_json)
  if (kind === 'realtime') return { topic }
  if (kind === 'flow') return { flow: document, url, fallbackUrl, method, declaredAt: name, version: 1 }
  return url === undefined
    ? { document: document ?? '', declaredAt: name }
    : { url, method: method ?? 'POST', fallbackUrl }
}

const endpointOf = (old: OldResource): object => ({
  callerId: old.caller_id,
  mayDialOut: old.endpoint_dials_out === 1,
  maxCalls: old.max_calls ?? undefined,
  callsPerSecond: old.calls_per_second ?? undefined,
  codecs: old.codecs_json === null ? undefined : JSON.parse(old.codecs_json),
  encryption: 'default',
  handler: old.handler_json === null ? undefined : JSON.parse(old.handler_json),
})

const handlerOf = (json: string | null): OldHandler =>
  json === null ? { kind: 'script' } : (JSON.parse(json) as OldHandler)

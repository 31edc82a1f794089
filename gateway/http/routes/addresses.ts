import type { FastifyInstance } from 'fastify'
import type { AddressRecord, Directory } from '../../directory/types.ts'
import { TrunklineError } from '../../errors.ts'
import type { Authenticate } from '../bearer.ts'

/** What the address routes need. */
export interface AddressParts {
  readonly directory: Pick<Directory, 'addresses'>
  readonly authenticate: Authenticate
}

const query = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    name: { type: 'string' },
    display_name: { type: 'string' },
    page_size: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
    page_number: { type: 'integer', minimum: 0, default: 0 },
    sort_by: { type: 'string', enum: ['name', 'created_at'], default: 'name' },
    sort_order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
  },
} as const

interface Query {
  readonly type?: string
  readonly name?: string
  readonly display_name?: string
  readonly page_size: number
  readonly page_number: number
  readonly sort_by: 'name' | 'created_at'
  readonly sort_order: 'asc' | 'desc'
}

/** `GET /api/fabric/addresses` and `GET /api/fabric/addresses/{id}`. */
export const addressRoutes = (site: FastifyInstance, { directory, authenticate }: AddressParts): void => {
  const path = '/api/fabric/addresses'
  site.get<{ Querystring: Query }>(path, { schema: { querystring: query } }, async (request) => {
    await authenticate(request)
    const found = directory.addresses().filter((record) => matches(record, request.query))
    return page([...found].sort(order(request.query)), path, request.query)
  })
  site.get<{ Params: { id: string } }>(`${path}/:id`, async (request) => {
    await authenticate(request)
    const record = directory.addresses().find(({ id }) => id === request.params.id)
    if (!record) throw new TrunklineError('unknown_address')
    return addressBody(record)
  })
}

/** An address as the API shows it. The channel values can be dialled as they stand. */
export const addressBody = (record: AddressRecord) => {
  const path = `/${record.context}/${record.name}`
  return {
    id: record.id,
    resource_id: record.resourceId,
    display_name: record.displayName,
    name: record.name,
    type: wireType(record),
    preview_url: null,
    cover_url: null,
    channels: { audio: `${path}?channel=audio` },
    locked: false,
    created_at: new Date(record.createdAt).toISOString(),
  }
}

/** The API knows no endpoints; what is there only to be called is a `call`. */
const wireType = ({ type }: AddressRecord): 'subscriber' | 'app' | 'call' =>
  type === 'endpoint' ? 'call' : type

const matches = (record: AddressRecord, { type, name, display_name }: Query): boolean =>
  (type === undefined || wireType(record) === type) &&
  (name === undefined || record.name === name || `/${record.context}/${record.name}` === name) &&
  (display_name === undefined || record.displayName.toLowerCase().includes(display_name.toLowerCase()))

const order =
  ({ sort_by, sort_order }: Query) =>
  (a: AddressRecord, b: AddressRecord): number => {
    const ascending = sort_by === 'name' ? a.name.localeCompare(b.name) : a.createdAt - b.createdAt
    return sort_order === 'asc' ? ascending : -ascending
  }

const page = (records: readonly AddressRecord[], path: string, query: Query) => {
  const { page_size: size, page_number: number } = query
  const last = Math.max(0, Math.ceil(records.length / size) - 1)
  const link = (to: number) => {
    const given = Object.entries({ ...query, page_number: to }).filter(([, value]) => value !== undefined)
    return `${path}?${new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]))}`
  }
  return {
    data: records.slice(number * size, (number + 1) * size).map(addressBody),
    links: {
      self: link(number),
      first: link(0),
      ...(number < last && { next: link(number + 1) }),
      ...(number > 0 && { prev: link(Math.min(number - 1, last)) }),
    },
  }
}

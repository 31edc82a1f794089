import type { FastifyReply } from 'fastify'
import type { CdrStore } from '../../../cdr/cdr-store.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Log } from '../../../core/log.ts'
import type { CdrPosition, CdrRow, CdrSearch } from '../../../directory/tables/cdrs.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedRequest, TypedSite, Validated } from '../../requests/typed-routes.ts'
import { forProjects, idParams } from '../shared/route-schemas.ts'
import { cursorAt, positionOf } from '../shared/time-cursors.ts'
import { type RecordKind, recordBody, recordSchema, wholeBody, wholeSchema } from './cdr-body.ts'
import { exportTypes, formatOf, sendExport } from './cdr-export.ts'
import { recordFilters, searchOf } from './cdr-filters.ts'

/** Collaborators of the routes of records. */
export interface CdrDeps {
  readonly cdrs: Pick<CdrStore, 'part' | 'record'>
  readonly requireProject: RequireProject
  readonly log: Pick<Log, 'warn'>
}

/** Maximum number of store reads for one page; more than one is needed if few of many records match. */
const maxReads = 50

const querystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...recordFilters,
    page_size: { type: 'integer', minimum: 1, maximum: 1_000, default: 50 },
    cursor: { type: 'string', maxLength: 200, description: 'Start of the page, from the link `next`.' },
    format: {
      type: 'string',
      enum: ['json', 'csv', 'jsonl'],
      description:
        'Format of the response; csv and jsonl export the whole list. Default the format that `Accept` ' +
        'names, otherwise json.',
    },
  },
} as const

type Query = Validated<typeof querystring>

/**
 * `GET /api/records/calls` and `…/legs`: CDRs of ended calls and their legs, the newest first. `…/{id}` is
 * the whole record.
 */
export const cdrRoutes = (site: TypedSite, deps: CdrDeps): void => {
  routesOf(site, deps, 'call')
  routesOf(site, deps, 'leg')
}

const routesOf = (site: TypedSite, deps: CdrDeps, kind: RecordKind): void => {
  const { cdrs, requireProject } = deps
  const path = `/api/records/${kind}s`
  const onRequest = requireProject('records')
  const lists = forProjects('records', `list_${kind}_records`, `List or export the records of ${kind}s`)
  site.get(
    path,
    { onRequest, schema: { ...lists, querystring, response: { 200: listContent(kind) } } },
    (request, reply) => list(deps, kind, request, reply),
  )
  const reads = forProjects('records', `get_${kind}_record`, `Get the whole record of a ${kind}`)
  site.get(
    `${path}/:id`,
    { onRequest, schema: { ...reads, params: idParams, response: { 200: wholeSchema(kind) } } },
    async (request) => {
      const row = await cdrs.record(request.projectId, kind, request.params.id)
      if (!row) throw new TrunklineError('unknown_call')
      return wholeBody(row)
    },
  )
}

const list = async (
  deps: CdrDeps,
  kind: RecordKind,
  { projectId, query, headers }: TypedRequest<unknown, typeof querystring>,
  reply: FastifyReply,
): Promise<unknown> => {
  const { page_size: size, cursor, format, ...filters } = query
  const search = searchOf(kind, filters)
  const listKey = `${projectId}\n${kind}\n${JSON.stringify(Object.entries(search).sort())}`
  const after = cursor === undefined ? undefined : positionOf(listKey, cursor)
  reply.header('vary', 'accept')
  const wanted = formatOf(format, headers.accept)
  if (wanted !== 'json') return sendExport(reply, deps, { projectId, search, after }, wanted)
  const { rows, next } = await page(deps.cdrs, projectId, search, size, after)
  const link = (to?: CdrPosition) => linkTo(kind, query, to && cursorAt(listKey, to))
  const links = { self: linkTo(kind, query, cursor), first: link(), ...(next && { next: link(next) }) }
  return { data: rows.map(recordBody), links }
}

/** Returns a page, which is shorter than requested only after {@link maxReads}. */
const page = async (
  cdrs: CdrDeps['cdrs'],
  projectId: string,
  search: CdrSearch,
  size: number,
  after?: CdrPosition,
): Promise<{ rows: CdrRow[]; next: CdrPosition | undefined }> => {
  const rows: CdrRow[] = []
  let next = after
  for (let reads = 0; reads < maxReads; reads++) {
    const part = await cdrs.part(projectId, search, size - rows.length, next)
    rows.push(...part.rows)
    next = part.next
    if (!next || rows.length === size) break
    // Lets other work run between two reads.
    await new Promise(setImmediate)
  }
  return { rows, next }
}

const linkTo = (kind: RecordKind, query: Query, cursor: string | undefined): string => {
  const { cursor: _, ...rest } = query
  const given = Object.entries({ ...rest, ...(cursor !== undefined && { cursor }) })
  const pairs = given.map(([key, value]): [string, string] => [key, String(value)])
  return `/api/records/${kind}s?${new URLSearchParams(pairs)}`
}

const listContent = (kind: RecordKind) => {
  const text = { schema: { type: 'string' } }
  const links = {
    type: 'object',
    required: ['self', 'first'],
    properties: { self: { type: 'string' }, first: { type: 'string' }, next: { type: 'string' } },
  }
  const properties = { data: { type: 'array', items: recordSchema(kind) }, links }
  return {
    description: 'A page, or the whole list as an export. A short or empty page is not always the last one.',
    content: {
      'application/json': { schema: { type: 'object', required: ['data', 'links'], properties } },
      [exportTypes.csv]: text,
      [exportTypes.jsonl]: text,
    },
  }
}

import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import type { FastifyReply } from 'fastify'
import type { CdrStore } from '../../../cdr/cdr-store.ts'
import type { Log } from '../../../core/log.ts'
import type { CdrPosition, CdrRow, CdrSearch } from '../../../directory/tables/cdrs.ts'
import { columnsOf, recordBody, wholeBody } from './cdr-body.ts'

/** Number of rows in one read. */
const pageSize = 500

/** Formats of an export. */
export type RecordFormat = 'json' | 'csv' | 'jsonl'

/** Media types of the export formats (RFC 4180, RFC 7111; JSON Lines). */
export const exportTypes = { csv: 'text/csv', jsonl: 'application/jsonl' } as const

/** Returns the requested format: from the query, otherwise from the `Accept` header, otherwise JSON. */
export const formatOf = (format: RecordFormat | undefined, accept = ''): RecordFormat => {
  if (format) return format
  if (/\btext\/csv\b/i.test(accept)) return 'csv'
  return /\bapplication\/(?:jsonl|x-ndjson|x-jsonlines)\b/i.test(accept) ? 'jsonl' : 'json'
}

/** Collaborators of {@link sendExport}. */
export interface CdrExportDeps {
  readonly cdrs: Pick<CdrStore, 'part'>
  readonly log: Pick<Log, 'warn'>
}

/** Selection of the records to export. */
export interface Exported {
  readonly projectId: string
  readonly search: CdrSearch
  /** Position after which the export starts; default: starts with the newest record. */
  readonly after?: CdrPosition | undefined
}

/**
 * Sends all matching records, no faster than the client reads them. An error closes the connection, because
 * the status was already sent.
 */
export const sendExport = (
  reply: FastifyReply,
  deps: CdrExportDeps,
  contents: Exported,
  format: 'csv' | 'jsonl',
): FastifyReply => {
  const { kind } = contents.search
  reply.header('content-disposition', `attachment; filename="${kind}s.${format}"`)
  const type = format === 'csv' ? `${exportTypes.csv}; charset=utf-8; header=present` : exportTypes.jsonl
  return reply.type(type).send(Readable.from(logged(deps, contents, format), { objectMode: false }))
}

const logged = async function* (
  deps: CdrExportDeps,
  contents: Exported,
  format: 'csv' | 'jsonl',
): AsyncGenerator<string> {
  try {
    yield* textOf(deps, contents, format)
  } catch (error) {
    deps.log.warn(
      { event: 'cdr.export-failed', projectId: contents.projectId, format, err: error },
      'export of CDRs failed',
    )
    throw error
  }
}

const textOf = async function* (
  { cdrs }: CdrExportDeps,
  { projectId, search, after }: Exported,
  format: 'csv' | 'jsonl',
): AsyncGenerator<string> {
  if (format === 'csv') yield csvOf([], search.kind, true)
  let position = after
  do {
    const { rows, next } = await cdrs.part(projectId, search, pageSize, position)
    if (rows.length > 0) yield format === 'csv' ? csvOf(rows, search.kind, false) : linesOf(rows)
    position = next
    // Lets other work run between two reads.
    await new Promise(setImmediate)
  } while (position)
}

/**
 * Returns rows as CSV, or the header line for no rows. A cell that a spreadsheet would read as a formula gets
 * an apostrophe as prefix.
 */
const csvOf = (rows: readonly CdrRow[], kind: CdrRow['kind'], header: boolean): string =>
  stringify(rows.map(recordBody), {
    header,
    columns: [...columnsOf(kind)],
    escape_formulas: true,
    record_delimiter: 'windows',
    // Fields with a line break of any kind must be quoted (RFC 4180 section 2).
    quoted_match: /[\r\n]/,
  })

const linesOf = (rows: readonly CdrRow[]): string =>
  rows.map((row) => `${JSON.stringify(wholeBody(row))}\n`).join('')

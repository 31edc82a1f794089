import { type SelectQueryBuilder, sql, type Transaction } from 'kysely'
import type { CdrTable, Tables } from '../store/schema.ts'
import type { Store } from '../store/sqlite.ts'
import { removeOlder } from './remove-older.ts'

/** Stored CDR of a call or of a leg. */
export type CdrRow = Readonly<CdrTable>

/**
 * Search for CDRs; each value is compared literally. Times in ms since 1970, `startedFrom` inclusive,
 * `startedUntil` exclusive.
 */
export interface CdrSearch {
  readonly kind: 'call' | 'leg'
  readonly callId?: string
  readonly fromUser?: string
  readonly fromUri?: string
  readonly toUser?: string
  readonly toUri?: string
  readonly direction?: string
  readonly carrier?: string
  readonly domain?: string
  readonly code?: string
  readonly sipStatus?: number
  readonly startedFrom?: number
  readonly startedUntil?: number
  readonly minDurationMs?: number
}

/** Position in a list, which is ordered by the start, the newest first. */
export interface CdrPosition {
  readonly startedAt: number
  readonly id: string
}

/** Part of a list. */
export interface CdrPart {
  readonly rows: readonly CdrRow[]
  /** Position of the next part; undefined for the last one. */
  readonly next?: CdrPosition
}

/** Maximum number of rows that one statement reads: SQLite runs on the thread that handles calls. */
const maxRowsRead = 2_000

/** Maximum number of rows in one INSERT. */
const maxInserted = 200

/** Table of CDRs. */
export class CdrRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns the CDR of a call or of a leg. */
  async find(projectId: string, kind: 'call' | 'leg', id: string): Promise<CdrRow | undefined> {
    const row = await this.#store
      .selectFrom('cdr')
      .selectAll()
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .where('kind', '=', kind)
      .executeTakeFirst()
    return row
  }

  /** Returns the matching CDRs of one call, in the order of its legs. */
  async ofCall(
    projectId: string,
    search: CdrSearch & { readonly callId: string },
  ): Promise<readonly CdrRow[]> {
    const rows = await this.#filtered(projectId, search).selectAll().orderBy('place').execute()
    return rows
  }

  /**
   * Returns the part of a list after `after`, with at most `most` rows. A part may have fewer rows, or none,
   * without being the last one. If few rows match, a part ends once a limited number of rows has been read.
   */
  async part(projectId: string, search: CdrSearch, most: number, after?: CdrPosition): Promise<CdrPart> {
    const end = await this.#listing(projectId, search, after).offset(maxRowsRead).limit(1).executeTakeFirst()
    const last = end && { startedAt: end.started_at, id: end.id }
    const found = await this.#part(projectId, search, most + 1, { after, last }).execute()
    const rows = found.slice(0, most)
    const full = found.length > most ? rows.at(-1) : undefined
    const next = full ? { startedAt: full.started_at, id: full.id } : last
    return { rows, ...(next && { next }) }
  }

  /** Returns the steps of the query plan. For tests; SQLite only. */
  async plan(projectId: string, search: CdrSearch, after?: CdrPosition): Promise<string> {
    const queryPlan = sql`query plan`
    const steps = [
      ...(await this.#listing(projectId, search, after).explain<{ detail: string }>(undefined, queryPlan)),
      ...(await this.#part(projectId, search, 50, { after }).explain<{ detail: string }>(
        undefined,
        queryPlan,
      )),
    ]
    return steps.map(({ detail }) => detail).join('\n')
  }

  /**
   * Removes CDRs that began before `before` (ms since the Unix epoch), the oldest first. Returns their
   * number.
   */
  removeOlder(before: number, most: number): Promise<number> {
    return removeOlder(this.#store, 'cdr', before, most)
  }

  /** Returns the number of CDRs. */
  async count(): Promise<number> {
    const row = await this.#store
      .selectFrom('cdr')
      .select((q) => q.fn.countAll<number>().as('count'))
      .executeTakeFirst()
    return Number(row?.count ?? 0)
  }

  /** Returns the positions of a list from an index, without the rows. */
  #listing(projectId: string, search: CdrSearch, after?: CdrPosition) {
    const { kind, startedFrom, startedUntil, ...rest } = search
    const indexed = firstOf(rest)
    return this.#from(projectId, { kind, startedFrom, startedUntil, ...indexed }, { after }).select([
      'started_at',
      'id',
    ])
  }

  #part(projectId: string, search: CdrSearch, most: number, between: Between) {
    return this.#from(projectId, search, between).selectAll().limit(most)
  }

  #from(projectId: string, search: CdrSearch, { after, last }: Between) {
    return this.#filtered(projectId, search)
      .$if(after !== undefined, (q) =>
        q.where(sql<boolean>`(started_at, id) < (${after!.startedAt}, ${after!.id})`),
      )
      .$if(last !== undefined, (q) =>
        q.where(sql<boolean>`(started_at, id) >= (${last!.startedAt}, ${last!.id})`),
      )
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
  }

  #filtered(projectId: string, search: CdrSearch) {
    const rows = this.#store
      .selectFrom('cdr')
      .where('project_id', '=', projectId)
      .where('kind', '=', search.kind)
    return filtered(rows, search)
  }
}

interface Between {
  readonly after?: CdrPosition | undefined
  readonly last?: CdrPosition | undefined
}

/** Returns the first value of the search whose column has an index. */
const firstOf = ({
  fromUser,
  toUser,
  carrier,
  code,
  domain,
}: Omit<CdrSearch, 'kind'>): Partial<CdrSearch> => {
  if (fromUser !== undefined) return { fromUser }
  if (toUser !== undefined) return { toUser }
  if (carrier !== undefined) return { carrier }
  if (code !== undefined) return { code }
  return domain === undefined ? {} : { domain }
}

const filtered = <T>(rows: SelectQueryBuilder<Tables, 'cdr', T>, search: CdrSearch): typeof rows => {
  const { callId, fromUser, fromUri, toUser, toUri, direction, carrier, domain } = search
  const { code, sipStatus, startedFrom, startedUntil, minDurationMs } = search
  return rows
    .$if(callId !== undefined, (q) => q.where('call_id', '=', callId!))
    .$if(fromUser !== undefined, (q) => q.where('from_user', '=', fromUser!))
    .$if(fromUri !== undefined, (q) => q.where('from_uri', '=', fromUri!))
    .$if(toUser !== undefined, (q) => q.where('to_user', '=', toUser!))
    .$if(toUri !== undefined, (q) => q.where('to_uri', '=', toUri!))
    .$if(direction !== undefined, (q) => q.where('direction', '=', direction!))
    .$if(carrier !== undefined, (q) => q.where('carrier', '=', carrier!))
    .$if(domain !== undefined, (q) => q.where('domain', '=', domain!))
    .$if(code !== undefined, (q) => q.where('code', '=', code!))
    .$if(sipStatus !== undefined, (q) => q.where('sip_status', '=', sipStatus!))
    .$if(startedFrom !== undefined, (q) => q.where('started_at', '>=', startedFrom!))
    .$if(startedUntil !== undefined, (q) => q.where('started_at', '<', startedUntil!))
    .$if(minDurationMs !== undefined, (q) => q.where('duration_ms', '>=', minDurationMs!))
}

/** Stores CDRs; those already stored stay. */
export const insertCdrs = async (write: Transaction<Tables>, rows: readonly CdrRow[]): Promise<void> => {
  for (let from = 0; from < rows.length; from += maxInserted)
    await write
      .insertInto('cdr')
      .values(rows.slice(from, from + maxInserted))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
}

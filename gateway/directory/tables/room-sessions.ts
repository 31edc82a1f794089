import { sql } from 'kysely'
import type { ListPage } from '../model/resource-types.ts'
import type { RoomEventTable, RoomMemberTable, RoomSessionTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { type CallbackRow, insertCallbacks } from './callbacks.ts'
import { removeOlder } from './remove-older.ts'

/** Stored session of a room. */
export type RoomSessionRow = Readonly<RoomSessionTable>
/** Stored member of a session. */
export type RoomMemberRow = Readonly<RoomMemberTable>
/** Stored event of a session. */
export type RoomEventRow = Readonly<RoomEventTable>

/** Rows that are stored together. */
export interface RoomRows {
  readonly sessions: readonly RoomSessionRow[]
  readonly members: readonly RoomMemberRow[]
  readonly events: readonly RoomEventRow[]
}

/**
 * Search for sessions; each value is compared literally. Times in ms since 1970, `startedFrom` inclusive,
 * `startedUntil` exclusive.
 */
export interface RoomSessionSearch {
  readonly roomId?: string
  readonly name?: string
  /** Part of the name, ignoring case. */
  readonly partOfName?: string
  readonly isInProgress?: boolean
  readonly startedFrom?: number
  readonly startedUntil?: number
}

/** A page of rows. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  /** Whether there are further rows. */
  readonly more: boolean
}

/** Rows that are stored when sessions end with their gateway. */
export interface EndedRooms {
  /** The sessions in their final state. */
  readonly sessions: readonly RoomSessionRow[]
  readonly events: readonly RoomEventRow[]
  /** Callbacks that report the end. */
  readonly callbacks: readonly CallbackRow[]
}

/**
 * Returns the final state of the sessions that were in progress when their gateway stopped. `seenAt`: last
 * heartbeat of the gateway, in ms since 1970.
 */
export type EndRooms = (open: readonly RoomSessionRow[], seenAt: number) => EndedRooms

/** Result of ending the sessions of a stopped gateway. */
export interface InterruptedRooms {
  readonly sessions: number
  /** Number of callbacks that report their end, by server. */
  readonly callbacks: ReadonlyMap<string, number>
}

/** Maximum number of values in one statement. */
const maxValues = 200
/** Number of names that one statement reads: SQLite runs on the thread that handles calls. */
const namesRead = 2_000
/** Maximum number of such statements for one list. */
const maxReads = 50

/** Tables of the sessions of rooms, with their members and events. */
export class RoomSessionRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Stores rows in one transaction, replacing earlier ones. */
  async save(rows: RoomRows): Promise<void> {
    await this.#store.transaction().execute((write) => upsertRooms(write, rows))
  }

  /** Returns a session of a project. */
  find(projectId: string, id: string): Promise<RoomSessionRow | undefined> {
    const found = this.#store.selectFrom('room_session').selectAll().where('id', '=', id)
    return found.where('project_id', '=', projectId).executeTakeFirst()
  }

  /** Returns a page of sessions, the newest first. */
  async list(projectId: string, search: RoomSessionSearch, page: ListPage): Promise<RowPage<RoomSessionRow>> {
    if (search.partOfName !== undefined)
      return this.#listByPart(projectId, { ...search, partOfName: search.partOfName }, page)
    const rows = await this.#from(projectId, search)
      .selectAll()
      .limit(page.size + 1)
      .offset(page.number * page.size)
      .execute()
    return pageOf(rows, page)
  }

  /** Returns the steps of the query plan of {@link list}. For tests; SQLite only. */
  async plan(projectId: string, search: RoomSessionSearch): Promise<string> {
    const rows = this.#from(projectId, search).selectAll().limit(50)
    const steps = await rows.explain<{ detail: string }>(undefined, sql`query plan`)
    return steps.map(({ detail }) => detail).join('\n')
  }

  /** Returns the sessions in progress of rooms. */
  async inProgress(projectId: string, roomIds: readonly string[]): Promise<readonly RoomSessionRow[]> {
    const rows: RoomSessionRow[] = []
    for (let from = 0; from < roomIds.length; from += maxValues)
      rows.push(
        ...(await this.#store
          .selectFrom('room_session')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('room_id', 'in', roomIds.slice(from, from + maxValues))
          .where('ended_at', 'is', null)
          .execute()),
      )
    return rows
  }

  /** Returns a page of the members of a session, in order of joining. */
  async members(sessionId: string, page: ListPage): Promise<RowPage<RoomMemberRow>> {
    const rows = await this.#store
      .selectFrom('room_member')
      .selectAll()
      .where('session_id', '=', sessionId)
      .orderBy('joined_at')
      .orderBy('id')
      .limit(page.size + 1)
      .offset(page.number * page.size)
      .execute()
    return pageOf(rows, page)
  }

  /** Returns a member of a session. */
  member(sessionId: string, id: string): Promise<RoomMemberRow | undefined> {
    const found = this.#store.selectFrom('room_member').selectAll().where('id', '=', id)
    return found.where('session_id', '=', sessionId).executeTakeFirst()
  }

  /** Returns a page of the events of a session, in order. */
  async events(sessionId: string, page: ListPage): Promise<RowPage<RoomEventRow>> {
    const rows = await this.#store
      .selectFrom('room_event')
      .selectAll()
      .where('session_id', '=', sessionId)
      .orderBy('place')
      .limit(page.size + 1)
      .offset(page.number * page.size)
      .execute()
    return pageOf(rows, page)
  }

  /** Returns all events of a session with these names, in order. A session stores some thousands at most. */
  eventsNamed(sessionId: string, names: readonly string[]): Promise<readonly RoomEventRow[]> {
    return this.#store
      .selectFrom('room_event')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('name', 'in', names)
      .orderBy('place')
      .execute()
  }

  /** Ends the sessions of a stopped gateway, which was last seen at `seenAt` (ms since 1970). */
  interrupt(nodeId: string, seenAt: number, end: EndRooms): Promise<InterruptedRooms> {
    const gone = { nodeId, seenAt, heir: nodeId }
    return this.#store.transaction().execute((write) => endRoomSessionsOf(write, gone, end))
  }

  /**
   * Removes events that happened, members that left, or sessions that ended before `before` (ms since the
   * Unix epoch), the oldest first. Returns their number.
   */
  removeOlder(
    table: 'room_event' | 'room_member' | 'room_session',
    before: number,
    most: number,
  ): Promise<number> {
    return removeOlder(this.#store, table, before, most)
  }

  #from(projectId: string, search: RoomSessionSearch) {
    const { roomId, name, isInProgress, startedFrom, startedUntil } = search
    return this.#store
      .selectFrom('room_session')
      .where('project_id', '=', projectId)
      .$if(roomId !== undefined, (q) => q.where('room_id', '=', roomId!))
      .$if(name !== undefined, (q) => q.where('name', '=', name!))
      .$if(isInProgress === true, (q) => q.where('ended_at', 'is', null))
      .$if(isInProgress === false, (q) => q.where('ended_at', 'is not', null))
      .$if(startedFrom !== undefined, (q) => q.where('started_at', '>=', startedFrom!))
      .$if(startedUntil !== undefined, (q) => q.where('started_at', '<', startedUntil!))
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
  }

  /** Compares the names in portions, and leaves time for other work between them. */
  async #listByPart(
    projectId: string,
    { partOfName, ...search }: RoomSessionSearch & { readonly partOfName: string },
    page: ListPage,
  ): Promise<RowPage<RoomSessionRow>> {
    const part = partOfName.toLowerCase()
    const wanted = (page.number + 1) * page.size + 1
    const ids: string[] = []
    let after: { readonly started_at: number; readonly id: string } | undefined
    for (let reads = 0; reads < maxReads && ids.length < wanted; reads++) {
      const names = await this.#names(projectId, search, after)
      ids.push(...names.filter(({ name }) => name.toLowerCase().includes(part)).map(({ id }) => id))
      after = names.at(-1)
      if (names.length < namesRead) break
      await new Promise(setImmediate)
    }
    const rows = await this.#byIds(ids.slice(page.number * page.size, wanted))
    return pageOf(rows, page)
  }

  #names(
    projectId: string,
    search: RoomSessionSearch,
    after: { readonly started_at: number; readonly id: string } | undefined,
  ) {
    return this.#from(projectId, search)
      .select(['id', 'name', 'started_at'])
      .$if(after !== undefined, (q) =>
        q.where(sql<boolean>`(started_at, id) < (${after!.started_at}, ${after!.id})`),
      )
      .limit(namesRead)
      .execute()
  }

  /** Returns sessions by their ids, the newest first. */
  async #byIds(ids: readonly string[]): Promise<readonly RoomSessionRow[]> {
    const rows: RoomSessionRow[] = []
    for (let from = 0; from < ids.length; from += maxValues)
      rows.push(
        ...(await this.#store
          .selectFrom('room_session')
          .selectAll()
          .where('id', 'in', ids.slice(from, from + maxValues))
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .execute()),
      )
    return rows
  }
}

const pageOf = <Row>(rows: readonly Row[], { size }: ListPage): RowPage<Row> => ({
  rows: rows.slice(0, size),
  more: rows.length > size,
})

/**
 * Ends the sessions of a stopped gateway, in one transaction, so that the end of each is reported exactly
 * once. Their members leave at the same time. `heir`: gateway that sends the callbacks.
 */
export const endRoomSessionsOf = async (
  write: Write,
  { nodeId, seenAt, heir }: { readonly nodeId: string; readonly seenAt: number; readonly heir: string },
  end: EndRooms,
): Promise<InterruptedRooms> => {
  const open = await write
    .selectFrom('room_session')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('ended_at', 'is', null)
    .execute()
  const { sessions, events, callbacks } = end(open, seenAt)
  for (let from = 0; from < sessions.length; from += maxValues)
    await upsertRooms(write, {
      sessions: sessions.slice(from, from + maxValues),
      members: [],
      events: events.slice(from, from + maxValues),
    })
  for (let from = 0; from < open.length; from += maxValues)
    await write
      .updateTable('room_member')
      .set({
        left_at: sql<number>`case when joined_at > ${seenAt} then joined_at else ${seenAt} end`,
        leave_reason: 'interrupted',
      })
      .where(
        'session_id',
        'in',
        open.slice(from, from + maxValues).map(({ id }) => id),
      )
      .where('left_at', 'is', null)
      .execute()
  return { sessions: open.length, callbacks: await insertCallbacks(write, heir, callbacks) }
}

const upsertRooms = async (write: Write, { sessions, members, events }: RoomRows): Promise<void> => {
  if (sessions.length > 0)
    await write
      .insertInto('room_session')
      .values([...sessions])
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((row) => ({
          locked: row.ref('excluded.locked'),
          layout: row.ref('excluded.layout'),
          members: row.ref('excluded.members'),
          present_members: row.ref('excluded.present_members'),
          max_members: row.ref('excluded.max_members'),
          events: row.ref('excluded.events'),
          updated_at: row.ref('excluded.updated_at'),
          ended_at: row.ref('excluded.ended_at'),
          end_reason: row.ref('excluded.end_reason'),
          status_json: row.ref('excluded.status_json'),
        })),
      )
      .execute()
  if (members.length > 0)
    await write
      .insertInto('room_member')
      .values([...members])
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((row) => ({
          name: row.ref('excluded.name'),
          device: row.ref('excluded.device'),
          call_id: row.ref('excluded.call_id'),
          subscriber_id: row.ref('excluded.subscriber_id'),
          is_audience: row.ref('excluded.is_audience'),
          left_at: row.ref('excluded.left_at'),
          leave_reason: row.ref('excluded.leave_reason'),
        })),
      )
      .execute()
  if (events.length > 0)
    await write
      .insertInto('room_event')
      .values([...events])
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
}

import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Listed, ListPage } from '../directory/model/resource-types.ts'
import { isUuid } from '../directory/model/uuid.ts'
import type {
  EndRooms,
  RoomEventRow,
  RoomMemberRow,
  RoomSessionRow,
  RoomSessionRows,
  RoomSessionSearch,
  RowPage,
} from '../directory/tables/room-sessions.ts'
import type { RoomSession } from '../rooms/room-session.ts'
import { ExpiredRows } from './expired-rows.ts'
import type { StreamFacts } from './room-facts.ts'
import { type HistoryEntry, SessionHistory } from './session-history.ts'
import { WriteBehind } from './write-behind.ts'

/** Maximum time for the last writes at shutdown, in ms. */
const maxCloseMs = 5_000
/** Maximum number of rows that a page of a list may skip. */
const maxOffset = 100_000

/** Collaborators of a {@link RoomHistory}. */
export interface RoomHistoryDeps {
  readonly rows: RoomSessionRows
  /** Id of this gateway among the gateways that share the store. */
  readonly nodeId: string
  /** Sends the events to the status targets of the rooms. */
  readonly callbacks: Callbacks
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'recordsLost' | 'recordsRemoved'>
}

/** Values for the start of a {@link RoomHistory}. */
export interface RoomHistoryStart {
  /** Time for which sessions are kept, in ms. */
  readonly keepMs: number
  /** Last heartbeat of this gateway before its start, in ms since 1970. */
  readonly wasThereAt: number
  /** Returns how the sessions of a stopped process end. */
  readonly end: EndRooms
  /** Called with the number of callbacks by server that report the end of interrupted sessions. */
  readonly onCallbacks: (waiting: ReadonlyMap<string, number>) => void
}

/** Stores the sessions of rooms, with their members and events. Rooms never wait for the store. */
export class RoomHistory {
  readonly #deps: RoomHistoryDeps
  readonly #behind: WriteBehind<HistoryEntry>
  readonly #expired: ExpiredRows

  private constructor(deps: RoomHistoryDeps, keepMs: number) {
    const { clock, log, metrics } = deps
    this.#deps = deps
    const onLost = (entries: number) => metrics.recordsLost.inc(entries)
    this.#behind = new WriteBehind({ write: (entries) => this.#save(entries), clock, log, onLost })
    const tables = (['room_event', 'room_member', 'room_session'] as const).map((table) => ({
      removeOlder: (before: number, most: number) => deps.rows.removeOlder(table, before, most),
    }))
    this.#expired = new ExpiredRows({ tables, clock, log, metrics }, keepMs)
  }

  /**
   * Opens the history. Ends the sessions that were in progress when an earlier process of this gateway died.
   * Rejects if the store cannot be used.
   */
  static async open(
    deps: RoomHistoryDeps,
    { keepMs, wasThereAt, end, onCallbacks }: RoomHistoryStart,
  ): Promise<RoomHistory> {
    const history = new RoomHistory(deps, keepMs)
    const { sessions, callbacks } = await deps.rows.interrupt(deps.nodeId, wasThereAt, end)
    if (sessions > 0)
      deps.log.warn(
        { event: 'room.sessions-interrupted', sessions },
        'room sessions of the previous process recorded as interrupted',
      )
    onCallbacks(callbacks)
    history.#expired.start()
    return history
  }

  /** Id of this gateway among the gateways that share the store. */
  get nodeId(): string {
    return this.#deps.nodeId
  }

  /** Number of rows that wait to be written. */
  get waiting(): number {
    return this.#behind.waiting
  }

  /** Changes the time for which sessions are kept, in ms. */
  change(keepMs: number): void {
    this.#expired.change(keepMs)
  }

  /** Records a session from now on. Call it before the first member joins. */
  watch(session: RoomSession): void {
    const { nodeId, callbacks, clock } = this.#deps
    const put = (key: string, entry: HistoryEntry) => this.#behind.put(key, entry)
    new SessionHistory(session, { nodeId, put, callbacks, clock }).start()
  }

  /** Returns a session. Throws `unknown_resource`. */
  async find(projectId: string, id: string): Promise<RoomSessionRow> {
    await this.#behind.attempt()
    const row = isUuid(id) ? await this.#deps.rows.find(projectId, id) : undefined
    if (!row) throw new TrunklineError('unknown_resource')
    return row
  }

  /** Returns a page of sessions, the newest first. Throws `invalid_field` for a page that is too far away. */
  async list(projectId: string, search: RoomSessionSearch, page: ListPage): Promise<Listed<RoomSessionRow>> {
    checkOffset(page)
    await this.#behind.attempt()
    return listed(await this.#deps.rows.list(projectId, search, page), page)
  }

  /** Returns the sessions in progress of rooms, by the ids of the rooms. */
  async inProgress(
    projectId: string,
    roomIds: readonly string[],
  ): Promise<ReadonlyMap<string, RoomSessionRow>> {
    await this.#behind.attempt()
    const rows = await this.#deps.rows.inProgress(projectId, roomIds)
    return new Map(rows.map((row) => [row.room_id, row]))
  }

  /** Returns a page of the members of a session, in order of joining. Throws like {@link find} and `list`. */
  async members(projectId: string, sessionId: string, page: ListPage): Promise<Listed<RoomMemberRow>> {
    checkOffset(page)
    await this.find(projectId, sessionId)
    return listed(await this.#deps.rows.members(sessionId, page), page)
  }

  /** Returns a member of a session. Throws `unknown_resource` or `room_member_unknown`. */
  async member(projectId: string, sessionId: string, id: string): Promise<RoomMemberRow> {
    await this.find(projectId, sessionId)
    const row = isUuid(id) ? await this.#deps.rows.member(sessionId, id) : undefined
    if (!row) throw new TrunklineError('room_member_unknown')
    return row
  }

  /** Returns a page of the events of a session, in order. Throws like {@link find} and `list`. */
  async events(projectId: string, sessionId: string, page: ListPage): Promise<Listed<RoomEventRow>> {
    checkOffset(page)
    await this.find(projectId, sessionId)
    return listed(await this.#deps.rows.events(sessionId, page), page)
  }

  /**
   * Returns the streams of a session, in order of their start. One that was in progress when its gateway
   * crashed has no end. Throws like {@link find}.
   */
  async streams(projectId: string, sessionId: string): Promise<readonly StreamFacts[]> {
    await this.find(projectId, sessionId)
    const events = await this.#deps.rows.eventsNamed(sessionId, ['stream.started', 'stream.ended'])
    const streams = events.map(({ payload_json }): StreamFacts => JSON.parse(payload_json).stream)
    return [...new Map(streams.map((stream) => [stream.id, stream])).values()]
  }

  /** Writes waiting rows, for at most 5 s. Close it after the rooms and before the database. */
  async close(): Promise<void> {
    await this.#expired.close()
    await this.#behind.close(maxCloseMs)
  }

  async #save(entries: readonly HistoryEntry[]): Promise<void> {
    await this.#deps.rows.save({
      sessions: entries.flatMap((entry) => ('session' in entry ? entry.session : [])),
      members: entries.flatMap((entry) => ('member' in entry ? entry.member : [])),
      events: entries.flatMap((entry) => ('event' in entry ? entry.event : [])),
    })
  }
}

const checkOffset = ({ number, size }: ListPage): void => {
  if (number * size <= maxOffset) return
  const attribute = 'page_number'
  throw new TrunklineError('invalid_field', 'The page is too far from the start of the list.', { attribute })
}

/** Returns a page as a list that has one more entry if there are further ones. */
const listed = <Row>({ rows, more }: RowPage<Row>, { number, size }: ListPage): Listed<Row> => ({
  items: rows,
  total: number * size + rows.length + (more ? 1 : 0),
})

import { randomUUID } from 'node:crypto'
import { comparableRtmpUrl } from '../../../config/rtmp-url.ts'
import { maxRoomStreams } from '../../../config/schema/room-schema.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { Sealing } from '../../core/sealing.ts'
import type { RoomStreamTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'
import { lockRoom } from './lock-room.ts'

/** Stream that starts with each session of a room. Times in milliseconds since 1970. */
export type ConfiguredStream = Readonly<Omit<RoomStreamTable, 'url'>>

/** URL of a server for a stream. */
export interface StreamUrl {
  /** Whole URL: a secret. */
  readonly url: string
  /** URL without the key. */
  readonly shown: string
}

/** Returns the encryption of the URLs. `secret` is that of the gateway. */
export const sealingOfStreams = (secret: Uint8Array): Sealing => new Sealing(secret, 'URLs of room streams')

/** Encrypted URL of a stream. */
type SealedUrl = Pick<RoomStreamTable, 'id' | 'url'>

/**
 * Returns the {@link comparableRtmpUrl} of a stored stream; undefined if it was encrypted with another key.
 */
export const comparableUrlOf = (
  sealing: Pick<Sealing, 'open'>,
  { id, url }: SealedUrl,
): string | undefined => {
  let opened: string
  try {
    opened = sealing.open(url, id)
  } catch {
    return undefined
  }
  return comparableRtmpUrl(opened)
}

const urlField = { attribute: 'url' } as const

const shownColumns = [
  'id',
  'project_id',
  'room_id',
  'shown_url',
  'created_at',
  'updated_at',
  'managed_by_file',
] as const

/** Streams of rooms. Their URLs are stored encrypted. */
export class RoomStreams {
  readonly #store: Store
  readonly #sealing: Pick<Sealing, 'seal' | 'open'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #log: Pick<Log, 'info' | 'error'>

  constructor(
    store: Store,
    sealing: Pick<Sealing, 'seal' | 'open'>,
    clock: Pick<Clock, 'now'>,
    log: Pick<Log, 'info' | 'error'>,
  ) {
    this.#store = store
    this.#sealing = sealing
    this.#clock = clock
    this.#log = log
  }

  /** Returns a stream. Rejects with `unknown_resource`. */
  async find(projectId: string, id: string): Promise<ConfiguredStream> {
    const found = await this.#store
      .selectFrom('room_stream')
      .select(shownColumns)
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .executeTakeFirst()
    if (!found) throw new TrunklineError('unknown_resource')
    return found
  }

  /** Returns the streams of a room: those of the configuration file, then the earliest of the API. */
  ofRoom(roomId: string): Promise<readonly ConfiguredStream[]> {
    return this.#ofRoom(roomId).select(shownColumns).execute()
  }

  /**
   * Returns the whole URLs of the streams of a room, those of the configuration file first. One that was
   * encrypted with another key is logged and left out. The number of those beyond the maximum is logged, and
   * these are left out.
   */
  async urlsOf(roomId: string): Promise<readonly string[]> {
    const rows = await this.#ofRoom(roomId).select(['id', 'url']).execute()
    const urls = rows.flatMap(({ id, url }) => {
      try {
        return [this.#sealing.open(url, id)]
      } catch (err) {
        this.#log.error({ event: 'room.stream-unusable', stream: id, err }, 'stored stream cannot be used')
        return []
      }
    })
    const leftOut = urls.length - maxRoomStreams
    if (leftOut > 0)
      this.#log.info(
        { event: 'room.streams-left-out', room: roomId, count: leftOut, limit: maxRoomStreams },
        'streams of a room beyond the maximum left out',
      )
    return urls.slice(0, maxRoomStreams)
  }

  /**
   * Adds a stream to a room of the project. Rejects with `too_many_room_streams`, with `room_stream_exists`,
   * or with `unknown_resource` if another gateway has removed the room meanwhile.
   */
  async add(projectId: string, roomId: string, { url, shown }: StreamUrl): Promise<ConfiguredStream> {
    const id = randomUUID()
    const now = this.#clock.now()
    const row = {
      id,
      project_id: projectId,
      room_id: roomId,
      shown_url: shown,
      created_at: now,
      updated_at: now,
      managed_by_file: 0,
    }
    await this.#store.transaction().execute(async (write) => {
      const others = await this.#lockedRows(write, roomId)
      if (this.#has(others, url)) throw new TrunklineError('room_stream_exists', undefined, urlField)
      if (others.length >= maxRoomStreams) throw new TrunklineError('too_many_room_streams')
      await write
        .insertInto('room_stream')
        .values({ ...row, url: this.#sealing.seal(url, id) })
        .execute()
    })
    return row
  }

  /**
   * Changes the URL of a stream. Rejects with `unknown_resource`, `managed_by_file`, or `room_stream_exists`.
   */
  async change(projectId: string, id: string, { url, shown }: StreamUrl): Promise<ConfiguredStream> {
    const { room_id: roomId } = await this.#changeable(projectId, id)
    await this.#store.transaction().execute(async (write) => {
      const others = (await this.#lockedRows(write, roomId)).filter((row) => row.id !== id)
      if (this.#has(others, url)) throw new TrunklineError('room_stream_exists', undefined, urlField)
      await write
        .updateTable('room_stream')
        .set({ url: this.#sealing.seal(url, id), shown_url: shown, updated_at: this.#clock.now() })
        .where('id', '=', id)
        .where('managed_by_file', '=', 0)
        .execute()
    })
    return this.#changeable(projectId, id)
  }

  /** Removes a stream. Rejects with `unknown_resource` or `managed_by_file`. */
  async remove(projectId: string, id: string): Promise<void> {
    const { numDeletedRows } = await this.#store
      .deleteFrom('room_stream')
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .where('managed_by_file', '=', 0)
      .executeTakeFirst()
    if (numDeletedRows === 0n) await this.#changeable(projectId, id)
  }

  async #changeable(projectId: string, id: string): Promise<ConfiguredStream> {
    const found = await this.find(projectId, id)
    if (found.managed_by_file === 1) throw new TrunklineError('managed_by_file')
    return found
  }

  /** Locks a room, and returns its streams. Rejects with `unknown_resource` for a room that is gone. */
  async #lockedRows(write: Write, roomId: string): Promise<readonly SealedUrl[]> {
    await lockRoom(write, roomId)
    return write.selectFrom('room_stream').select(['id', 'url']).where('room_id', '=', roomId).execute()
  }

  /** Whether one of these streams has a URL. */
  #has(rows: readonly SealedUrl[], url: string): boolean {
    const wanted = comparableRtmpUrl(url)
    return rows.some((row) => comparableUrlOf(this.#sealing, row) === wanted)
  }

  #ofRoom(roomId: string) {
    return this.#store
      .selectFrom('room_stream')
      .where('room_id', '=', roomId)
      .orderBy('managed_by_file', 'desc')
      .orderBy('created_at')
      .orderBy('id')
  }
}

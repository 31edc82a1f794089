import { randomUUID } from 'node:crypto'
import { comparableRtmpUrl } from '../../../config/rtmp-url.ts'
import type { Sealing } from '../../core/sealing.ts'
import type { Write } from '../store/sqlite.ts'
import { comparableUrlOf, type StreamUrl } from '../tables/room-streams.ts'

/** Streams that a room has in the file. */
export interface DeclaredStreams {
  readonly projectId: string
  readonly roomId: string
  readonly streams: readonly StreamUrl[]
}

/**
 * Removes streams that are no longer in the file, and adds new ones. The others keep their ids. A stream of
 * the API with a URL of the file belongs to the file from now on, so that it does not run twice.
 */
export const provisionStreams = async (
  write: Write,
  declared: readonly DeclaredStreams[],
  sealing: Pick<Sealing, 'seal' | 'open'>,
  now: number,
): Promise<void> => {
  const keyOf = (roomId: string, comparable: string | undefined) => `${roomId} ${comparable}`
  const wanted = new Map(
    declared.flatMap(({ projectId, roomId, streams }) =>
      streams.map((stream) => [
        keyOf(roomId, comparableRtmpUrl(stream.url)),
        { projectId, roomId, ...stream },
      ]),
    ),
  )
  const all = new Set(wanted.keys())
  for (const { id, room_id, url, managed_by_file } of await rowsOf(write, declared)) {
    const key = keyOf(room_id, comparableUrlOf(sealing, { id, url }))
    const isKept = wanted.delete(key)
    const isOfFile = managed_by_file === 1
    if (isKept && !isOfFile)
      await write
        .updateTable('room_stream')
        .set({ managed_by_file: 1, updated_at: now })
        .where('id', '=', id)
        .execute()
    if (!isKept && (isOfFile || all.has(key)))
      await write.deleteFrom('room_stream').where('id', '=', id).execute()
  }
  for (const { projectId, roomId, url, shown } of wanted.values()) {
    const id = randomUUID()
    const times = { created_at: now, updated_at: now }
    const values = {
      id,
      project_id: projectId,
      room_id: roomId,
      url: sealing.seal(url, id),
      shown_url: shown,
    }
    await write
      .insertInto('room_stream')
      .values({ ...values, ...times, managed_by_file: 1 })
      .execute()
  }
}

/** Returns the streams of the file, then the other ones of its rooms with streams. */
const rowsOf = (write: Write, declared: readonly DeclaredStreams[]) => {
  const roomIds = declared.filter(({ streams }) => streams.length > 0).map(({ roomId }) => roomId)
  return write
    .selectFrom('room_stream')
    .select(['id', 'room_id', 'url', 'managed_by_file'])
    .where((where) => {
      const isOfFile = where('managed_by_file', '=', 1)
      return roomIds.length === 0 ? isOfFile : isOfFile.or('room_id', 'in', roomIds)
    })
    .orderBy('managed_by_file', 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

import { randomUUID } from 'node:crypto'
import type { Sealing } from '../../core/sealing.ts'
import type { Write } from '../store/sqlite.ts'
import type { StreamUrl } from '../tables/room-streams.ts'

/** Streams that a room has in the file. */
export interface DeclaredStreams {
  readonly projectId: string
  readonly roomId: string
  readonly streams: readonly StreamUrl[]
}

/** Removes streams that are no longer in the file, and adds new ones. The others keep their ids. */
export const provisionStreams = async (
  write: Write,
  declared: readonly DeclaredStreams[],
  sealing: Pick<Sealing, 'seal' | 'open'>,
  now: number,
): Promise<void> => {
  const keyOf = (roomId: string, url: string | undefined) => `${roomId} ${url}`
  const wanted = new Map(
    declared.flatMap(({ projectId, roomId, streams }) =>
      streams.map((stream) => [keyOf(roomId, stream.url), { projectId, roomId, ...stream }]),
    ),
  )
  const rows = await write
    .selectFrom('room_stream')
    .select(['id', 'room_id', 'url'])
    .where('managed_by_file', '=', 1)
    .execute()
  for (const { id, room_id, url } of rows) {
    if (wanted.delete(keyOf(room_id, opened(sealing, url, id)))) continue
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

/** Returns a stored URL; undefined if it was encrypted with another key. */
const opened = (sealing: Pick<Sealing, 'open'>, url: string, id: string): string | undefined => {
  try {
    return sealing.open(url, id)
  } catch {
    return undefined
  }
}

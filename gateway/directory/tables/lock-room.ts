import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Write } from '../store/sqlite.ts'

/**
 * Locks the row of a room until the transaction ends. Must be the first statement: it is a write, so nothing
 * is read before the lock. Rejects with `unknown_resource` for a room that is gone.
 */
export const lockRoom = async (write: Write, roomId: string): Promise<void> => {
  const { numUpdatedRows } = await write
    .updateTable('resource')
    .set({ id: roomId })
    .where('id', '=', roomId)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new TrunklineError('unknown_resource')
}

import type { DeviceTable } from '../store/schema.ts'
import type { Store, Write } from '../store/sqlite.ts'

/** Stored device. */
export type DeviceRow = Readonly<DeviceTable>

/** Table of subscribers' devices. */
export class DeviceRows {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns a subscriber's devices, the oldest first. */
  async of(subscriberId: string): Promise<readonly DeviceRow[]> {
    const rows = await this.#store
      .selectFrom('device')
      .selectAll()
      .where('subscriber_id', '=', subscriberId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map((row) => ({ ...row, created_at: Number(row.created_at) }))
  }

  /**
   * Stores and returns a device. If the subscriber has a device with the same token, its id stays and its
   * type is updated. If other subscribers of the project have the token, the device changed hands, and their
   * rows are removed. Rows of other projects stay: knowledge of a token must not take a device from another
   * project. Returns undefined if the subscriber already has `most`.
   */
  async add(row: DeviceRow, most: number): Promise<DeviceRow | undefined> {
    return this.#store.transaction().execute(async (transaction) => {
      const { subscriber_id, project_id, token, type } = row
      const others = await transaction
        .selectFrom('device')
        .select((q) => q.fn.countAll().as('count'))
        .where('subscriber_id', '=', subscriber_id)
        .where('token', '!=', token)
        .executeTakeFirstOrThrow()
      if (Number(others.count) >= most) return undefined
      await transaction
        .deleteFrom('device')
        .where('project_id', '=', project_id)
        .where('token', '=', token)
        .where('subscriber_id', '!=', subscriber_id)
        .execute()
      const stored = await transaction
        .insertInto('device')
        .values(row)
        .onConflict((conflict) => conflict.columns(['subscriber_id', 'token']).doUpdateSet({ type }))
        .returningAll()
        .executeTakeFirstOrThrow()
      return { ...stored, created_at: Number(stored.created_at) }
    })
  }

  /** Returns whether the subscriber still has a device. */
  async has({ subscriber_id, id }: Pick<DeviceRow, 'subscriber_id' | 'id'>): Promise<boolean> {
    const found = await this.#store
      .selectFrom('device')
      .select('id')
      .where('subscriber_id', '=', subscriber_id)
      .where('id', '=', id)
      .executeTakeFirst()
    return found !== undefined
  }

  /** Removes a device. Returns false if the subscriber has no such device. */
  async remove(subscriberId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#store
      .deleteFrom('device')
      .where('subscriber_id', '=', subscriberId)
      .where('id', '=', id)
      .executeTakeFirst()
    return numDeletedRows === 1n
  }
}

/**
 * Removes all devices of a subscriber, because the user who registered them may no longer act for the
 * subscriber.
 */
export const forgetDevices = async (write: Write, subscriberId: string): Promise<void> => {
  await write.deleteFrom('device').where('subscriber_id', '=', subscriberId).execute()
}

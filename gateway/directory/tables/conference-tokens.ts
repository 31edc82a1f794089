import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { isUuid } from '../model/uuid.ts'
import type { ConferenceTokenTable } from '../store/schema-rooms.ts'
import type { Store } from '../store/sqlite.ts'
import { lockRoom } from './lock-room.ts'
import { type RevokedToken, RevokedTokenRows } from './revoked-tokens.ts'

/** Names of the tokens of a conference, in the order of lists. */
export const conferenceTokenNames = ['moderator', 'guest'] as const

/** Stored token of a conference, without its text. Times in milliseconds since 1970. */
export type ConferenceTokenRow = Readonly<ConferenceTokenTable>

/** Table of the tokens of conferences. */
export class ConferenceTokenRows {
  readonly #store: Store
  readonly #clock: Pick<Clock, 'now'>

  constructor(store: Store, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Returns the tokens of a room of the project, in the order of {@link conferenceTokenNames}. Makes missing
   * ones. Rejects with `unknown_resource` if another gateway has removed the room meanwhile.
   */
  async ofRoom(projectId: string, roomId: string): Promise<readonly ConferenceTokenRow[]> {
    const known = await this.#ofRoom(roomId)
    if (known.length === conferenceTokenNames.length) return known
    const now = this.#clock.now()
    const made = conferenceTokenNames.map((name) => ({
      id: randomUUID(),
      project_id: projectId,
      room_id: roomId,
      name,
      version: randomUUID(),
      created_at: now,
      updated_at: now,
    }))
    await this.#store.transaction().execute(async (write) => {
      await lockRoom(write, roomId)
      await write
        .insertInto('conference_token')
        .values(made)
        .onConflict((conflict) => conflict.columns(['room_id', 'name']).doNothing())
        .execute()
    })
    return this.#ofRoom(roomId)
  }

  /** Returns a token; undefined for an unknown id. */
  async find(id: string): Promise<ConferenceTokenRow | undefined> {
    if (!isUuid(id)) return undefined
    return this.#store.selectFrom('conference_token').selectAll().where('id', '=', id).executeTakeFirst()
  }

  /**
   * Replaces a version of a token, and stores the revocation of the version. Replaces nothing if another
   * request has replaced it meanwhile.
   */
  async renew(
    { id, version }: Pick<ConferenceTokenRow, 'id' | 'version'>,
    revoked: RevokedToken,
  ): Promise<void> {
    await this.#store.transaction().execute(async (write) => {
      await write
        .updateTable('conference_token')
        .set({ version: randomUUID(), updated_at: this.#clock.now() })
        .where('id', '=', id)
        .where('version', '=', version)
        .execute()
      await new RevokedTokenRows(write).add(revoked)
    })
  }

  async #ofRoom(roomId: string): Promise<readonly ConferenceTokenRow[]> {
    const rows = await this.#store
      .selectFrom('conference_token')
      .selectAll()
      .where('room_id', '=', roomId)
      .execute()
    return conferenceTokenNames.flatMap((name) => rows.filter((row) => row.name === name))
  }
}

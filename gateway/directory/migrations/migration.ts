import type { Kysely } from 'kysely'

/** One step of the schema. */
export interface Migration {
  /** Name of the step, stored with the version to identify it. */
  readonly name: string
  up(db: Kysely<unknown>, now: number): Promise<void>
}

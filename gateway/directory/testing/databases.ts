import { Client } from 'pg'
import { FakeClock } from '../../core/clock.ts'
import { migrate } from '../migrations/run.ts'
import { openPostgres } from '../postgres/postgres.ts'
import type { TestPostgres } from './postgres-server.ts'

/** Makes the databases of a server, `t1` and so on. */
export class TestDatabases {
  readonly #server: Pick<TestPostgres, 'urlOf'>
  #made = 0
  #template: Promise<string> | undefined

  constructor(server: Pick<TestPostgres, 'urlOf'>) {
    this.#server = server
  }

  /**
   * URL of a new database with all tables and nothing in them: a copy, which is quicker by far than all steps
   * of the schema.
   */
  async make(): Promise<string> {
    this.#template ??= this.#makeTemplate()
    return this.#server.urlOf(await this.#copy(await this.#template))
  }

  /** URL of a new database without tables. */
  async makeEmpty(): Promise<string> {
    return this.#server.urlOf(await this.#copy('template1'))
  }

  async #makeTemplate(): Promise<string> {
    const name = await this.#copy('template1')
    const clock = new FakeClock()
    const log = { info: () => {}, error: () => {} }
    const url = this.#server.urlOf(name)
    const engine = await openPostgres({ url, connections: 1, startTimeoutMs: 30_000, clock, log })
    await migrate(engine.store, clock, engine.lock)
    await engine.listen(() => {})
    await engine.close()
    return name
  }

  async #copy(of: string): Promise<string> {
    const name = `t${++this.#made}`
    const client = new Client({ connectionString: this.#server.urlOf('postgres') })
    await client.connect()
    try {
      // Without a log of each page: there is a checkpoint instead, which costs nothing without fsync.
      await client.query(`create database ${name} template ${of} strategy file_copy`)
    } finally {
      await client.end()
    }
    return name
  }
}

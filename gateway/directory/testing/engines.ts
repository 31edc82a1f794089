import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, inject } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { Directory } from '../directory.ts'
import { createDirectory } from '../directory.ts'
import type { DirectoryOptions } from '../opening/directory-options.ts'
import { TestDatabases } from './databases.ts'
import { config } from './directories.ts'
import { quickPasswords } from './passwords.ts'
import { postgresPrograms, startPostgres, type TestPostgres } from './postgres-server.ts'

/** A server, and what makes databases of it. */
export interface TestServer extends TestPostgres {
  readonly databases: TestDatabases
}

/** Engine for the contract of the store. */
export interface TestEngine {
  /** The clock of the directories that it opens. */
  readonly clock: FakeClock
  /**
   * Opens a directory on the database of the test; closed with the test. One after the other, or at once
   * where `several`.
   */
  open(options?: Partial<DirectoryOptions>): Promise<Directory>
  /** URL or file of the database. */
  readonly place: Pick<DirectoryOptions, 'file' | 'url'>
  /** Several gateways may share the database. */
  readonly several: boolean
  /** The server; undefined for SQLite. */
  readonly server: TestServer | undefined
}

const programs = postgresPrograms()

/** Runs the tests on SQLite and on PostgreSQL; where that is not installed, they are skipped with a word. */
export const describeEngines = (name: string, tests: (engine: TestEngine) => void): void => {
  describe(`${name}, on SQLite`, () => tests(sqlite()))
  const word = programs === undefined ? ' (skipped: no PostgreSQL is installed)' : ''
  describe.skipIf(programs === undefined)(`${name}, on PostgreSQL${word}`, () => tests(postgres()))
}

/** Runs the tests on PostgreSQL alone. */
export const describePostgres = (name: string, tests: (engine: TestEngine) => void): void => {
  const word = programs === undefined ? ' (skipped: no PostgreSQL is installed)' : ''
  describe.skipIf(programs === undefined)(`${name}${word}`, () => tests(postgres()))
}

const sqlite = (): TestEngine => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-directory-'))
  })
  const engine = opening(() => ({ file: join(folder, 'directory.sqlite') }), undefined)
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  return engine
}

/** One server for all files of a process. */
let server: TestServer | undefined

const startServer = (programs: string): TestServer => {
  const started = startPostgres(programs, inject('serversFolder'))
  return { ...started, databases: new TestDatabases(started) }
}

const postgres = (): TestEngine => {
  let url = ''
  beforeAll(() => {
    if (programs !== undefined) server ??= startServer(programs)
  }, 60_000)
  beforeEach(async () => {
    url = (await server?.databases.make()) ?? ''
  })
  return opening(
    () => ({ file: ':memory:', url }),
    () => server,
  )
}

const opening = (
  placeNow: () => TestEngine['place'],
  server: (() => TestServer | undefined) | undefined,
): TestEngine => {
  const opened: Directory[] = []
  const engine = {
    clock: new FakeClock(),
    get place() {
      return placeNow()
    },
    several: server !== undefined,
    get server() {
      return server?.()
    },
    open: async (options: Partial<DirectoryOptions> = {}) => {
      const directory = await createDirectory({
        ...placeNow(),
        config: config(),
        clock: engine.clock,
        secret: new Uint8Array(32).fill(3),
        log: { info: () => {}, error: () => {} },
        passwords: quickPasswords(),
        ...options,
      })
      opened.push(directory)
      return directory
    },
  }
  afterEach(async () => {
    for (const directory of opened.splice(0)) await directory.close()
  })
  return engine
}

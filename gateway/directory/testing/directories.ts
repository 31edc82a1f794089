import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { Directory } from '../directory.ts'
import { createDirectory } from '../directory.ts'
import type { Resource } from '../model/resource-types.ts'
import type { DirectoryOptions } from '../opening/directory-options.ts'
import type { DirectoryConfig } from '../provision/declared.ts'
import { quickPasswords } from './passwords.ts'

/** A handler. */
export const script = {
  kind: 'script',
  document: '{}',
  name: 'trunkline.yaml: resources[0].handler',
} as const

/** An endpoint. */
export const phone = {
  username: 'desk1',
  password: 'Tele-fon-1',
  name: 'phone',
  context: 'public',
  mayDialOut: false,
  maxCalls: 10,
  callsPerSecond: 2,
  codecs: ['PCMA', 'opus'],
} satisfies DirectoryConfig['endpoints'][number]

/** Declarations of the file, with changes. */
export const config = (changes: Partial<DirectoryConfig> = {}): DirectoryConfig => ({
  project: 'project-1',
  projects: [{ id: 'project-1', name: 'project-1', signingKeys: [] }],
  sip: { registrar: { domains: ['Phones.Example', 'sip.example'] } },
  domains: [{ domain: 'Demo.Example', allow: ['127.0.0.0/8'], handler: script, maxCalls: 5 }],
  endpoints: [],
  subscribers: [
    { email: 'Alice@example.test', password: 'wonder', name: 'alice', context: 'public', mayDialOut: true },
    {
      email: 'bob@example.test',
      password: 'builder',
      name: 'bob',
      context: 'private',
      firstName: 'Bob',
      lastName: 'B',
      mayDialOut: false,
    },
  ],
  resources: [{ address: '/public/help', displayName: 'Help', handler: script }],
  ...changes,
})

/** Every resource of a project. */
export const everythingOf = (
  { resources }: Pick<Directory, 'resources'>,
  projectId = 'project-1',
): readonly Resource[] => resources.list(projectId, { sortBy: 'name', number: 0, size: 1_000 }).items

/** A store in a folder of its own, for each test of the file that makes it. */
export class TestStore {
  #folder = ''
  #opened: Directory[] = []

  constructor() {
    beforeEach(() => {
      this.#folder = mkdtempSync(join(tmpdir(), 'trunkline-directory-'))
    })
    afterEach(() => {
      for (const directory of this.#opened.splice(0)) directory.close()
      rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  get folder(): string {
    return this.#folder
  }

  get file(): string {
    return join(this.#folder, 'directory.sqlite')
  }

  /**
   * Opens a directory; it is closed with the test. Passwords are hashed by {@link quickPasswords}, unless
   * `changes` say otherwise.
   */
  open = async (
    declared = config(),
    where = this.file,
    changes: Pick<DirectoryOptions, 'numberTarget' | 'passwords'> = {},
  ): Promise<Directory> => {
    const directory = await createDirectory({
      file: where,
      config: declared,
      secret: new Uint8Array(32).fill(3),
      clock: new FakeClock(),
      log: { info: () => {}, error: () => {} },
      passwords: quickPasswords(),
      ...changes,
    })
    this.#opened.push(directory)
    return directory
  }

  /** Rows of the file, past the directory. */
  query = <T>(sql: string): T[] => {
    const database = new DatabaseSync(this.file)
    const rows = database.prepare(sql).all() as T[]
    database.close()
    return rows
  }
}

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** A PostgreSQL server for tests, in a temporary folder, on a socket in it: no port is taken. */
export interface TestPostgres {
  /** URL of a database of it. */
  urlOf(name: string): string
  /** Stops the server at once, as a crash does. */
  stop(): void
  /** Starts it again; it answers then. */
  start(): void
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the tests' database servers; see {@link setup}. */
    serversFolder: string
  }
}

/**
 * For Vitest: a folder for the servers of all its processes. A server is started by the first test that needs
 * one, and every one is ended when the last test is over, however that went.
 */
export const setup = (project: Pick<TestProject, 'provide'>): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-postgres-'))
  chmodSync(folder, 0o711)
  project.provide('serversFolder', folder)
  return () => {
    const programs = postgresPrograms()
    for (const pid of globSync(join(folder, '*', 'data', 'postmaster.pid')))
      if (programs !== undefined)
        runAsNobody(programs, 'pg_ctl', 'stop', '-D', dirname(pid), '-m', 'immediate')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Unprivileged user: the server refuses to run as root. */
const unprivilegedUser = 65_534
const isRoot = process.getuid?.() === 0

/**
 * Folder of the server's programs: Debian's newest, else where `PATH` has them; undefined: it is not
 * installed.
 */
export const postgresPrograms = (): string | undefined => {
  const [newest] = globSync('/usr/lib/postgresql/*/bin/postgres').sort().reverse()
  const { stdout } = spawnSync('sh', ['-c', 'command -v postgres'], { encoding: 'utf8' })
  const found = newest ?? stdout.trim()
  return found === '' ? undefined : dirname(found)
}

/** Nothing is read of what they print: the server itself holds on to it for as long as it runs. */
const runAsNobody = (programs: string, program: string, ...options: string[]): void => {
  const user = isRoot ? { uid: unprivilegedUser, gid: unprivilegedUser } : {}
  execFileSync(join(programs, program), options, { ...user, cwd: '/', stdio: 'ignore' })
}

/** Makes and starts a server in a new folder below `parent`. Throws where it does not start. */
export const startPostgres = (programs: string, parent: string): TestPostgres => {
  const folder = mkdtempSync(join(parent, 'server-'))
  if (isRoot) chownSync(folder, unprivilegedUser, unprivilegedUser)
  const run = (program: string, ...options: string[]) => runAsNobody(programs, program, ...options)
  const data = join(folder, 'data')
  run('initdb', '-D', data, '-U', 'trunkline', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync')
  const settings = [
    'listen_addresses=',
    `unix_socket_directories=${folder}`,
    // Nothing outlives the machine, and nothing is copied elsewhere. What is acknowledged outlives the server
    // all the same.
    'fsync=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_connections=50',
    'autovacuum=off',
    'jit=off',
  ]
  const start = () =>
    run('pg_ctl', 'start', '-w', '-D', data, '-o', settings.map((setting) => `-c ${setting}`).join(' '))
  const stop = () => run('pg_ctl', 'stop', '-w', '-D', data, '-m', 'immediate')
  start()
  return { start, stop, urlOf: (name) => `postgres:///${name}?host=${folder}&user=trunkline` }
}

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { it, onTestFinished } from 'vitest'
import { expectExampleCalls } from '../../sip-agent/testing/example-calls.ts'

const repository = dirname(dirname(import.meta.dirname))
const root = join(repository, 'sip-agent')
const modules = join(repository, 'node_modules')
const name = 'forward-calls.ts'
const source = join(root, 'example', name)

/** Packages of the repository that the installed example needs besides the tarball. */
const packages = ['drachtio-srf', 'ws']

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

it('the packed SIP agent runs its example in an empty folder, and passes the type checker', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sip-agent-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dist = join(folder, 'dist')
  run(process.execPath, [join(root, 'scripts', 'build.ts'), dist], root)
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder, dist], folder).trim()
  const app = join(folder, 'app')
  cpSync(source, join(app, name))
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
  const local = packages.map((each) => join(modules, each))
  run('npm', ['install', '--offline', '--no-save', '--ignore-scripts', join(folder, tarball), ...local], app)
  await expectExampleCalls(join(app, name))
  const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', '--typeRoots']
  const types = join(modules, '@types')
  run(process.execPath, [join(modules, 'typescript', 'bin', 'tsc'), ...strict, types, name], app)
})

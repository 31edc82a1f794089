import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Peer, testSdp } from '../testing/peer.ts'

const name = 'forward-calls.ts'
const source = join(import.meta.dirname, name)
const root = dirname(import.meta.dirname)

/** Packages of the repository that the installed example needs besides the tarball. */
const packages = ['drachtio-srf', 'ws']

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Resolves with the port that the example listens on. */
const portOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const port = /from port (\d+)/.exec(output)?.[1]
      if (port) resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', () => reject(new Error(`the example ended: ${output}`)))
  })

/** Sends INVITEs until one reaches the callee: the application's route may arrive after the first INVITE. */
const invite = async (caller: Peer, callee: Peer, uri: string) => {
  for (;;) {
    const call = caller.call(uri)
    caller.send('INVITE', call, { body: testSdp('offer') })
    const request = callee.request('INVITE')
    const first = await Promise.race([request, caller.response(503)])
    if (first.kind === 'request') return { call, request: first }
  }
}

/** Runs an example file, and places two calls through it: the first is rejected, the second answered. */
const expectCalls = async (file: string): Promise<void> => {
  const callee = await Peer.udp()
  closers.push(() => callee.close())
  const target = `sip:bob@127.0.0.1:${callee.port}`
  const child = spawn(process.execPath, [file, target, '0'], { stdio: ['ignore', 'pipe', 'pipe'] })
  closers.push(() => child.kill())
  const port = await portOf(child)
  const caller = await Peer.udp(port)
  closers.push(() => caller.close())
  const uri = `sip:anyone@127.0.0.1:${port}`

  const rejected = await invite(caller, callee, uri)
  callee.reply(rejected.request, 486)
  const busy = await caller.response(486)
  caller.send('ACK', rejected.call, { to: busy.headers.first('to') ?? '', branch: busy.via.branch })

  const { call, request } = await invite(caller, callee, uri)
  expect(request.uri).toBe(target)
  expect(request.body.toString()).toContain('s=offer')
  callee.reply(request, 200, { body: testSdp('answer') })
  const answer = await caller.response(200)
  expect(answer.body.toString()).toContain('s=answer')
  const to = answer.headers.first('to') ?? ''
  caller.send('ACK', call, { to })
  await callee.request('ACK')
  caller.send('BYE', { ...call, seq: 2 }, { to })
  callee.reply(await callee.request('BYE'), 200)
  await caller.response(200, 'BYE')
}

describe('the example of the README', () => {
  it('is the file that runs here', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(readFileSync(source, 'utf8'))
  })

  it('forwards calls, from the sources', async () => {
    await expectCalls(source)
  })

  it('forwards calls with the packed package in an empty folder, and passes the type checker', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sip-agent-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const dist = join(folder, 'dist')
    run(process.execPath, [join(root, 'scripts', 'build.ts'), dist], root)
    const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder, dist], folder).trim()
    const app = join(folder, 'app')
    cpSync(source, join(app, name))
    writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
    const local = packages.map((each) => join(root, '..', 'node_modules', each))
    run(
      'npm',
      ['install', '--offline', '--no-save', '--ignore-scripts', join(folder, tarball), ...local],
      app,
    )
    await expectCalls(join(app, name))
    const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', '--typeRoots']
    const types = join(root, '..', 'node_modules', '@types')
    run(
      process.execPath,
      [join(root, '..', 'node_modules', 'typescript', 'bin', 'tsc'), ...strict, types, name],
      app,
    )
  })
})

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLog } from '../core/log.ts'
import type { ReloadRequest, ReloadResult } from './config-reload.ts'
import { ControlSocket, controlSocketOf } from './control-socket.ts'

let folder: string
let control: ControlSocket | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-control-'))
})
afterEach(async () => {
  await control?.close()
  rmSync(folder, { recursive: true })
})

const open = async (dataDir = folder) => {
  const requests: ReloadRequest[] = []
  const lines: string[] = []
  const log = createLog({ level: 'info', pretty: false }, { write: (line) => lines.push(line) })
  const reload = async (request: ReloadRequest): Promise<ReloadResult> => {
    requests.push(request)
    const lists = { applied: [], restart: [], warnings: [], faults: [] }
    return { ...lists, outcome: 'unchanged', file: request.file ?? '', dryRun: request.dryRun ?? false }
  }
  control = await ControlSocket.open({ dataDir, reload, log })
  return { requests, lines }
}

/** All that is answered; undefined where nothing listens. */
const ask = (text: string): Promise<string | undefined> =>
  new Promise((settle) => {
    let answer = ''
    const socket = connect(controlSocketOf(folder), () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.on('error', () => settle(undefined))
    socket.on('close', () => settle(answer))
  })

it('answers a request with the result, for the owner of the data folder alone', async () => {
  const { requests } = await open()
  expect(statSync(controlSocketOf(folder)).mode & 0o777).toBe(0o600)
  const answer = await ask('{"command":"reload","dry_run":true,"file":"/etc/x.yaml"}\n')
  expect(JSON.parse(answer ?? '')).toMatchObject({ result: 'unchanged', dry_run: true, file: '/etc/x.yaml' })
  expect(requests).toEqual([{ dryRun: true, file: '/etc/x.yaml', by: 'command' }])
})

it.each([
  ['no JSON', 'reload\n'],
  ['null', 'null\n'],
  ['another command', '{"command":"stop","dry_run":true,"file":"x"}\n'],
  ['fields of other types', '{"command":"reload","dry_run":"yes","file":"x"}\n'],
])('refuses %s', async (_what, text) => {
  const { requests } = await open()
  expect(JSON.parse((await ask(text)) ?? '')).toEqual({ error: 'unknown request' })
  expect(requests).toEqual([])
})

it('gives up a connection that sends too much', async () => {
  const { requests } = await open()
  expect(await ask('x'.repeat(20_000))).toBe('')
  expect(requests).toEqual([])
})

it('takes the place of one that a killed process left, and removes its own', async () => {
  writeFileSync(controlSocketOf(folder), '')
  await open()
  expect(await ask('\n')).toContain('unknown request')
  await control?.close()
  expect(await ask('\n')).toBeUndefined()
  expect(() => statSync(controlSocketOf(folder))).toThrow('ENOENT')
})

it('is not there where its path is too long, and the log says so', async () => {
  const long = join(folder, 'x'.repeat(100))
  mkdirSync(long)
  const { lines } = await open(long)
  expect(lines[0]).toContain('control.socket-missing')
})

it('keeps no gateway from starting where it cannot be made', async () => {
  mkdirSync(controlSocketOf(folder))
  const { lines } = await open()
  expect(lines[0]).toContain('control.socket-missing')
})

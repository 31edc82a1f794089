import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { createLog } from '../core/log.ts'
import { ControlSocket, controlRequestMs, controlSocketOf } from './control-socket.ts'

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
  const requests: object[] = []
  const lines: string[] = []
  const clock = new FakeClock()
  const log = createLog({ level: 'info', pretty: false }, { write: (line) => lines.push(line) })
  const handlers = {
    reload: async (fields: object) => {
      requests.push(fields)
      return { result: 'unchanged' }
    },
    hangup: async () => {
      throw new TrunklineError('unknown_call', 'No call in progress has the id x.')
    },
    status: async () => {
      throw new Error('broken')
    },
  }
  control = await ControlSocket.open({ dataDir, requests: handlers, clock, log })
  return { requests, lines, clock }
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
  expect(JSON.parse(answer ?? '')).toEqual({ result: 'unchanged' })
  expect(requests).toEqual([{ command: 'reload', dry_run: true, file: '/etc/x.yaml' }])
})

it.each([
  ['no JSON', 'reload\n'],
  ['null', 'null\n'],
  ['another command', '{"command":"stop","dry_run":true,"file":"x"}\n'],
  ['the name of a property of every object', '{"command":"constructor"}\n'],
  ['a command that is no text', '{"command":["reload","x"]}\n'],
])('refuses %s', async (_what, text) => {
  const { requests } = await open()
  expect(JSON.parse((await ask(text)) ?? '')).toEqual({ error: 'unknown request' })
  expect(requests).toEqual([])
})

it('answers an error of a request with its text, and hides the text of a defect', async () => {
  const { lines } = await open()
  expect(JSON.parse((await ask('{"command":"hangup"}\n')) ?? '')).toEqual({
    error: 'No call in progress has the id x.',
    code: 'unknown_call',
  })
  expect(JSON.parse((await ask('{"command":"status"}\n')) ?? '')).toMatchObject({ code: 'internal' })
  expect(lines.join('')).toContain('broken')
})

it('gives up a connection that sends too much', async () => {
  const { requests } = await open()
  expect(await ask('x'.repeat(20_000))).toBe('')
  expect(requests).toEqual([])
})

/** Opens a connection and sends the start of a request only. `closed` resolves when the gateway closes it. */
const idle = async () => {
  const socket = connect(controlSocketOf(folder))
  await once(socket, 'connect')
  socket.write('{')
  return { closed: once(socket.resume(), 'close') }
}

it('says that the gateway is busy while eight connections are open', async () => {
  const { requests } = await open()
  for (let i = 0; i < 8; i++) await idle()
  const refused = JSON.parse((await ask('{"command":"reload"}\n')) ?? '')
  expect(refused).toMatchObject({ error: expect.stringMatching(/^8 commands/), code: 'too_many_requests' })
  expect(requests).toEqual([])
})

it('closes connections whose request does not end in time', async () => {
  const { clock } = await open()
  const connections = []
  for (let i = 0; i < 8; i++) connections.push((await idle()).closed)
  expect(await ask('{"command":"reload"}\n')).toContain('too_many_requests')
  clock.advance(controlRequestMs)
  await Promise.all(connections)
  expect(await ask('{"command":"reload"}\n')).toContain('unchanged')
  expect(clock.running).toBe(0)
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

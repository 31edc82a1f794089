import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { controlSocketOf } from '../operator/control-socket.ts'
import { reloadGateway } from './reload-command.ts'

let folder: string
let file: string
let server: Server | undefined
let printed: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-reload-'))
  file = join(folder, 'x.yaml')
  writeFileSync(file, 'dataDir: .')
  printed = ''
  const print = (text: string | Uint8Array) => {
    printed += String(text)
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(print)
  vi.spyOn(process.stderr, 'write').mockImplementation(print)
})
afterEach(() => {
  vi.restoreAllMocks()
  server?.close()
  server = undefined
  rmSync(folder, { recursive: true })
})

/** A gateway that gives this answer to every command. */
const answering = async (answer: object): Promise<void> => {
  const made = createServer((socket) => {
    socket.on('data', () => socket.end(`${JSON.stringify(answer)}\n`))
  })
  server = made
  await new Promise<void>((resolve) => made.listen(controlSocketOf(folder), resolve))
}

const reload = () => reloadGateway(file, { dryRun: false, json: false })

it('prints what the gateway answers', async () => {
  const lists = { applied: [], restart_needed: [], warnings: [], faults: [] }
  await answering({ ...lists, result: 'unchanged', dry_run: false, file, error: null })
  expect(await reload()).toBe(0)
  expect(printed).toBe('Reloaded: no key has changed. Certificates and other named files were read again.\n')
})

it('says what may be wrong where no gateway listens', async () => {
  expect(await reload()).toBe(4)
  expect(printed).toContain(`No gateway runs with the data folder ${folder}`)
  expect(printed).toContain('After a change of dataDir in the file')
})

it('prints why a gateway rejects it', async () => {
  await answering({ error: 'Eight commands are connected.', code: 'too_many_requests' })
  expect(await reload()).toBe(1)
  expect(printed).toBe('Eight commands are connected.\n')
})

it('says so where a gateway of another version does not understand it', async () => {
  await answering({ error: 'unknown request' })
  expect(await reload()).toBe(1)
  expect(printed).toContain('another version? {"error":"unknown request"}')
})

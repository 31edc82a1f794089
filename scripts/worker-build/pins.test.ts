import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkPin, readPins } from './pins.ts'
import { download } from './prebuilt.ts'

const bytes = Buffer.from('an archive')
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')

describe('a downloaded archive', () => {
  it('is accepted only with its pinned hash', () => {
    expect(() => checkPin('a.tgz', bytes, { 'a.tgz': sha256(bytes) }, {})).not.toThrow()
    expect(() => checkPin('a.tgz', Buffer.from('another'), { 'a.tgz': sha256(bytes) }, {})).toThrow(
      /not [\da-f]{64}/,
    )
    expect(() => checkPin('b.tgz', bytes, { 'a.tgz': sha256(bytes) }, {})).toThrow('has no pin')
    expect(() => checkPin('toString', bytes, {}, {})).toThrow('has no pin')
  })

  it('is accepted without a pin if permitted, but never with a wrong hash', () => {
    const env = { TRUNKLINE_WORKER_UNPINNED: 'yes' }
    expect(() => checkPin('b.tgz', bytes, {}, env)).not.toThrow()
    expect(() => checkPin('b.tgz', bytes, {}, { TRUNKLINE_WORKER_UNPINNED: 'no' })).toThrow('has no pin')
    expect(() => checkPin('a.tgz', bytes, { 'a.tgz': sha256(Buffer.from('x')) }, env)).toThrow('not')
  })
})

it('the pins are SHA-256 hashes by the names of archives', () => {
  for (const [name, hash] of Object.entries(readPins())) {
    expect(name).toMatch(/^mediasoup-worker-[\d.]+-\w+-\w+(-kernel\d+)?\.tgz$/)
    expect(hash).toMatch(/^[\da-f]{64}$/)
  }
})

describe('a download of the worker', () => {
  let folder: string
  let archive: Buffer
  const server = createServer((_request, response) => response.end(archive))

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-pins-'))
    writeFileSync(join(folder, 'package.json'), '{"repository":{"url":"http://unused.test"}}')
    // A real worker exits with 41 when run without arguments.
    writeFileSync(join(folder, 'mediasoup-worker'), '#!/bin/sh\nexit 41\n')
    chmodSync(join(folder, 'mediasoup-worker'), 0o755)
    spawnSync('tar', ['-czf', 'worker.tgz', 'mediasoup-worker'], { cwd: folder })
    archive = readFileSync(join(folder, 'worker.tgz'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    vi.stubEnv('MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL', `http://127.0.0.1:${port}`)
  })
  afterEach(() => {
    server.close()
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  it('is neither unpacked nor run without a pin or with a wrong hash', async () => {
    const said: string[] = []
    const get = (pins: object) => download(folder, '9.9.9', (text) => said.push(text), pins as never)
    expect(await get({})).toBeUndefined()
    expect(said.at(-1)).toContain('has no pin')
    const name = /mediasoup-worker-9\S+tgz/.exec(said.at(-1)!)![0]
    expect(await get({ [name]: sha256(bytes) })).toBeUndefined()
    const taken = await get({ [name]: sha256(archive) })
    expect(taken?.binary).toMatch(/mediasoup-worker$/)
    rmSync(taken!.folder, { recursive: true })
  })
})

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addonFile, loadAddon } from '../../media/edge/sockets-open.ts'
import { ensureAddon } from './addon.ts'

const compiler = spawnSync('cc', ['--version']).status === 0

describe('the native sockets of the media threads', () => {
  let folder: string
  const path = process.env.PATH
  const said: string[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'addon-'))
    said.length = 0
  })
  afterEach(() => {
    process.env.PATH = path
    rmSync(folder, { recursive: true, force: true })
  })

  it.runIf(compiler)('are built once, and copied to the path that the edge loads', () => {
    ensureAddon(folder, (text) => said.push(text))
    expect(said).toEqual([])
    const [file = '', ...others] = readdirSync(folder)
    expect(file).toMatch(/^udp-[0-9a-f]{12}\.node$/)
    expect(others).toEqual([])
    const { mtimeMs } = statSync(join(folder, file))
    process.env.PATH = folder
    ensureAddon(folder, (text) => said.push(text))
    expect(said).toEqual([])
    expect(statSync(join(folder, file)).mtimeMs).toBe(mtimeMs)
    expect(statSync(addonFile).size).toBe(statSync(join(folder, file)).size)
    expect(loadAddon().slots).toBeGreaterThan(0)
  })

  it('are left out without a compiler, with a message', () => {
    process.env.PATH = folder
    ensureAddon(folder, (text) => said.push(text))
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/Node's own sockets.*no C compiler/)
    expect(readdirSync(folder)).toEqual([])
  })
})

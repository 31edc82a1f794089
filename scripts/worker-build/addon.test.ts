import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadPictures, picturesFile } from '../../media/compose/pictures.ts'
import { addonFile, loadAddon } from '../../media/edge/sockets-open.ts'
import { type Addon, ensureAddon, picturesAddon, socketsAddon } from './addon.ts'

const canCompile = ({ libraries }: Addon): boolean =>
  spawnSync('cc', ['--version']).status === 0 &&
  libraries.every(
    ({ header }) =>
      spawnSync('cc', ['-fsyntax-only', '-include', header, '-x', 'c', '/dev/null']).status === 0,
  )

describe('the native addons', () => {
  let folder: string
  const path = process.env.PATH
  const said: string[] = []
  const ensure = (addon: Addon) => ensureAddon(addon, folder, (text) => said.push(text))

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'addon-'))
    said.length = 0
  })
  afterEach(() => {
    process.env.PATH = path
    rmSync(folder, { recursive: true, force: true })
  })

  const ensureWithout = (addon: Addon) => {
    ensure(addon)
    expect(said).toEqual([expect.stringMatching(new RegExp(`^${addon.without}: `))])
  }

  it.each([
    { addon: socketsAddon, file: addonFile, load: loadAddon },
    { addon: picturesAddon, file: picturesFile, load: loadPictures },
  ])('$addon.name is built once, and copied to the path that is loaded', ({ addon, file, load }) => {
    if (!canCompile(addon)) return ensureWithout(addon)
    ensure(addon)
    expect(said).toEqual([])
    const [kept = '', ...others] = readdirSync(folder)
    expect(kept).toMatch(new RegExp(`^${addon.name}-[0-9a-f]{12}\\.node$`))
    expect(others).toEqual([])
    const { mtimeMs } = statSync(join(folder, kept))
    process.env.PATH = folder
    ensure(addon)
    expect(said).toEqual([])
    expect(statSync(join(folder, kept)).mtimeMs).toBe(mtimeMs)
    expect(statSync(file).size).toBe(statSync(join(folder, kept)).size)
    expect(load().version).toBeGreaterThan(0)
  })

  it.each([
    { addon: socketsAddon, message: /^media threads use Node's own sockets.*no C compiler/ },
    { addon: picturesAddon, message: /^composer unavailable: no C compiler/ },
  ])('$addon.name is left out without a compiler, with a message', ({ addon, message }) => {
    process.env.PATH = folder
    ensure(addon)
    expect(said).toEqual([expect.stringMatching(message)])
    expect(readdirSync(folder)).toEqual([])
  })

  it('names the libraries that are missing, and their packages, in one line', () => {
    writeFileSync(join(folder, 'cc'), '#!/bin/sh\nexit 1\n')
    chmodSync(join(folder, 'cc'), 0o755)
    process.env.PATH = folder
    ensure(picturesAddon)
    expect(said).toEqual([
      'composer unavailable: libvpx and libyuv not found (Debian: apt-get install libvpx-dev libyuv-dev)',
    ])
  })
})

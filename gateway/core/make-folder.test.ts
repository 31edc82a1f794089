import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { folderFault, makeFolder } from './make-folder.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'make-folder-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('creates a folder with its parents, and keeps one that exists', () => {
  const path = join(folder, 'a/b/c')
  expect(folderFault(path)).toBeUndefined()
  makeFolder(path)
  makeFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  expect(folderFault(path)).toBeUndefined()
})

describe('refuses', () => {
  it('a path below a file', () => {
    writeFileSync(join(folder, 'file'), '')
    const reason = `The folder ${folder}/file/data cannot be created: ${folder}/file is a file.`
    expect(() => makeFolder(join(folder, 'file/data'))).toThrow(reason)
    expect(() => makeFolder(join(folder, 'file/more/data'))).toThrow('cannot be created')
  })

  it('a file', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(folderFault(join(folder, 'file'))).toBe(`cannot be used: ${folder}/file is a file`)
  })

  it.each(['/proc/trunkline/data', '/sys/trunkline'])('%s, at once', (path) => {
    expect(() => makeFolder(path)).toThrow(/cannot be created: \/(proc|sys) is a system folder/)
  })

  it.runIf(process.getuid?.() !== 0)('a folder without permission', () => {
    mkdirSync(join(folder, 'closed'), { mode: 0o500 })
    expect(folderFault(join(folder, 'closed/data'))).toContain('this user may not write to')
  })
})

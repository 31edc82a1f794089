import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { readOrMakeKey } from '../auth/key.ts'
import { Signers } from '../callbacks/signing-keys.ts'
import { printSigningKeys } from './signing-key-command.ts'

let folder: string
let out: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-signing-'))
  out = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const print = (yaml: string, project?: string): string[] => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, `dataDir: data\n${yaml}`)
  out = ''
  expect(printSigningKeys(loadConfig(file, {}), project)).toBe(0)
  return out.trim().split('\n')
}

it('prints the key that is made, always the same, and that signs', () => {
  const [key = '', ...more] = print('project: p1')
  expect(more).toEqual([])
  expect(print('project: p1')).toEqual([key])
  expect(print('project: p2')).not.toEqual([key])
  const secret = readOrMakeKey(join(folder, 'data', 'secret.key'))
  const signed = { url: 'https://x.example/', id: 'e', at: 0 }
  const given = new Signers([{ id: 'p9', signingKeys: [key] }], secret).of('p9')
  expect(new Signers([], secret).of('p1').headers(signed)).toEqual(given.headers(signed))
})

it('prints those of the configuration', () => {
  expect(print('webhooks: { signingKeys: [new-key-of-16-letters, old-key-of-16-letters] }')).toEqual([
    'new-key-of-16-letters',
    'old-key-of-16-letters',
  ])
})

it('prints those of one project, and no others', () => {
  const yaml = 'projects: [{ id: two, signingKeys: [key-of-project-two] }, { id: three }]'
  expect(print(yaml, 'two')).toEqual(['key-of-project-two'])
  expect(print(`${yaml}\nwebhooks: { signingKeys: [key-of-the-first-one] }`, 'three')).not.toEqual([
    'key-of-the-first-one',
  ])
})

it('prints them for programs', () => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, 'dataDir: data\nproject: one\nwebhooks: { signingKeys: [new-key-of-16-letters] }')
  expect(printSigningKeys(loadConfig(file, {}), undefined, { json: true })).toBe(0)
  expect(JSON.parse(out)).toEqual({ project: 'one', keys: ['new-key-of-16-letters'] })
})

it('names the projects of the file if the given one is unknown', () => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, 'dataDir: data\nproject: one\nprojects: [{ id: two }]')
  let err = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text
    return true
  })
  expect(printSigningKeys(loadConfig(file, {}), 'tow')).toBe(2)
  expect(err).toBe('trunkline: The file has no project tow. Its projects: one, two.\n')
})

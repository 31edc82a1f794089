import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { readOrMakeKey } from './auth/key.ts'
import { printSigningKeys } from './signing-key-command.ts'
import { signersOf } from './webhooks/signing-keys.ts'

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

const print = (yaml: string): string[] => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, `dataDir: data\n${yaml}`)
  out = ''
  expect(printSigningKeys(loadConfig(file, {}))).toBe(0)
  return out.trim().split('\n')
}

it('prints the key that is made, always the same, and that signs', () => {
  const [key = '', ...more] = print('project: p1')
  expect(more).toEqual([])
  expect(print('project: p1')).toEqual([key])
  expect(print('project: p2')).not.toEqual([key])
  const secret = readOrMakeKey(join(folder, 'data', 'secret.key'))
  const signed = { url: 'https://x.example/', id: 'e', at: 0 }
  expect(signersOf([], secret)('p1').headers(signed)).toEqual(signersOf([key], secret)('p9').headers(signed))
})

it('prints those of the configuration', () => {
  expect(print('webhooks: { signingKeys: [new-key-of-16-letters, old-key-of-16-letters] }')).toEqual([
    'new-key-of-16-letters',
    'old-key-of-16-letters',
  ])
})

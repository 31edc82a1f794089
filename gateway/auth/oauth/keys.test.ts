import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readOrMakeSigningKeys } from './keys.ts'

const now = Date.UTC(2026, 10, 22)
let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trunkline-oauth-keys-'))
  folder = join(root, 'oauth-keys')
})
afterEach(() => rmSync(root, { recursive: true }))

it('makes one that its owner alone can read, and finds it again', async () => {
  const made = await readOrMakeSigningKeys(folder, now)
  expect(made).toMatchObject([{ kty: 'RSA', alg: 'RS256', use: 'sig', kid: expect.any(String) }])
  expect(readdirSync(folder)).toEqual(['2026-11-22.pem'])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, '2026-11-22.pem')).mode & 0o777).toBe(0o600)
  expect(await readOrMakeSigningKeys(folder, now + 86_400_000)).toEqual(made)
})

it('signs with the one that was added last, and keeps the others', async () => {
  const [old] = await readOrMakeSigningKeys(folder, now)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, '2027-01-01.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const both = await readOrMakeSigningKeys(folder, now)
  expect(both).toHaveLength(2)
  expect(both[1]).toEqual(old)
})

it.each([
  ['nonsense', () => 'nonsense'],
  [
    'a key of another kind',
    () =>
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ],
  [
    'a short key',
    () =>
      generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ],
])('names the file that holds %s', async (_what, content) => {
  await readOrMakeSigningKeys(folder, now)
  writeFileSync(join(folder, 'a.pem'), content())
  await expect(readOrMakeSigningKeys(folder, now)).rejects.toThrow(/a\.pem holds no/)
})

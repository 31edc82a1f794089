import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { Vapid } from '../push/vapid.ts'
import { printPushKeys } from './push-keys-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-push-keys-'))
afterEach(() => vi.restoreAllMocks())
afterAll(() => {
  rmSync(folder, { recursive: true })
})

it('prints configuration that can be used as it is', async () => {
  let out = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  expect(printPushKeys()).toBe(0)
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, out)
  const { subject, publicKey = '', privateKey = '' } = loadConfig(file, {}).push.webPush!
  await expect(Vapid.open({ subject, publicKey, privateKey })).resolves.toBeInstanceOf(Vapid)
})

it('prints the same for programs', () => {
  let out = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  expect(printPushKeys({ json: true })).toBe(0)
  expect(Object.keys(JSON.parse(out).push.webPush)).toEqual(['subject', 'publicKey', 'privateKey'])
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { readOrMakeKey } from '../auth/key.ts'
import { SubscriberTokens } from '../auth/subscriber-tokens.ts'
import { SystemClock } from '../core/clock.ts'
import { issueToken } from './token-command.ts'

let folder: string
let out: string
let err: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-token-'))
  out = ''
  err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const issueFor = (who: string, options = {}): Promise<number> => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(
    file,
    `dataDir: data
subscribers:
  - email: Alice@example.test
    password: wonderland
    name: alice
resources:
  - address: /public/menu
    handler: { kind: script, document: { sections: { main: [answer] } } }
`,
  )
  return issueToken(loadConfig(file, {}), who, options)
}

it.each(['alice@example.test', '/public/alice'])('prints a token of a day for %s', async (who) => {
  expect(await issueFor(who)).toBe(0)
  expect([out.split('\n').length, err]).toEqual([2, ''])
  const tokens = new SubscriberTokens(readOrMakeKey(join(folder, 'data', 'secret.key')), new SystemClock())
  const { issuedAt, expiresAt, subscriberId } = await tokens.verify(out.trim())
  expect(expiresAt - Math.floor(issuedAt)).toBe(86_400)
  expect(subscriberId).not.toBe('')
})

it.each(['bob@example.test', '/public/menu', 'sip:alice@example.test', ''])(
  'prints none for %j, which is no subscriber',
  async (who) => {
    expect(await issueFor(who)).toBe(1)
    expect(out).toBe('')
    expect(err).toContain('No subscriber')
  },
)

it('prints a token with its end for programs', async () => {
  expect(await issueFor('/public/alice', { json: true })).toBe(0)
  const { token, subscriber_id: id, expires_at: end } = JSON.parse(out)
  const tokens = new SubscriberTokens(readOrMakeKey(join(folder, 'data', 'secret.key')), new SystemClock())
  const { subscriberId, expiresAt } = await tokens.verify(token)
  expect([id, Date.parse(end)]).toEqual([subscriberId, expiresAt * 1000])
})

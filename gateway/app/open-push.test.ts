import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import { FakeClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { Metrics } from '../core/metrics.ts'
import { ConfigFollowers } from '../directory/provision/config-followers.ts'
import { newVapidKeys } from '../push/vapid.ts'
import { CloseStack } from './close-stack.ts'
import { openPush } from './open-push.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-open-push-'))
afterAll(() => rmSync(folder, { recursive: true }))

let closing: CloseStack
afterEach(() => closing.close())

const open = (push: object) => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, JSON.stringify({ push }))
  const log = createLog({ level: 'silent', pretty: false })
  closing = new CloseStack(log)
  const metrics = new Metrics()
  const followers = new ConfigFollowers()
  const base = { config: loadConfig(file, {}), clock: new FakeClock(), log, closing, followers }
  // Neither is used before there is a call.
  return {
    metrics,
    opened: openPush(base, { directory: {}, secret } as never, { http: {} } as never, metrics),
  }
}

const secret = new Uint8Array(32).fill(7)
const subject = 'mailto:ops@x.example'
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return name
}

describe('push notifications', () => {
  it('are none where no way is configured', async () => {
    const { metrics, opened } = open({})
    expect(await (await opened).call('unknown', false)).toBeUndefined()
    expect(await metrics.text()).toContain('trunkline_push_sending 0')
  })

  it('open with a pair of keys', async () => {
    const { metrics, opened } = open({ webPush: { subject, ...newVapidKeys() } })
    expect(await opened).toBeDefined()
    expect(await metrics.text()).toContain('trunkline_push_sending 0')
  })

  it('open without keys, which are made', async () => {
    expect(await open({ webPush: { subject } }).opened).toBeDefined()
  })

  it.each<[string, () => object, string]>([
    [
      'keys that are no pair',
      () => ({ webPush: { subject, ...newVapidKeys(), privateKey: newVapidKeys().privateKey } }),
      'do not belong together',
    ],
    ['a file that is not there', () => ({ fcm: { serviceAccountFile: 'gone.json' } }), 'gone.json'],
    [
      'a file that is another one',
      () => ({ fcm: { serviceAccountFile: write('other.json', '{}') } }),
      'other.json cannot be used for push notifications: token_uri must be a text',
    ],
    [
      'a key that is none',
      () => ({ apns: { keyFile: write('a.p8', 'a secret'), keyId: 'k', teamId: 't', topic: 'x' } }),
      'a.p8 cannot be used for push notifications',
    ],
  ])('do not start with %s', async (_what, push, message) => {
    const failure = await open(push()).opened.then(String, String)
    expect(failure).toContain(message)
    expect(failure).not.toContain('a secret')
  })
})

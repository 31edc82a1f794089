import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigInvalid } from '../faults.ts'
import { loadConfig } from '../load.ts'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-push-'))
afterAll(() => rmSync(folder, { recursive: true }))

const load = (yaml: string) => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, yaml)
  return loadConfig(file, {}).push
}

const publicKey = 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8'
const privateKey = 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'
const webPush = (more: object) =>
  `push: ${JSON.stringify({ webPush: { subject: 'mailto:ops@x.example', publicKey, privateKey, ...more } })}`

describe('push', () => {
  it('has Web Push, APNs, FCM and a webhook, with default hosts', () => {
    const config = load(`push:
  encryption: none
  whenOnline: true
  webPush: { subject: "https://x.example/contact", publicKey: ${publicKey}, privateKey: ${privateKey} }
  apns: { keyFile: keys/apns.p8, keyId: KEY1234567, teamId: TEAM123456, topic: com.example.phone }
  fcm: { serviceAccountFile: keys/fcm.json }
  webhook: { url: "https://x.example/push" }`)
    expect(config).toEqual({
      encryption: 'none',
      whenOnline: true,
      webPush: { subject: 'https://x.example/contact', publicKey, privateKey },
      apns: {
        keyFile: join(folder, 'keys/apns.p8'),
        keyId: 'KEY1234567',
        teamId: 'TEAM123456',
        topic: 'com.example.phone',
        host: 'api.push.apple.com',
      },
      fcm: { serviceAccountFile: join(folder, 'keys/fcm.json'), host: 'fcm.googleapis.com' },
      webhook: { url: 'https://x.example/push' },
    })
  })

  it('needs no keys for Web Push, because the gateway derives them', () => {
    const subject = 'mailto:ops@x.example'
    expect(load(`push: { webPush: { subject: "${subject}" } }`).webPush).toEqual({ subject })
  })

  it.each([
    [
      'a public key alone',
      webPush({ privateKey: undefined }),
      'push.webPush: must have both publicKey and privateKey, or neither; privateKey is missing',
    ],
    [
      'a private key alone',
      webPush({ publicKey: undefined }),
      'push.webPush: must have both publicKey and privateKey, or neither; publicKey is missing',
    ],
    ['a subject that is not a URI', webPush({ subject: 'ops@x.example' }), 'push.webPush.subject'],
    ['a public key that is invalid', webPush({ publicKey: privateKey }), 'push.webPush.publicKey'],
    ['a private key that is invalid', webPush({ privateKey: publicKey }), 'push.webPush.privateKey'],
    [
      'base64 in place of base64url',
      webPush({ privateKey: privateKey.replace('-', '+') }),
      'push.webPush.privateKey',
    ],
    ['half of the account', 'push: { apns: { keyFile: a.p8 } }', 'push.apns'],
    ['another encryption', 'push: { encryption: rot13 }', 'push.encryption'],
    ['a webhook that is not a URL', 'push: { webhook: { url: nowhere } }', 'push.webhook.url'],
  ])('is rejected with %s', (_what, yaml, path) => {
    const failure = (() => {
      try {
        load(yaml)
      } catch (error) {
        return error
      }
    })()
    expect(failure).toBeInstanceOf(ConfigInvalid)
    expect(String(failure)).toContain(path)
    // A message must not contain a key.
    expect(String(failure)).not.toContain(privateKey)
  })
})

import type { RequestListener } from 'node:http'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { importJWK, jwtVerify } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { PushHttp, PushUnreachable } from './push-http.ts'
import { closeServers, deviceOf, makeBrowser, messageTo, serveTls } from './testing/push-servers.ts'
import { newVapidKeys, Vapid } from './vapid.ts'
import { subscriptionOf, WebPush } from './web-push.ts'

const now = Date.now()
const open: WebPush[] = []
afterEach(async () => {
  for (const transport of open.splice(0)) transport.close()
  await closeServers()
})

const subject = 'mailto:ops@gateway.example'
const quiet = new AbortController().signal

const make = async (answer: RequestListener, networks = ['127.0.0.0/8']) => {
  const { port, seen, ca } = await serveTls(answer)
  const keys = newVapidKeys()
  const vapid = await Vapid.open({ ...keys, subject })
  const http = new PushHttp({ guard: new AddressGuard(networks), ca })
  const transport = new WebPush(http, vapid, () => now)
  open.push(transport)
  const browser = await makeBrowser()
  const sendTo = (endpoint: string) =>
    transport.send(messageTo(deviceOf(browser.token(endpoint), 'Desktop'), now), quiet)
  const send = () => sendTo(`https://localhost:${port}/push/secret-1`)
  return { port, seen, keys, transport, browser, send, sendTo }
}

const status =
  (code: number, headers = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(code, headers).end()

describe('a web push', () => {
  it('is encrypted for the browser, and signed with the key of the operator', async () => {
    const { port, seen, keys, browser, send } = await make(status(201))
    expect(await send()).toEqual({ kind: 'sent' })
    const [{ path, headers, body }] = seen as [(typeof seen)[0]]
    expect(path).toBe('/push/secret-1')
    expect(headers).toMatchObject({
      ttl: '30',
      urgency: 'high',
      'content-encoding': 'aes128gcm',
      topic: expect.stringMatching(/^[\w-]{32}$/),
    })
    expect(JSON.parse(await browser.decrypt(body))).toMatchObject({
      type: 'call_invite',
      incoming_caller_name: 'Zoë',
    })
    const [, token = '', k = ''] = /^vapid t=([^,]+), k=(\S+)$/.exec(headers.authorization ?? '') ?? []
    expect(k).toBe(keys.publicKey)
    const point = Buffer.from(k, 'base64url')
    const [x = '', y = ''] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
      part.toString('base64url'),
    )
    const key = await importJWK({ kty: 'EC', crv: 'P-256', x, y }, 'ES256')
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      audience: `https://localhost:${port}`,
    })
    expect(protectedHeader).toEqual({ typ: 'JWT', alg: 'ES256' })
    expect(payload).toMatchObject({ sub: subject, exp: Math.floor(now / 1000) + 43_200 })
  })

  it.each([
    [404, { kind: 'gone', reason: 'status-404' }],
    [410, { kind: 'gone', reason: 'status-410' }],
    [403, { kind: 'refused', reason: 'status-403' }],
    [413, { kind: 'refused', reason: 'status-413' }],
    [503, { kind: 'later', reason: 'status-503' }],
    // A redirect is not followed.
    [307, { kind: 'refused', reason: 'status-307' }],
  ])('handles the response %i', async (code, outcome) => {
    const { send, seen } = await make(status(code, { location: 'https://127.0.0.1/elsewhere' }))
    expect(await send()).toEqual(outcome)
    expect(seen).toHaveLength(1)
  })

  it('waits for the time that the service names', async () => {
    const { send } = await make(status(429, { 'retry-after': '7' }))
    expect(await send()).toEqual({ kind: 'later', reason: 'status-429', afterMs: 7000 })
  })

  it('reaches no private address, by name or by IP address', async () => {
    const { port, seen, sendTo } = await make(status(201), [])
    for (const host of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]', '169.254.169.254']) {
      const failure = await sendTo(`https://${host}:${port}/push`).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(PushUnreachable)
      expect(failure).toMatchObject({ reason: 'address-refused' })
    }
    expect(seen).toHaveLength(0)
  })

  it('does not reveal the endpoint in a failure', async () => {
    const { sendTo } = await make(status(201))
    const failure = await sendTo('https://127.0.0.1:1/push/secret-1').catch((error: unknown) => error)
    expect(failure).toMatchObject({ reason: 'connect' })
    expect(JSON.stringify([String(failure), failure])).not.toContain('secret-1')
  })

  it('is not sent with an invalid key or an oversized payload', async () => {
    const { transport, browser, seen } = await make(status(201))
    const token = JSON.parse(browser.token('https://push.example/1'))
    token.keys.p256dh = Buffer.alloc(65, 7).toString('base64url')
    const message = messageTo(deviceOf(JSON.stringify(token), 'Desktop'), now)
    expect(await transport.send(message, quiet)).toEqual({ kind: 'gone', reason: 'bad-key' })
    const large = messageTo(deviceOf(browser.token('https://push.example/1'), 'Desktop'), now)
    const payload = { ...large.payload, invite: 'x'.repeat(4000) }
    expect(await transport.send({ ...large, payload }, quiet)).toEqual({
      kind: 'refused',
      reason: 'too-large',
    })
    expect(seen).toHaveLength(0)
  })
})

describe('the token of a device', () => {
  it('is a subscription', async () => {
    const { token, p256dh } = await makeBrowser()
    const found = subscriptionOf(token('https://push.example/1?x=2'))
    expect(found?.endpoint.href).toBe('https://push.example/1?x=2')
    expect(found?.keys.p256dh).toEqual(Buffer.from(p256dh))
  })

  it.each([
    ['of another service', 'abcd:APA91bE'],
    ['broken', '{"endpoint":'],
    ['null', 'null'],
    ['without keys', '{"endpoint":"https://push.example/1"}'],
    ['without TLS', '{"endpoint":"http://push.example/1","keys":{"p256dh":"BCVx","auth":"BTBZ"}}'],
    ['with short keys', '{"endpoint":"https://push.example/1","keys":{"p256dh":"BCVx","auth":"BTBZ"}}'],
  ])('is invalid if it is %s', (_what, token) => {
    expect(subscriptionOf(token)).toBeUndefined()
  })
})

describe('configured keys', () => {
  it('must be a pair', async () => {
    const one = newVapidKeys()
    const other = newVapidKeys()
    const mixed = { publicKey: one.publicKey, privateKey: other.privateKey, subject }
    await expect(Vapid.open(mixed)).rejects.toThrow('push.webPush: publicKey and privateKey do not belong')
    const zero = { ...one, privateKey: Buffer.alloc(32).toString('base64url'), subject }
    await expect(Vapid.open(zero)).rejects.toThrow('push.webPush')
  })
})

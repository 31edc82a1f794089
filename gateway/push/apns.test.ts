import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
} from 'node:http2'
import { type AddressInfo, Socket } from 'node:net'
import { jwtVerify } from 'jose'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Apns } from './apns.ts'
import { PushUnreachable } from './push-http.ts'
import { authority, deviceOf, messageTo } from './testing/push-servers.ts'

const token = 'A1'.repeat(32)
const quiet = new AbortController().signal
const opened: { readonly server: Http2SecureServer; readonly apns: Apns; sessions: ServerHttp2Session[] }[] =
  []

afterEach(async () => {
  for (const { server, apns, sessions } of opened.splice(0)) {
    apns.close()
    for (const session of sessions) session.destroy()
    server.close()
    await once(server, 'close')
  }
})

type Answer = readonly [status: number, reason?: string] | 'hang up' | 'goodbye' | 'refused' | 'silent'

/** Starts a fake of Apple's service with these responses in order; the last one repeats. */
const make = async (...answers: (Answer | Promise<Answer>)[]) => {
  const { certificate: ca, issue } = await authority()
  const { certificate: cert, key } = await issue({ dns: ['localhost'] })
  const seen: { headers: IncomingHttpHeaders; body: unknown }[] = []
  const sessions: ServerHttp2Session[] = []
  const server = createSecureServer({ cert, key })
  server.on('session', (session) => sessions.push(session))
  server.on('sessionError', () => {})
  server.on('stream', async (stream, headers) => {
    stream.on('error', () => {})
    let text = ''
    for await (const part of stream) text += part
    seen.push({ headers, body: JSON.parse(text) })
    const answer = await (answers.length > 1 ? answers.shift()! : answers[0]!)
    if (answer === 'silent') return
    if (answer === 'refused') return stream.close(constants.NGHTTP2_REFUSED_STREAM)
    if (answer === 'hang up') return sessions.at(-1)?.destroy()
    if (answer === 'goodbye') sessions.at(-1)?.goaway()
    const [status, reason] = answer === 'goodbye' ? [200] : answer
    stream.respond({ ':status': status })
    stream.end(reason ? JSON.stringify({ reason }) : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `localhost:${(server.address() as AddressInfo).port}`
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const clock = new FakeClock()
  const account = { key: pem, keyId: 'KEY1234567', teamId: 'TEAM123456', topic: 'com.example.phone' }
  const apns = await Apns.open({ ...account, host, ca, now: () => clock.now() })
  opened.push({ server, apns, sessions })
  const send = (signal = quiet) => apns.send(messageTo(deviceOf(token, 'iOS'), clock.now()), signal)
  return { clock, seen, sessions, publicKey: pair.publicKey, send, apns }
}

describe('a notification by Apple’s service', () => {
  it('is a VoIP notification with the token of the team', async () => {
    const { clock, seen, send, publicKey } = await make([200])
    expect(await send()).toEqual({ kind: 'sent' })
    const [{ headers, body }] = seen as [(typeof seen)[0]]
    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': `/3/device/${token.toLowerCase()}`,
      'apns-topic': 'com.example.phone.voip',
      'apns-push-type': 'voip',
      'apns-priority': '10',
      'apns-expiration': String(clock.now() / 1000 + 30),
    })
    expect(body).toMatchObject({ aps: {}, type: 'call_invite', incoming_caller_name: 'Zoë' })
    const [, jwt = ''] = /^bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    const { payload, protectedHeader } = await jwtVerify(jwt, publicKey)
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect(payload).toEqual({ iss: 'TEAM123456', iat: clock.now() / 1000 })
  })

  it('reuses connection and token until the token is old', async () => {
    const { clock, seen, sessions, send } = await make([200])
    await send()
    clock.advance(39 * 60_000)
    await send()
    clock.advance(60_000)
    await send()
    const [first, second, third] = seen.map(({ headers }) => headers.authorization)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(sessions).toHaveLength(1)
  })

  it.each([
    [410, 'Unregistered', { kind: 'gone', reason: 'status-410', detail: 'Unregistered' }],
    [400, 'BadDeviceToken', { kind: 'gone', reason: 'status-400', detail: 'BadDeviceToken' }],
    // A wrong topic is an error of the operator, and must not remove devices.
    [
      400,
      'DeviceTokenNotForTopic',
      { kind: 'refused', reason: 'status-400', detail: 'DeviceTokenNotForTopic' },
    ],
    [403, 'InvalidProviderToken', { kind: 'refused', reason: 'status-403', detail: 'InvalidProviderToken' }],
    [429, 'TooManyRequests', { kind: 'later', reason: 'status-429', detail: 'TooManyRequests' }],
    [500, undefined, { kind: 'later', reason: 'status-500' }],
  ])('handles the response %i %s', async (status, reason, outcome) => {
    const { send } = await make([status, reason])
    expect(await send()).toEqual(outcome)
  })

  it('has a new token if Apple rejects the last one as too old', async () => {
    const { clock, seen, send } = await make([403, 'ExpiredProviderToken'], [200])
    expect(await send()).toMatchObject({ kind: 'later' })
    clock.advance(1000)
    expect(await send()).toEqual({ kind: 'sent' })
    expect(seen[1]?.headers.authorization).not.toBe(seen[0]?.headers.authorization)
  })

  it('shares one token with all concurrent notifications', async () => {
    const { seen, send } = await make([200])
    await Promise.all([send(), send(), send()])
    expect(new Set(seen.map(({ headers }) => headers.authorization)).size).toBe(1)
  })

  it('keeps its new token if the old one is rejected once more', async () => {
    const late = Promise.withResolvers<Answer>()
    const { seen, send } = await make(late.promise, [403, 'ExpiredProviderToken'], [200])
    const first = send()
    await vi.waitFor(() => expect(seen).toHaveLength(1))
    await send()
    await send()
    late.resolve([403, 'ExpiredProviderToken'])
    expect(await first).toMatchObject({ kind: 'later' })
    await send()
    expect(seen[3]?.headers.authorization).toBe(seen[2]?.headers.authorization)
  })

  it('does not affect other notifications when the service resets it', async () => {
    const late = Promise.withResolvers<Answer>()
    const { seen, sessions, send } = await make(late.promise, 'refused')
    const first = send()
    await vi.waitFor(() => expect(seen).toHaveLength(1))
    await expect(send()).rejects.toThrow(PushUnreachable)
    late.resolve([200])
    expect(await first).toEqual({ kind: 'sent' })
    expect(sessions).toHaveLength(1)
  })

  it('uses a new connection after the last one was lost or became silent', async () => {
    const { seen, sessions, send } = await make('hang up', [200], 'silent', [200])
    await expect(send()).rejects.toThrow(PushUnreachable)
    expect(await send()).toEqual({ kind: 'sent' })
    const controller = new AbortController()
    const silent = send(controller.signal)
    await vi.waitFor(() => expect(seen).toHaveLength(3))
    controller.abort()
    await expect(silent).rejects.toThrow(PushUnreachable)
    expect(await send()).toEqual({ kind: 'sent' })
    expect(sessions).toHaveLength(3)
  })

  it('keeps its idle connection alive', async () => {
    const keptAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
    onTestFinished(() => keptAlive.mockRestore())
    const { send } = await make([200])
    await send()
    expect(keptAlive.mock.calls).toContainEqual([true, 60_000])
  })

  it('uses a new connection after a GOAWAY', async () => {
    const { sessions, send } = await make('goodbye', [200])
    expect(await send()).toEqual({ kind: 'sent' })
    expect(await send()).toEqual({ kind: 'sent' })
    expect(sessions).toHaveLength(2)
  })

  it('accepts only tokens of Apple', async () => {
    const { apns } = await make([200])
    expect(apns.takes({ token, type: 'iOS' })).toBe(true)
    expect(apns.takes({ token, type: 'Android' })).toBe(false)
    expect(apns.takes({ token: '../../x', type: 'iOS' })).toBe(false)
  })
})

import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Fcm, serviceAccountOf } from './fcm.ts'
import { PushHttp } from './push-http.ts'
import { closeServers, deviceOf, messageTo, serveTls } from './testing/push-servers.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const private_key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const quiet = new AbortController().signal
const open: Fcm[] = []

afterEach(async () => {
  for (const fcm of open.splice(0)) fcm.close()
  await closeServers()
})

type Answer = readonly [status: number, body?: object, headers?: Record<string, string>]

/** Starts fakes of Google's services: `signIn` answers token requests, the others messages in order. */
const make = async (answers: Answer[], signIn: Answer = [200]) => {
  let tokens = 0
  const clock = new FakeClock()
  const { port, seen, ca } = await serveTls((request, response) => {
    const [status, body, headers] =
      request.url === '/token'
        ? [
            signIn[0],
            signIn[1] ?? { access_token: `ya29.${++tokens}`, expires_in: 3600, token_type: 'Bearer' },
          ]
        : (answers.shift() ?? [500])
    response.writeHead(status, headers).end(JSON.stringify(body ?? {}))
  })
  const account = serviceAccountOf(
    JSON.stringify({
      type: 'service_account',
      project_id: 'phone-app',
      private_key,
      client_email: 'push@phone-app.example',
      token_uri: `https://localhost:${port}/token`,
    }),
  )
  const http = new PushHttp({ ca })
  const fcm = await Fcm.open({ account, host: `localhost:${port}`, http, now: () => clock.now() })
  open.push(fcm)
  const send = (type = 'Android') =>
    fcm.send(messageTo(deviceOf('dQw4w9WgXcQ:APA91bE-x_y', type), clock.now()), quiet)
  const of = (path: string) => seen.filter((request) => request.path === path)
  return {
    clock,
    port,
    fcm,
    send,
    signIns: () => of('/token'),
    sends: () => of('/v1/projects/phone-app/messages:send'),
  }
}

const fault = (code: string) => ({ error: { details: [{ '@type': 'FcmError', errorCode: code }] } })

describe('a notification by Firebase', () => {
  it('is a data message with an access token of the service account', async () => {
    const { clock, port, send, sends, signIns } = await make([[200]])
    expect(await send()).toEqual({ kind: 'sent' })
    const form = new URLSearchParams(signIns()[0]?.body.toString())
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload } = await jwtVerify(form.get('assertion') ?? '', pair.publicKey, {
      audience: `https://localhost:${port}/token`,
      issuer: 'push@phone-app.example',
      currentDate: new Date(clock.now()),
    })
    expect(payload.scope).toBe('https://www.googleapis.com/auth/firebase.messaging')
    const [{ headers, body }] = sends() as [ReturnType<typeof sends>[0]]
    expect(headers.authorization).toBe('Bearer ya29.1')
    const { message } = JSON.parse(body.toString())
    expect(message).toMatchObject({
      token: 'dQw4w9WgXcQ:APA91bE-x_y',
      android: { priority: 'HIGH', ttl: '30s' },
      data: { type: 'call_invite', incoming_caller_name: 'Zoë' },
    })
    // Google accepts no other value.
    expect(Object.values(message.data).every((value) => typeof value === 'string')).toBe(true)
  })

  it('for a browser is urgent by a header of Web Push', async () => {
    const { send, sends } = await make([[200]])
    await send('Desktop')
    expect(JSON.parse(String(sends()[0]?.body)).message.webpush).toEqual({
      headers: { TTL: '30', Urgency: 'high' },
    })
  })

  it('shares one access token, which is renewed near its expiry', async () => {
    const { clock, send, signIns } = await make([[200], [200], [200], [200]])
    await Promise.all([send(), send()])
    clock.advance(3_539_000)
    await send()
    expect(signIns()).toHaveLength(1)
    clock.advance(1000)
    await send()
    expect(signIns()).toHaveLength(2)
  })

  it.each<[Answer, object]>([
    [[404, fault('UNREGISTERED')], { kind: 'gone', reason: 'status-404', detail: 'UNREGISTERED' }],
    [
      [
        400,
        {
          error: {
            details: [{ errorCode: 'INVALID_ARGUMENT' }, { fieldViolations: [{ field: 'message.token' }] }],
          },
        },
      ],
      { kind: 'gone', reason: 'status-400', detail: 'INVALID_ARGUMENT' },
    ],
    [[400, fault('INVALID_ARGUMENT')], { kind: 'refused', reason: 'status-400', detail: 'INVALID_ARGUMENT' }],
    [
      [403, fault('SENDER_ID_MISMATCH')],
      { kind: 'refused', reason: 'status-403', detail: 'SENDER_ID_MISMATCH' },
    ],
    [
      [429, fault('QUOTA_EXCEEDED'), { 'retry-after': '5' }],
      { kind: 'later', reason: 'status-429', detail: 'QUOTA_EXCEEDED', afterMs: 5000 },
    ],
    [[503], { kind: 'later', reason: 'status-503' }],
  ])('handles the response %j', async (answer, outcome) => {
    const { send } = await make([answer])
    expect(await send()).toEqual(outcome)
  })

  it('signs in again if its access token is rejected', async () => {
    const { send, sends } = await make([[401], [200]])
    expect(await send()).toEqual({ kind: 'later', reason: 'status-401' })
    expect(await send()).toEqual({ kind: 'sent' })
    expect(sends().map(({ headers }) => headers.authorization)).toEqual(['Bearer ya29.1', 'Bearer ya29.2'])
  })

  it.each<[Answer, string]>([
    [[401, { error: 'invalid_grant' }], 'refused'],
    [[503, {}], 'later'],
    [[200, { access_token: 5 }], 'later'],
  ])('is not sent if the sign-in is answered with %j', async (signIn, kind) => {
    const { send, sends } = await make([], signIn)
    expect(await send()).toMatchObject({ kind, reason: 'sign-in' })
    expect(sends()).toHaveLength(0)
  })

  it('accepts only tokens of Firebase', async () => {
    const { fcm } = await make([])
    expect(fcm.takes({ token: 'dQw4w9WgXcQ:APA91bE-x_y', type: 'Android' })).toBe(true)
    expect(fcm.takes({ token: 'dQw4w9WgXcQ:APA91bE-x_y', type: 'iOS' })).toBe(false)
    expect(fcm.takes({ token: '{"endpoint":"https://push.example"}', type: 'Desktop' })).toBe(false)
  })
})

describe('the file of a service account', () => {
  it.each([
    ['{', 'it is no JSON'],
    ['null', 'token_uri must be a text'],
    ['{"token_uri":"http://x.example"}', 'token_uri must be an https URL'],
    ['{"token_uri":"https://x.example","project_id":""}', 'project_id must be a text'],
  ])('is rejected if it is %s', (text, message) => {
    expect(() => serviceAccountOf(text)).toThrow(message)
  })
})

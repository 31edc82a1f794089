import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { Signer } from '../callbacks/signatures.ts'
import { closeAll, make, serve } from '../callbacks/testing/customer-servers.ts'
import { PushWebhook } from './push-webhook.ts'
import { deviceOf, messageTo } from './testing/push-servers.ts'

afterEach(closeAll)

const key = 'a-key-of-the-project'
const message = messageTo(deviceOf('some-token', 'Android'), Date.UTC(2026, 0, 1))

describe('a notification through a server of the operator', () => {
  it('contains the token of the device and is signed', async () => {
    const { url, seen } = await serve((_request, response) => response.writeHead(204).end())
    const http = make({ signer: (project) => new Signer(project === 'p1' ? [key] : []) })
    expect(await new PushWebhook(`${url}/push`, http).send(message)).toEqual({ kind: 'sent' })
    const [{ request, body }] = seen as [(typeof seen)[0]]
    expect(JSON.parse(body)).toEqual({
      device_id: 'device-1',
      device_token: 'some-token',
      device_type: 'Android',
      subscriber_id: 'subscriber-1',
      project_id: 'p1',
      expires_at: '2026-01-01T00:00:30.000Z',
      notification: message.payload,
    })
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers
    const expected = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
    expect(signature).toBe(`v1,${expected}`)
    expect(id).toBe(`${message.payload.notification_uuid}.call_invite.device-1`)
  })

  it.each([
    [410, { kind: 'gone', reason: 'status-410' }],
    [404, { kind: 'refused', reason: 'status-404' }],
    [502, { kind: 'later', reason: 'status-502' }],
  ])('handles the response %i', async (status, outcome) => {
    const { url } = await serve((_request, response) => response.writeHead(status).end())
    expect(await new PushWebhook(url, make()).send(message)).toEqual(outcome)
  })
})

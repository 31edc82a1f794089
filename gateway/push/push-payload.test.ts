import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type CallNotice, sealedPayloadOf } from './push-payload.ts'
import { openInvite } from './testing/push-servers.ts'

const event = {
  event_type: 'webrtc.message',
  node_id: 'n',
  params: { params: { sdp: 'v=0\r\n'.repeat(300) } },
}
const notice: CallNotice = {
  type: 'call_invite',
  id: 'u-1',
  callerName: 'Zoë',
  callerId: '+15551230001',
  withVideo: true,
  event,
}

describe('a notification', () => {
  it('has every field of the specification as text', async () => {
    const payload = sealedPayloadOf(notice, randomBytes(32))
    expect(payload).toEqual({
      type: 'call_invite',
      encryption_type: 'aes_256_gcm',
      notification_uuid: 'u-1',
      with_video: 'true',
      incoming_caller_name: 'Zoë',
      incoming_caller_id: '+15551230001',
      invite: expect.any(String),
      title: 'Incoming call',
      iv: expect.any(String),
      tag: expect.any(String),
      version: '1.0',
    })
    const sizes = [payload.iv, payload.tag].map((text) => Buffer.from(text, 'base64').length)
    expect(sizes).toEqual([12, 16])
    // The event has 1,500 characters, so it must be compressed.
    expect(payload.invite.length).toBeLessThan(300)
  })

  it('is readable only with its key', async () => {
    const key = randomBytes(32)
    const payload = sealedPayloadOf(notice, key)
    expect(await openInvite(payload, key.toString('base64'))).toEqual(event)
    await expect(openInvite(payload, randomBytes(32).toString('base64'))).rejects.toThrow()
    expect(sealedPayloadOf(notice, key).iv).not.toBe(payload.iv)
  })

  it('is readable without a key if it is not encrypted', async () => {
    const payload = sealedPayloadOf({ ...notice, type: 'cancel', withVideo: false })
    expect(payload).toMatchObject({
      encryption_type: 'none',
      iv: '',
      tag: '',
      type: 'cancel',
      with_video: 'false',
    })
    expect(await openInvite(payload, '')).toEqual(event)
  })
})

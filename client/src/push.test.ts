import { createCipheriv, randomBytes } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { decryptPush, type PushPayload } from './push.ts'
import { connected } from './testing/connected.ts'
import { offerOf } from './testing/descriptions.ts'
import { settled } from './testing/fakes.ts'
import { released } from './testing/situations.ts'
import type { IncomingCallHandlers } from './types.ts'

const event = {
  event_type: 'webrtc.message',
  node_id: 'n7',
  params: {
    jsonrpc: '2.0',
    id: 1,
    method: 'verto.invite',
    params: {
      callID: 'c1',
      sdp: offerOf('audio', 'video'),
      caller_id_name: 'Müller',
      caller_id_number: '+15551230001',
    },
  },
}
const key = randomBytes(32)

const payload = (encrypted: boolean): PushPayload => {
  const packed = deflateRawSync(JSON.stringify(event))
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = Buffer.concat([cipher.update(packed), cipher.final()])
  return {
    type: 'call_invite',
    notification_uuid: 'u1',
    with_video: 'false',
    title: 'Incoming call',
    incoming_caller_name: 'Müller',
    incoming_caller_id: '+15551230001',
    version: '1.0',
    encryption_type: encrypted ? 'aes_256_gcm' : 'none',
    invite: (encrypted ? sealed : packed).toString('base64'),
    iv: encrypted ? iv.toString('base64') : '',
    tag: encrypted ? cipher.getAuthTag().toString('base64') : '',
  }
}

describe('decryptPush', () => {
  it.each([true, false])('reads the event of an invitation; encrypted: %s', async (encrypted) => {
    const given = payload(encrypted)
    expect(await decryptPush(given, key.toString('base64'))).toEqual({ ...given, decrypted: event })
  })

  it.each<[string, Partial<PushPayload>]>([
    ['another iv', { iv: randomBytes(12).toString('base64') }],
    ['another tag', { tag: randomBytes(16).toString('base64') }],
    ['no base64', { invite: '***' }],
    ['an unknown encryption', { encryption_type: 'rot13' }],
    ['what was not compressed', { encryption_type: 'none', invite: btoa('{}') }],
  ])('rejects %s', async (_, change) => {
    const reading = decryptPush({ ...payload(true), ...change }, key.toString('base64'))
    await expect(reading).rejects.toMatchObject({ name: 'ClientError', code: 'bad_argument' })
  })

  it('rejects another key', async () => {
    const reading = decryptPush(payload(true), randomBytes(32).toString('base64'))
    await expect(reading).rejects.toMatchObject({ code: 'bad_argument' })
  })
})

describe('handlePushNotification', () => {
  const pushed = async (incomingCallHandlers?: IncomingCallHandlers) => {
    const { browser, client } = await connected({ incomingCallHandlers })
    const handling = client.handlePushNotification({ type: 'call_invite', decrypted: event })
    await settled()
    browser.socket.reply('verto.subscribe')
    return { browser, client, ...(await handling) }
  }
  const handlers = () => ({ all: vi.fn(), websocket: vi.fn(), pushNotification: vi.fn() })
  const rejected = { cause: 'CALL_REJECTED' }

  it('attaches to the call, which can be answered', async () => {
    const { browser, resultType, resultObject } = await pushed()
    expect(browser.socket.requests('verto.subscribe')[0]).toMatchObject({
      params: { callID: 'c1', node_id: 'n7' },
      message: { params: { sessid: 'c1', eventChannel: [] } },
    })
    expect([resultType, resultObject.id, resultObject.state]).toEqual(['inboundCall', 'c1', 'new'])
    const answering = resultObject.answer()
    await settled()
    browser.socket.reply('verto.answer')
    await answering
    expect(browser.peer.remote[0]).toEqual({ type: 'offer', sdp: offerOf('audio', 'video') })
    expect(resultObject.state).toBe('active')
  })

  it('returns a call whose hangup() declines', async () => {
    const { browser, resultObject } = await pushed()
    void resultObject.hangup()
    expect(browser.socket.requests('verto.bye')[0]?.message.params).toMatchObject(rejected)
    expect(resultObject.state).toBe('ended')
  })

  it('returns a call that can be hung up while it is answered', async () => {
    const { browser, resultObject } = await pushed()
    const answering = resultObject.answer()
    void resultObject.hangup()
    await expect(answering).rejects.toMatchObject({ code: 'canceled' })
    await settled()
    expect(browser.socket.requests('verto.bye').map(({ message }) => message.params)).toMatchObject([
      rejected,
    ])
    released(browser)
  })

  it('calls the handler for push notifications, or the general one, never that of the connection', async () => {
    const both = handlers()
    await pushed(both)
    expect([both.all, both.websocket, both.pushNotification].map(({ mock }) => mock.calls.length)).toEqual([
      0, 0, 1,
    ])
    const { pushNotification: _, ...others } = handlers()
    await pushed(others)
    expect(others.websocket).not.toHaveBeenCalled()
    expect(others.all.mock.calls[0]?.[0].invite.details).toMatchObject({
      source: 'pushNotification',
      callID: 'c1',
      nodeId: 'n7',
      caller_id_name: 'Müller',
    })
  })

  it('lets the invite answer, and then not the call', async () => {
    const { all } = handlers()
    const { browser, resultObject } = await pushed({ all })
    const { invite } = all.mock.calls[0]![0]
    const accepting = invite.accept({ video: true })
    await settled()
    expect(browser.requested).toEqual([{ audio: true, video: true }])
    browser.socket.reply('verto.answer')
    expect((await accepting).state).toBe('active')
    expect(resultObject.reason).toMatchObject({ code: 'answered_elsewhere' })
    await expect(resultObject.answer()).rejects.toMatchObject({ code: 'answered_elsewhere' })
    expect(browser.socket.requests('verto.bye')).toEqual([])
  })

  it('lets the invite reject', async () => {
    const { all } = handlers()
    const { browser, resultObject } = await pushed({ all })
    const rejecting = all.mock.calls[0]![0].invite.reject()
    browser.socket.reply('verto.bye')
    await rejecting
    expect(browser.socket.requests('verto.bye').map(({ message }) => message.params)).toEqual([
      expect.objectContaining(rejected),
    ])
    expect(resultObject.state).toBe('ended')
  })

  it('lets the call answer, and then not the invite', async () => {
    const { all } = handlers()
    const { resultObject } = await pushed({ all })
    const { invite } = all.mock.calls[0]![0]
    void resultObject.answer()
    expect(invite.isPending).toBe(false)
    await expect(invite.accept()).rejects.toMatchObject({ code: 'bad_state' })
  })

  it('ends both when the caller cancels', async () => {
    const { all } = handlers()
    const { browser, resultObject } = await pushed({ all })
    browser.socket.verto('verto.bye', { callID: 'c1', cause: 'ORIGINATOR_CANCEL', causeCode: '487' })
    expect(resultObject.reason).toMatchObject({ code: 'canceled' })
    expect(await all.mock.calls[0]![0].invite.canceled).toMatchObject({ code: 'canceled' })
  })

  it('returns the call of the invite over the connection, whichever comes first', async () => {
    const both = handlers()
    const { browser, client, resultObject } = await pushed(both)
    browser.socket.verto('verto.invite', event.params.params)
    const again = client.handlePushNotification({ type: 'call_invite', decrypted: event })
    expect((await again).resultObject).toBe(resultObject)
    expect(both.websocket).not.toHaveBeenCalled()
    browser.socket.verto('verto.invite', { ...event.params.params, callID: 'c2' })
    const second = { ...event, params: { ...event.params, params: { ...event.params.params, callID: 'c2' } } }
    const handling = client.handlePushNotification({ type: 'call_invite', decrypted: second })
    await settled()
    browser.socket.reply('verto.subscribe')
    const { resultObject: other } = await handling
    expect([both.websocket.mock.calls.length, both.pushNotification.mock.calls.length]).toEqual([1, 1])
    void other.hangup()
    expect(both.websocket.mock.calls[0]![0].invite.isPending).toBe(false)
  })

  it('leaves an undecided call to other devices when the client is disconnected', async () => {
    const { all } = handlers()
    const { browser, client, resultObject } = await pushed({ all })
    client.disconnect()
    expect(browser.socket.requests('verto.bye')).toEqual([])
    expect(resultObject.reason).toMatchObject({ code: 'disconnected' })
    expect(await all.mock.calls[0]![0].invite.canceled).toMatchObject({ code: 'disconnected' })
  })

  it.each([
    { type: 'cancel', decrypted: event },
    { type: 'call_invite', decrypted: {} },
    { type: 'call_invite', decrypted: { params: { params: { callID: 'c1' } } } },
  ])('rejects %j', async (given) => {
    const { client } = await connected()
    await expect(client.handlePushNotification(given)).rejects.toMatchObject({ code: 'bad_argument' })
  })
})

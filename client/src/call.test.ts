import { describe, expect, it } from 'vitest'
import { settled } from './testing/fakes.ts'
import { answered, dialled, released, setUp } from './testing/situations.ts'

describe('an outgoing call', () => {
  it('uses the latest TURN servers, of the connection or of a new token', async () => {
    const { browser, client } = await setUp({ ice_servers: [{ urls: 'turn:old.test' }] })
    const updating = client.updateToken('t2')
    browser.socket.reply('signalwire.reauthenticate', { ice_servers: [{ urls: 'turn:new.test' }] })
    await updating
    await dialled(client)
    expect(browser.peer.configuration.iceServers).toEqual([{ urls: 'turn:new.test' }])
    const again = client.updateToken('t3')
    browser.socket.reply('signalwire.reauthenticate', {})
    await again
    await dialled(client)
    expect(browser.peers).toHaveLength(2)
    expect(browser.peer.configuration.iceServers).toEqual([{ urls: 'turn:new.test' }])
  })

  it('sends the offer, goes through ringing, early media and answer, and starts when answered', async () => {
    const { browser, client } = await setUp({
      ice_servers: [{ urls: 'turn:turn.test', username: 'u', credential: 'c' }],
    })
    const { call, started } = await dialled(client)
    const states: string[] = []
    call.on('state', ({ state }) => states.push(state))
    const invite = browser.socket.requests('verto.invite')[0]
    expect(invite?.params).toMatchObject({ callID: call.id })
    expect(invite?.params).not.toHaveProperty('node_id')
    expect(invite?.message.params).toMatchObject({
      sdp: 'offer 1',
      dialogParams: {
        callID: call.id,
        destination_number: '/public/bob?channel=audio',
        userVariables: { plan: 1 },
        version: 1000,
      },
    })
    expect(browser.peer.configuration).toMatchObject({
      bundlePolicy: 'max-compat',
      iceServers: [{ urls: 'turn:turn.test' }],
    })
    browser.socket.reply('verto.invite', { node_id: 'n1', code: '200' })
    await settled()
    browser.socket.event('call.state', { call_id: 'another', call_state: 'ringing' })
    browser.socket.event('call.state', { call_id: call.id, call_state: 'ringing' })
    browser.socket.verto('verto.media', { callID: call.id, sdp: 'their answer' })
    await settled()
    browser.socket.verto('verto.answer', { callID: call.id })
    await started
    expect(states).toEqual(['trying', 'ringing', 'early', 'active'])
    expect(browser.peer.remote).toEqual([{ type: 'answer', sdp: 'their answer' }])
  })

  it('acknowledges a message of the server as the service expects', async () => {
    const { browser, client } = await setUp()
    await answered(browser, client)
    const confirmation = browser.socket.sent.find(
      (frame) => (frame.params as { message?: { result?: unknown } })?.message?.result,
    )
    expect(confirmation?.params).toEqual({
      message: { jsonrpc: '2.0', id: 7, result: { method: 'verto.answer' } },
      node_id: 'n1',
    })
  })

  it.each([
    [{ cause: 'USER_BUSY', causeCode: 17 }, 'busy'],
    [{ cause: 'CALL_REJECTED', causeCode: '21' }, 'declined'],
    [{ cause: 'NO_ANSWER', causeCode: 19 }, 'no_answer'],
    [{ cause: 'SUBSCRIBER_ABSENT', causeCode: 20 }, 'not_online'],
    [{ cause: 'UNALLOCATED_NUMBER', causeCode: 1 }, 'unknown_address'],
    [{ cause: 'SOMETHING_ELSE', causeCode: 99 }, 'failed'],
    [{ cause: 'CALL_REJECTED', causeCode: 21, reason: 'room_not_open' }, 'room_not_open'],
  ])('that ends with %o rejects with %s and releases everything', async (bye, code) => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    const ends: string[] = []
    call.on('destroy', ({ reason }) => ends.push(reason.code))
    browser.socket.verto('verto.bye', { callID: call.id, ...bye })
    browser.socket.verto('verto.bye', { callID: call.id, ...bye })
    await expect(started).rejects.toMatchObject({ code, serverCode: String(bye.causeCode) })
    expect(ends).toEqual([code])
    released(browser)
    expect(browser.socket.requests('verto.bye')).toHaveLength(0)
  })

  it('that the server rejects sends no bye', async () => {
    const { browser, client } = await setUp()
    const { started } = await dialled(client)
    browser.socket.reply('verto.invite', { code: '404', message: 'No resource has this address.' })
    await expect(started).rejects.toMatchObject({ code: 'unknown_address', serverCode: '404' })
    expect(browser.socket.requests('verto.bye')).toHaveLength(0)
    released(browser)
  })

  it('is not placed when the microphone is refused', async () => {
    const { browser, client } = await setUp()
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    const { call, started } = await dialled(client)
    await expect(started).rejects.toMatchObject({ code: 'microphone_refused' })
    expect(call.state).toBe('ended')
    expect(browser.socket.requests('verto.invite')).toHaveLength(0)
    expect(browser.peers).toHaveLength(0)
  })

  it('cancelled while the microphone opens releases it', async () => {
    const { browser, client } = await setUp()
    const microphone = Promise.withResolvers<void>()
    const open = browser.microphone
    browser.microphone = (wanted) => microphone.promise.then(() => open(wanted))
    const { call, started } = await dialled(client)
    await call.hangup()
    microphone.resolve()
    await expect(started).rejects.toMatchObject({ code: 'canceled' })
    await settled()
    expect(browser.microphones[0]?.tracks[0]?.stopped).toBe(true)
    expect(browser.socket.requests('verto.invite')).toHaveLength(0)
  })

  it('cancelled at any time is never placed without a bye', async () => {
    const counts = { never: 0, both: 0 }
    for (let turns = 0; turns < 30; turns++) {
      const { browser, client } = await setUp()
      const call = await client.dial({ to: '/public/bob' })
      call.start().catch(() => {})
      for (let i = 0; i < turns; i++) await Promise.resolve()
      void call.hangup()
      await settled()
      const invites = browser.socket.requests('verto.invite').length
      expect(browser.socket.requests('verto.bye'), `after ${turns} turns`).toHaveLength(invites)
      counts[invites === 0 ? 'never' : 'both']++
      released(browser)
    }
    expect(counts.never).toBeGreaterThan(0)
    expect(counts.both).toBeGreaterThan(0)
  })

  it('cancelled while it rings informs the server', async () => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    browser.socket.reply('verto.invite', { code: '200' })
    await settled()
    void call.hangup()
    await expect(started).rejects.toMatchObject({ code: 'canceled' })
    expect(browser.socket.requests('verto.bye')[0]?.params).toMatchObject({ callID: call.id })
    released(browser)
  })

  it('with an unusable answer ends on both sides', async () => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'broken' })
    await expect(started).rejects.toMatchObject({ code: 'media_lost' })
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
  })

  it('without a microphone can still listen', async () => {
    const { browser, client } = await setUp()
    const call = await client.dial({ to: 'sip:x@y.z', audio: false })
    void call.start().catch(() => {})
    await settled()
    expect(browser.requested).toEqual([])
    expect(browser.peer.shape).toEqual(['audio recvonly'])
  })
})

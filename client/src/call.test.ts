import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import { Client } from './client.ts'
import type { Invite } from './invite.ts'
import { FakeBrowser, FakeTrack, settled } from './testing/fakes.ts'

const setUp = async (extra: { ice_servers?: RTCIceServer[] } = {}) => {
  const browser = new FakeBrowser()
  const invites: Invite[] = []
  const client = new Client(
    {
      token: 't',
      userVariables: { plan: 1 },
      incomingCallHandlers: { all: ({ invite }) => invites.push(invite) },
    },
    browser.environment,
  )
  const connecting = client.connect()
  browser.socket.welcome('signalwire_j_1_p', extra)
  await connecting
  return { browser, client, invites }
}

const joined = (id: string) => ({
  call_id: id,
  origin_call_id: id,
  member_id: 'm1',
  room_session: { members: [{ member_id: 'm1', call_id: id, node_id: 'n1' }] },
})

const dialled = async (client: Client) => {
  const call = await client.dial({ to: '/public/bob?channel=audio' })
  const started = call.start()
  started.catch(() => {})
  await settled()
  return { call, started }
}

const answered = async (browser: FakeBrowser, client: Client) => {
  const { call, started } = await dialled(client)
  browser.socket.reply('verto.invite', {
    node_id: 'n1',
    code: '200',
    result: { jsonrpc: '2.0', id: 1, result: {} },
  })
  browser.socket.event('call.joined', joined(call.id))
  browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
  await started
  return call
}

const incoming = (browser: FakeBrowser, callID = 'c9') =>
  browser.socket.verto('verto.invite', {
    callID,
    sdp: 'their offer',
    caller_id_name: 'Carrier Caller',
    caller_id_number: '+15551230001',
    callee_id_name: 'Alice',
    callee_id_number: '/private/alice',
    display_direction: 'inbound',
  })

const released = (browser: FakeBrowser) => {
  expect(browser.peers.every(({ closed }) => closed)).toBe(true)
  expect(browser.players.every(({ removed }) => removed)).toBe(true)
  expect(browser.microphones.flatMap(({ tracks }) => tracks).every(({ stopped }) => stopped)).toBe(true)
}

describe('an outgoing call', () => {
  it('goes by the TURN servers that the server gave last: with the connection, or with a new token', async () => {
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

  it('confirms a message of the server as the service expects it', async () => {
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

  it('that the server refuses rejects, and no farewell is sent', async () => {
    const { browser, client } = await setUp()
    const { started } = await dialled(client)
    browser.socket.reply('verto.invite', { code: '404', message: 'Nothing has this address.' })
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

  it('given up while the microphone is being opened lets it go again', async () => {
    const { browser, client } = await setUp()
    const microphone = Promise.withResolvers<void>()
    const open = browser.microphone
    browser.microphone = () => microphone.promise.then(open)
    const { call, started } = await dialled(client)
    await call.hangup()
    microphone.resolve()
    await expect(started).rejects.toMatchObject({ code: 'canceled' })
    await settled()
    expect(browser.microphones[0]?.tracks[0]?.stopped).toBe(true)
    expect(browser.socket.requests('verto.invite')).toHaveLength(0)
  })

  it('given up at whatever moment is never placed without a farewell', async () => {
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

  it('given up while it rings tells the server', async () => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    browser.socket.reply('verto.invite', { code: '200' })
    await settled()
    void call.hangup()
    await expect(started).rejects.toMatchObject({ code: 'canceled' })
    expect(browser.socket.requests('verto.bye')[0]?.params).toMatchObject({ callID: call.id })
    released(browser)
  })

  it('whose answer cannot be used ends on both sides', async () => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'broken' })
    await expect(started).rejects.toMatchObject({ code: 'media_lost' })
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
  })

  it('without a microphone listens', async () => {
    const { browser, client } = await setUp()
    const call = await client.dial({ to: 'sip:x@y.z', audio: false })
    void call.start().catch(() => {})
    await settled()
    expect(browser.requested).toEqual([])
    expect(browser.peer.transceivers).toEqual(['audio recvonly'])
  })
})

describe('an active call', () => {
  it('plays the far side, and removes the player at the end', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const tracks: unknown[] = []
    call.on('track', ({ track }) => tracks.push(track))
    const track = new FakeTrack('audio')
    browser.peer.ontrack?.({ track })
    expect(tracks).toEqual([track])
    expect(browser.players[0]).toMatchObject({ kind: 'audio', removed: false })
    await Promise.all([call.hangup(), settled().then(() => browser.socket.reply('verto.bye'))])
    expect(call.reason?.code).toBe('normal')
    released(browser)
  })

  it('mutes the microphone at once, and tells the server who', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const muting = call.audioMute()
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
    const member = { member_id: 'm1', call_id: call.id, node_id: 'n1' }
    expect(browser.socket.requests('call.mute')[0]?.params).toEqual({
      channels: ['audio'],
      self: member,
      target: member,
    })
    browser.socket.reply('call.mute', { code: '200' })
    await muting
    void call.audioUnmute()
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(true)
  })

  it('follows a mute by the server', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const seen: boolean[] = []
    call.on('mute', ({ audio }) => seen.push(audio))
    browser.socket.event('member.updated', {
      member: { member_id: 'other', audio_muted: true, updated: ['audio_muted'] },
    })
    browser.socket.event('member.updated', { member: { member_id: 'm1', audio_muted: true } })
    expect(seen).toEqual([])
    browser.socket.event('member.updated', {
      member: { member_id: 'm1', audio_muted: true, updated: ['audio_muted'] },
    })
    expect(seen).toEqual([true])
    expect(call.muted.audio).toBe(true)
  })

  it('is silent on hold, and stays muted after hold if it was muted', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const microphone = browser.microphones[0]!.tracks[0]!
    const holding = call.hold()
    expect(microphone.enabled).toBe(false)
    expect(browser.socket.requests('verto.modify')[0]?.message.params).toMatchObject({ action: 'hold' })
    browser.socket.reply('verto.modify')
    await holding
    expect(call.state).toBe('held')
    void call.mute()
    const back = call.unhold()
    browser.socket.reply('verto.modify')
    await back
    expect(call.state).toBe('active')
    expect(microphone.enabled).toBe(false)
  })

  it('is heard again when the server refuses to hold', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const holding = call.hold()
    browser.socket.reply('verto.modify', { code: '500', message: 'no' })
    await expect(holding).rejects.toMatchObject({ code: 'server' })
    expect(call.state).toBe('active')
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(true)
  })

  it('sends keys and receives them', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const received: string[] = []
    call.on('dtmf', ({ digits }) => received.push(digits))
    const sending = call.sendDigits('12#')
    expect(browser.socket.requests('verto.info')[0]).toMatchObject({
      params: { node_id: 'n1' },
      message: { params: { dtmf: '12#' } },
    })
    browser.socket.reply('verto.info')
    await sending
    await expect(call.sendDigits('12x')).rejects.toMatchObject({ code: 'bad_argument' })
    browser.socket.verto('verto.info', { callID: call.id, dtmf: '5' })
    expect(received).toEqual(['5'])
  })

  it('survives a lost connection when the server holds the session', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.socket.drop()
    void call.hold()
    expect(call.active).toBe(true)
    browser.clock.advance(500)
    browser.socket.welcome()
    expect(browser.socket.requests('verto.modify')).toHaveLength(1)
    browser.socket.verto('verto.bye', { callID: call.id, cause: 'NORMAL_CLEARING', causeCode: 16 })
    expect(call.reason?.code).toBe('normal')
  })

  it('ends with session_lost when the server does not', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome('signalwire_j_2_p')
    expect(call.reason?.code).toBe('session_lost')
    released(browser)
  })

  it('makes a new path when the old one breaks', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.peer.become('failed')
    await settled()
    expect(browser.peer.offers[1]).toEqual({ iceRestart: true })
    browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'new answer' })
    await settled()
    expect(browser.peer.remote.at(-1)?.sdp).toBe('new answer')
    expect(call.active).toBe(true)
  })

  it('ends with media_lost when there is no new path', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.peer.become('failed')
    await settled()
    browser.socket.reply('verto.modify', { code: '500' })
    await settled()
    expect(call.reason?.code).toBe('media_lost')
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
  })

  it('is hung up when the client disconnects', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    client.disconnect()
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
    expect(call.state).toBe('ended')
    expect(browser.clock.running).toBe(0)
    released(browser)
  })
})

describe('an incoming call', () => {
  it('is shown with the details, answered with the answer, and active when the server has it', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    incoming(browser)
    expect(invites).toHaveLength(1)
    const invite = invites[0]!
    expect(invite.details).toMatchObject({
      source: 'websocket',
      callID: 'c9',
      caller_id_name: 'Carrier Caller',
      nodeId: 'n1',
    })
    const accepting = invite.accept()
    await settled()
    expect(browser.socket.requests('verto.answer')[0]).toMatchObject({
      params: { callID: 'c9', node_id: 'n1' },
      message: { params: { sdp: 'answer', dialogParams: { destination_number: 'room' } } },
    })
    browser.socket.reply('verto.answer', { code: '200' })
    browser.socket.verto('verto.answer', { callID: 'c9' })
    const call: Call = await accepting
    expect(call).toMatchObject({ id: 'c9', direction: 'inbound', state: 'active' })
    expect(invite.isPending).toBe(false)
    await expect(call.start()).rejects.toMatchObject({ code: 'bad_state' })
  })

  it('is rejected as declined', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const rejecting = invites[0]!.reject()
    expect(browser.socket.requests('verto.bye')[0]?.message.params).toEqual({
      cause: 'CALL_REJECTED',
      causeCode: '21',
      dialogParams: { callID: 'c9' },
    })
    browser.socket.reply('verto.bye')
    await rejecting
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'bad_state' })
  })

  it.each([
    ['ORIGINATOR_CANCEL', 'canceled'],
    ['LOSE_RACE', 'answered_elsewhere'],
  ])('that ends with %s while it waits is seen by the application', async (cause, code) => {
    const { browser, invites } = await setUp()
    incoming(browser)
    browser.socket.verto('verto.bye', { callID: 'c9', cause, causeCode: 0 })
    expect((await invites[0]!.canceled).code).toBe(code)
    expect(invites[0]!.isPending).toBe(false)
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'bad_state' })
    expect(browser.requested).toEqual([])
  })

  it('given up while it is being accepted rejects the acceptance', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const accepting = invites[0]!.accept()
    browser.socket.verto('verto.bye', { callID: 'c9', cause: 'ORIGINATOR_CANCEL', causeCode: 487 })
    await expect(accepting).rejects.toMatchObject({ code: 'canceled' })
    expect((await invites[0]!.canceled).code).toBe('canceled')
    await settled()
    released(browser)
    expect(browser.socket.requests('verto.answer')).toHaveLength(0)
  })

  it('waits on when the microphone is refused, and can be accepted after all', async () => {
    const { browser, invites } = await setUp()
    const open = browser.microphone
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    incoming(browser)
    await expect(invites[0]!.accept()).rejects.toMatchObject({ code: 'microphone_refused' })
    expect(invites[0]!.isPending).toBe(true)
    browser.microphone = open
    const accepting = invites[0]!.accept()
    await settled()
    browser.socket.reply('verto.answer')
    expect((await accepting).active).toBe(true)
  })

  it('is gone when the server has lost the session', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome('signalwire_j_2_p')
    expect((await invites[0]!.canceled).code).toBe('session_lost')
  })
})

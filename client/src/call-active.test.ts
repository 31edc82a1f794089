import { describe, expect, it } from 'vitest'
import { record } from './frames.ts'
import { settled } from './testing/fakes.ts'
import { answered, dialled, joined, released, setUp } from './testing/situations.ts'

describe('an active call', () => {
  it('plays the far side, and removes the player at the end', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const tracks: unknown[] = []
    call.on('track', ({ track }) => tracks.push(track))
    const track = browser.peer.arrives('audio')
    expect(tracks).toEqual([track])
    expect(browser.players[0]).toMatchObject({ kind: 'audio', removed: false })
    await Promise.all([call.hangup(), settled().then(() => browser.socket.reply('verto.bye'))])
    expect(call.reason?.code).toBe('normal')
    released(browser)
  })

  it('mutes the microphone at once, and sends the server the member', async () => {
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

  it('reports what a voice agent hears and says, of its own call only', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const seen: unknown[] = []
    call.on('ai.partial_result', ({ text }) => seen.push(text))
    call.on('ai.completion', ({ text, type }) => seen.push([text, type]))
    browser.socket.event('ai.partial_result', { call_id: 'another', text: 'no' })
    browser.socket.event('ai.partial_result', { call_id: call.id, text: 'Hello', barged: false })
    browser.socket.event('ai.completion', { call_id: call.id, text: 'Good day', type: 'barged' })
    expect(seen).toEqual(['Hello', ['Good day', 'barged']])
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

  it('that was muted before call.joined stays muted, and informs the server', async () => {
    const { browser, client } = await setUp()
    const { call, started } = await dialled(client)
    await call.mute()
    browser.socket.event('call.joined', {
      ...joined(call.id),
      room_session: { members: [{ member_id: 'm1', call_id: call.id, node_id: 'n1', audio_muted: false }] },
    })
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
    browser.socket.reply('verto.invite')
    await started
    expect(call.muted.audio).toBe(true)
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
    expect(browser.socket.requests('call.mute')[0]?.params).toMatchObject({ channels: ['audio'] })
  })

  it('follows the last request, held or not', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const holding = call.hold()
    const back = call.unhold()
    await settled()
    browser.socket.reply('verto.modify')
    await holding
    await settled()
    browser.socket.reply('verto.modify')
    await back
    expect(call.state).toBe('active')
    const actions = browser.socket
      .requests('verto.modify')
      .map(({ message }) => record(message.params).action)
    expect(actions).toEqual(['hold', 'unhold'])
  })

  it('sends audio again when the server rejects the hold', async () => {
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

  it('survives a lost connection if the server keeps the session', async () => {
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

  it('ends with session_lost if the server kept the session but lost the call', async () => {
    const { browser, client } = await setUp()
    const lost = await answered(browser, client)
    const { call: ringing } = await dialled(client)
    browser.socket.reply('verto.invite', { node_id: 'n1' })
    await settled()
    const { call: later } = await dialled(client)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome()
    browser.socket.reply('subscriber.calls', { code: '200', calls: [] })
    await settled()
    expect([lost.reason?.code, ringing.reason?.code, later.state]).toEqual([
      'session_lost',
      'session_lost',
      'setup',
    ])
  })

  it('continues if the server cannot list its calls', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome()
    browser.socket.refuse('subscriber.calls', -32601, 'subscriber.calls')
    await settled()
    expect(call.active).toBe(true)
  })

  it('ends with session_lost if the server has lost the session', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.socket.drop()
    browser.clock.advance(500)
    browser.socket.welcome('signalwire_j_2_p')
    expect(call.reason?.code).toBe('session_lost')
    released(browser)
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

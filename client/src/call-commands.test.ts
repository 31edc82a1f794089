import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { Json } from './frames.ts'
import { everything, inRoom, ofOwnMember, ownMember, reference } from './testing/room.ts'
import { answered, dialled, setUp } from './testing/situations.ts'

const ofThem = { target: { member_id: 'm2', call_id: 'c2', node_id: 'n2' } }

const commands: readonly [string, (call: Call) => Promise<unknown>, string, Json, string][] = [
  [
    'audioMute',
    (call) => call.audioMute({ memberId: 'm2' }),
    'call.mute',
    { channels: ['audio'], ...ofThem },
    'member.mute.audio',
  ],
  [
    'audioUnmute',
    (call) => call.audioUnmute({ memberId: 'm2' }),
    'call.unmute',
    { channels: ['audio'], ...ofThem },
    'member.mute.audio.on',
  ],
  [
    'videoMute',
    (call) => call.videoMute({ memberId: 'm2' }),
    'call.mute',
    { channels: ['video'], ...ofThem },
    'member.mute.video.off',
  ],
  [
    'videoUnmute',
    (call) => call.videoUnmute({ memberId: 'm2' }),
    'call.unmute',
    { channels: ['video'], ...ofThem },
    'member.mute',
  ],
  ['deaf', (call) => call.deaf(), 'call.deaf', ofOwnMember, 'self.deaf'],
  ['undeaf', (call) => call.undeaf({ memberId: 'm2' }), 'call.undeaf', ofThem, 'member.deaf.off'],
  [
    'setInputVolume',
    (call) => call.setInputVolume({ volume: -20 }),
    'call.microphone.volume.set',
    { volume: -20, ...ofOwnMember },
    'self.microphone',
  ],
  [
    'setOutputVolume',
    (call) => call.setOutputVolume({ volume: 5, memberId: 'm2' }),
    'call.speaker.volume.set',
    { volume: 5, ...ofThem },
    'member.speaker',
  ],
  [
    'setInputSensitivity',
    (call) => call.setInputSensitivity({ value: 40 }),
    'call.microphone.sensitivity.set',
    { sensitivity: 40, ...ofOwnMember },
    'self.microphone.sensitivity.set',
  ],
  ['setRaisedHand', (call) => call.setRaisedHand(), 'call.raisehand', ofOwnMember, 'self.raisehand'],
  [
    'setRaisedHand',
    (call) => call.setRaisedHand({ raised: false, memberId: 'm2' }),
    'call.lowerhand',
    ofThem,
    'member.raisehand.off',
  ],
  [
    'setAudioFlags',
    (call) => call.setAudioFlags({ autoGain: false, noiseSuppression: true }),
    'call.audioflags.set',
    { auto_gain: false, noise_suppression: true, ...ofOwnMember },
    'self.audioflags',
  ],
  [
    'setLayout',
    (call) => call.setLayout({ name: 'grid', positions: { m2: 'auto' } }),
    'call.layout.set',
    { layout: 'grid', positions: { m2: 'auto' }, ...ofOwnMember },
    'layout',
  ],
  [
    'removeMember',
    (call) => call.removeMember({ memberId: 'm2' }),
    'call.member.remove',
    ofThem,
    'member.remove',
  ],
  ['lock', (call) => call.lock(), 'call.lock', ofOwnMember, 'lock'],
  ['unlock', (call) => call.unlock(), 'call.unlock', ofOwnMember, 'lock.off'],
  ['end', (call) => call.end(), 'call.end', ofOwnMember, 'end'],
]

describe('commands', () => {
  it.each(commands)('%s sends its request', async (_, run, method, params) => {
    const { browser, call } = await inRoom()
    const running = run(call)
    expect(browser.socket.requests(method)[0]?.params).toEqual({ ...reference, ...params })
    browser.socket.reply(method, { code: '200', message: 'OK' })
    await running
  })

  it.each(commands)(
    '%s needs no more than its capability, and rejects without it',
    async (_, run, method, __, capability) => {
      const { browser, call } = await inRoom([capability])
      const running = run(call)
      browser.socket.refuse(method, -32000, 'The server says no.')
      await expect(running).rejects.toMatchObject({ code: 'server', serverCode: '-32000' })
      const { browser: other, call: without } = await inRoom(
        everything.filter((name) => !capability.startsWith(name)),
      )
      await expect(run(without)).rejects.toMatchObject({ code: 'no_capability' })
      expect(other.socket.requests(method)).toHaveLength(0)
    },
  )

  it('setPositions names the members, and the own member by "self"', async () => {
    const { browser, call } = await inRoom()
    const running = call.setPositions({ positions: { self: 'reserved-1', m2: 'off-canvas' } })
    const targets = [
      { ...ofOwnMember, position: 'reserved-1' },
      { ...ofThem, position: 'off-canvas' },
    ]
    expect(browser.socket.requests('call.member.position.set')[0]?.params).toEqual({ ...reference, targets })
    browser.socket.reply('call.member.position.set')
    await running
    await expect(call.setPositions({ positions: {} })).rejects.toMatchObject({ code: 'bad_argument' })
    const { call: guest } = await inRoom(['self'])
    await expect(guest.setPositions({ positions: { m2: 'auto' } })).rejects.toMatchObject({
      code: 'no_capability',
    })
  })

  it('address all members as "all"', async () => {
    const { browser, call } = await inRoom()
    void call.audioMute({ memberId: 'all' })
    expect(browser.socket.requests('call.mute')[0]?.params.target).toMatchObject({ member_id: 'all' })
  })

  it('getMembers and getLayouts return the answers of the server', async () => {
    const { browser, call } = await inRoom([])
    const members = call.getMembers()
    const layouts = call.getLayouts()
    browser.socket.reply('call.member.list', { code: '200', members: [ownMember] })
    browser.socket.reply('call.layout.list', { code: '200', layouts: ['grid'] })
    expect(await members).toEqual({ members: [ownMember] })
    expect(await layouts).toEqual({ layouts: ['grid'] })
  })

  it('reject invalid numbers and members', async () => {
    const { browser, call } = await inRoom()
    const wrong = [
      call.setInputVolume({ volume: 51 }),
      call.setOutputVolume({ volume: Number.NaN }),
      call.setInputSensitivity({ value: -1 }),
      call.setAudioFlags({}),
      call.removeMember({ memberId: '' }),
      call.deaf({ memberId: 'm9' }),
    ]
    for (const running of wrong) await expect(running).rejects.toMatchObject({ code: 'bad_argument' })
    expect(browser.socket.sent.some(({ method }) => String(method).startsWith('call.'))).toBe(false)
  })

  it('reject at once before the server has reported the members', async () => {
    const { client } = await setUp()
    const { call } = await dialled(client)
    await expect(call.deaf()).rejects.toMatchObject({ code: 'bad_state' })
    expect(call).toMatchObject({ members: [], memberId: undefined, capabilities: undefined })
  })

  it('are decided by the server if it sends no capabilities', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    void call.lock()
    expect(browser.socket.requests('call.lock')).toHaveLength(1)
    expect(call.capabilities).toMatchObject({ end: true, self: { deaf: { on: true, off: true } } })
  })
})

describe('the own microphone', () => {
  it('can be muted without a capability, and unmuted only with one', async () => {
    const { browser, call } = await inRoom([])
    await call.audioMute()
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
    expect(browser.socket.requests('call.mute')).toHaveLength(0)
    await expect(call.audioUnmute()).rejects.toMatchObject({ code: 'no_capability' })
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
  })

  it('stays muted when the server rejects the unmute', async () => {
    const { browser, call } = await inRoom()
    void call.audioMute()
    browser.socket.reply('call.mute')
    const unmuting = call.audioUnmute()
    browser.socket.reply('call.unmute', { code: '403', message: 'No.' })
    await expect(unmuting).rejects.toMatchObject({ code: 'server', serverCode: '403' })
    expect(call.muted.audio).toBe(true)
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
  })

  it('has the audio processing that the server sets', async () => {
    const { browser, call } = await inRoom()
    const change = { echo_cancellation: false, updated: ['echo_cancellation'] }
    browser.socket.event('member.updated', { call_id: call.id, member: { ...ownMember, ...change } })
    expect(browser.microphones[0]?.tracks[0]?.applied).toEqual({ echoCancellation: false })
    const params = { audio: { noiseSuppression: false } }
    browser.socket.verto('verto.mediaParams', { callID: call.id, mediaParams: params })
    expect(browser.microphones[0]?.tracks[0]?.applied).toMatchObject({ noiseSuppression: false })
  })

  it('that was muted at call.joined is silent', async () => {
    const { browser, client } = await setUp()
    const members = [{ ...ownMember, audio_muted: true }]
    const call = await answered(browser, client, {}, { room_session: { members } })
    expect(call.muted.audio).toBe(true)
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
  })
})

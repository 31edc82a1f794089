import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { Json } from './frames.ts'
import type { FakeBrowser } from './testing/fakes.ts'
import { answered, dialled, setUp } from './testing/situations.ts'

const everything = ['self', 'member', 'device', 'screenshare', 'lock', 'end', 'vmuted', 'layout', 'digit']

const us = { member_id: 'm1', call_id: 'c', node_id: 'n1', audio_muted: false }
const them = { member_id: 'm2', call_id: 'c2', node_id: 'n2', name: 'Bob', audio_muted: false }

const inRoom = async (capabilities: string[] | undefined = everything) => {
  const { browser, client } = await setUp()
  const room = { room_session_id: 'r1', capabilities, room_session: { members: [us, them] } }
  const call = await answered(browser, client, {}, room)
  return { browser, call, told: watched(call) }
}

const watched = (call: Call): string[] => {
  const told: string[] = []
  call.on('member.joined', ({ member }) => told.push(`joined ${member.member_id}`))
  call.on('member.left', ({ member, reason }) => told.push(`left ${member.member_id} ${reason}`))
  call.on('member.updated', ({ member }) => told.push(`updated ${member.member_id} ${member.updated}`))
  call.on('member.updated.audioMuted', ({ member }) => told.push(`muted ${member.audio_muted}`))
  call.on('member.talking', ({ member }) => told.push(`talking ${member.talking}`))
  call.on('memberList.updated', ({ members }) => told.push(`${members.length} members`))
  return told
}

const reference = { self: { member_id: 'm1', call_id: 'c', node_id: 'n1' } }
const ofThem = { target: { member_id: 'm2', call_id: 'c2', node_id: 'n2' } }
const ofUs = { target: reference.self }

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
  ['deaf', (call) => call.deaf(), 'call.deaf', ofUs, 'self.deaf'],
  ['undeaf', (call) => call.undeaf({ memberId: 'm2' }), 'call.undeaf', ofThem, 'member.deaf.off'],
  [
    'setInputVolume',
    (call) => call.setInputVolume({ volume: -20 }),
    'call.microphone.volume.set',
    { volume: -20, ...ofUs },
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
    { sensitivity: 40, ...ofUs },
    'self.microphone.sensitivity.set',
  ],
  ['setRaisedHand', (call) => call.setRaisedHand(), 'call.raisehand', ofUs, 'self.raisehand'],
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
    { auto_gain: false, noise_suppression: true, ...ofUs },
    'self.audioflags',
  ],
  [
    'setLayout',
    (call) => call.setLayout({ name: 'grid', positions: { m2: 'auto' } }),
    'call.layout.set',
    { layout: 'grid', positions: { m2: 'auto' }, ...ofUs },
    'layout',
  ],
  [
    'removeMember',
    (call) => call.removeMember({ memberId: 'm2' }),
    'call.member.remove',
    ofThem,
    'member.remove',
  ],
  ['lock', (call) => call.lock(), 'call.lock', ofUs, 'lock'],
  ['unlock', (call) => call.unlock(), 'call.unlock', ofUs, 'lock.off'],
  ['end', (call) => call.end(), 'call.end', ofUs, 'end'],
]

describe('commands', () => {
  it.each(commands)('%s sends what it says', async (_, run, method, params) => {
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

  it('setPositions names the members, ourselves by "self"', async () => {
    const { browser, call } = await inRoom()
    const running = call.setPositions({ positions: { self: 'reserved-1', m2: 'off-canvas' } })
    const targets = [
      { ...ofUs, position: 'reserved-1' },
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

  it('everybody is "all"', async () => {
    const { browser, call } = await inRoom()
    void call.audioMute({ memberId: 'all' })
    expect(browser.socket.requests('call.mute')[0]?.params.target).toMatchObject({ member_id: 'all' })
  })

  it('getMembers and getLayouts give what the server says', async () => {
    const { browser, call } = await inRoom([])
    const [members, layouts] = [call.getMembers(), call.getLayouts()]
    browser.socket.reply('call.member.list', { code: '200', members: [us] })
    browser.socket.reply('call.layout.list', { code: '200', layouts: ['grid'] })
    expect(await members).toEqual({ members: [us] })
    expect(await layouts).toEqual({ layouts: ['grid'] })
  })

  it('refuse numbers and members that are none', async () => {
    const { browser, call } = await inRoom()
    const wrong = [
      call.setInputVolume({ volume: 51 }),
      call.setOutputVolume({ volume: Number.NaN }),
      call.setInputSensitivity({ value: -1 }),
      call.setAudioFlags({}),
      call.removeMember({ memberId: '' }),
      call.deaf({ memberId: 'nobody' }),
    ]
    for (const running of wrong) await expect(running).rejects.toMatchObject({ code: 'bad_argument' })
    expect(browser.socket.sent.some(({ method }) => String(method).startsWith('call.'))).toBe(false)
  })

  it('wait for nobody before the server told who is in the call', async () => {
    const { client } = await setUp()
    const { call } = await dialled(client)
    await expect(call.deaf()).rejects.toMatchObject({ code: 'bad_state' })
    expect(call).toMatchObject({ members: [], memberId: undefined, capabilities: undefined })
  })

  it("are the server's to judge when it does not say what is allowed", async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    void call.lock()
    expect(browser.socket.requests('call.lock')).toHaveLength(1)
    expect(call.capabilities).toMatchObject({ end: true, self: { deaf: { on: true, off: true } } })
  })
})

describe('our own microphone', () => {
  it('is silenced without any capability, and let through with one alone', async () => {
    const { browser, call } = await inRoom([])
    await call.audioMute()
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
    expect(browser.socket.requests('call.mute')).toHaveLength(0)
    await expect(call.audioUnmute()).rejects.toMatchObject({ code: 'no_capability' })
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
  })

  it('stays silent when the server refuses to let it through', async () => {
    const { browser, call } = await inRoom()
    void call.audioMute()
    browser.socket.reply('call.mute')
    const unmuting = call.audioUnmute()
    browser.socket.reply('call.unmute', { code: '403', message: 'No.' })
    await expect(unmuting).rejects.toMatchObject({ code: 'server', serverCode: '403' })
    expect(call.muted.audio).toBe(true)
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
  })

  it('is treated as the server says', async () => {
    const { browser, call } = await inRoom()
    browser.peer.arrives('audio')
    const change = {
      echo_cancellation: false,
      output_volume: -20,
      updated: ['echo_cancellation', 'output_volume'],
    }
    browser.socket.event('member.updated', { call_id: call.id, member: { ...us, ...change } })
    expect(browser.microphones[0]?.tracks[0]?.applied).toEqual({ echoCancellation: false })
    expect(browser.player('audio')?.volume).toBeCloseTo(0.1)
    const params = { audio: { noiseSuppression: false } }
    browser.socket.verto('verto.mediaParams', { callID: call.id, mediaParams: params })
    expect(browser.microphones[0]?.tracks[0]?.applied).toMatchObject({ noiseSuppression: false })
  })

  it('that was muted when we joined is silent', async () => {
    const { browser, client } = await setUp()
    const members = [{ ...us, audio_muted: true }]
    const call = await answered(browser, client, {}, { room_session: { members } })
    expect(call.muted.audio).toBe(true)
    expect(browser.microphones[0]?.tracks[0]?.enabled).toBe(false)
  })
})

describe('members', () => {
  const event = (browser: FakeBrowser, type: string, member: Json, more: Json = {}) =>
    browser.socket.event(type, { room_session_id: 'r1', member, ...more })

  it('are those of call.joined, which tells what we may do', async () => {
    const { call } = await inRoom(['self.mute.audio.off', 'lock'])
    expect(call).toMatchObject({ members: [us, them], selfMember: us, memberId: 'm1', roomSessionId: 'r1' })
    expect(call.capabilities).toMatchObject({
      self: { muteAudio: { on: false, off: true }, raisehand: { on: false } },
      ...{ lock: { on: true, off: true }, end: false, screenshare: false },
    })
  })

  it('come, change, talk and leave', async () => {
    const { browser, call, told } = await inRoom()
    event(browser, 'member.joined', { member_id: 'm3', type: 'screen', parent_id: 'm2' })
    event(browser, 'member.updated', { member_id: 'm2', audio_muted: true, updated: ['audio_muted'] })
    event(browser, 'member.talking', { member_id: 'm2', talking: true })
    expect(call.members).toEqual([
      us,
      { ...them, audio_muted: true, talking: true },
      { member_id: 'm3', type: 'screen', parent_id: 'm2' },
    ])
    event(browser, 'member.left', { member_id: 'm3' }, { reason: 'left' })
    expect(told).toEqual([
      ...['joined m3', '3 members', 'updated m2 audio_muted', 'muted true', '3 members'],
      ...['talking true', 'left m3 left', '2 members'],
    ])
  })

  it('of another room are not ours', async () => {
    const { browser, told } = await inRoom()
    browser.socket.event('member.joined', { room_session_id: 'r2', member: { member_id: 'm9' } })
    expect(told).toEqual([])
  })

  it('are those of the room that the call was moved to, until it leaves', async () => {
    const { browser, call } = await inRoom()
    const place = { member_id: 'm7', call_id: 'c7', node_id: 'n7', room_session_id: 'r7' }
    browser.socket.event('call.joined', {
      ...{ call_id: 'c7', origin_call_id: call.id, member_id: 'm7', room_session_id: 'r7' },
      ...{ room_session: { members: [place] }, capabilities: everything },
    })
    void call.deaf()
    const { room_session_id: _, ...target } = place
    expect(browser.socket.requests('call.deaf')[0]?.params).toEqual({ ...reference, target })
    const left = { call_id: 'c7', origin_call_id: call.id, member_id: 'm7', room_session_id: 'r7' }
    browser.socket.event('call.left', left)
    void call.undeaf()
    expect(browser.socket.requests('call.undeaf')[0]?.params).toMatchObject(ofUs)
  })

  it('are brought by call.updated too; layouts have an event of their own', async () => {
    const { browser, call } = await inRoom()
    const layouts: string[] = []
    call.on('layout.changed', ({ layout }) => layouts.push(layout.name))
    browser.socket.event('call.updated', {
      room_session_id: 'r1',
      room_session: { locked: true, members: [us] },
    })
    browser.socket.event('layout.changed', {
      room_session_id: 'r1',
      layout: { id: 'l', name: 'grid', layers: [] },
    })
    expect(call.members).toEqual([us])
    expect(layouts).toEqual(['grid'])
    expect(call.currentLayout?.name).toBe('grid')
  })

  it('that make no sense are passed over', async () => {
    const { browser, call, told } = await inRoom()
    for (const type of [
      'member.joined',
      'member.updated',
      'member.left',
      'member.talking',
      'layout.changed',
      'call.updated',
    ])
      for (const member of [{}, { member_id: 7 }, null])
        browser.socket.event(type, {
          room_session_id: 'r1',
          call_id: call.id,
          member,
          layout: 3,
          room_session: 'x',
        })
    browser.socket.event('member.updated', { call_id: call.id, member: { ...us, updated: 'audio_muted' } })
    expect(call.members).toHaveLength(2)
    expect(told).toEqual(['updated m1 ', '2 members'])
  })
})

import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { CallLevels } from './media-types.ts'
import { FakeStream, FakeTrack, settled } from './testing/fakes.ts'
import { answered, dialled, released, setUp } from './testing/situations.ts'

const inCall = async (options = {}) => {
  const { browser, client } = await setUp()
  const call = await answered(browser, client, options)
  const events: string[] = []
  for (const device of ['microphone', 'camera', 'speaker'] as const)
    call.on(`${device}.updated`, ({ previous, current }) =>
      events.push(`${device} ${previous?.deviceId ?? 'none'} > ${current.deviceId}`),
    )
  for (const device of ['microphone', 'camera'] as const)
    call.on(`${device}.disconnected`, ({ label }) => events.push(`${device} gone: ${label}`))
  return { browser, client, call, events }
}

describe('the devices of a call with devicesAfterAnswer', () => {
  const options = { video: { deviceId: 'front' }, devicesAfterAnswer: true }

  it('stay closed while it is rejected, and open once it is answered', async () => {
    const { browser, client } = await setUp()
    const { started } = await dialled(client, options)
    expect(browser.peer.shape).toEqual(['audio recvonly', 'video recvonly'])
    browser.socket.reply('verto.invite', { code: '403', message: 'CALL_REJECTED' })
    await expect(started).rejects.toMatchObject({ code: 'declined' })
    expect(browser.requested).toEqual([])
    const call = await answered(browser, client, options)
    await settled()
    expect(browser.requested).toEqual([{ audio: true }, { video: { deviceId: 'front' } }])
    browser.socket.reply('verto.modify', { code: '200', result: { jsonrpc: '2.0', result: { sdp: 'ok' } } })
    await settled()
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendrecv'])
    expect([call.state, call.localStream?.getTracks().length]).toEqual(['active', 2])
  })

  it('end the call if they cannot be opened', async () => {
    const { browser, client } = await setUp()
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    const call = await answered(browser, client, options)
    await settled()
    expect([call.state, call.reason?.code]).toEqual(['ended', 'microphone_refused'])
    expect(browser.socket.requests('verto.bye')).toHaveLength(1)
    released(browser)
  })
})

describe('a camera that cannot be opened after the answer', () => {
  const options = { video: true, devicesAfterAnswer: true }

  it('is reported, and the call goes on with the microphone', async () => {
    const { browser, client } = await setUp()
    const open = browser.microphone
    browser.microphone = (wanted) =>
      wanted.video ? Promise.reject(new DOMException('no', 'NotFoundError')) : open(wanted)
    const { call } = await dialled(client, options)
    const gone: string[] = []
    call.on('camera.disconnected', ({ label }) => gone.push(label))
    browser.socket.reply('verto.invite', { node_id: 'n1', code: '200', result: {} })
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
    await settled()
    browser.socket.reply('verto.modify', { code: '200', result: { jsonrpc: '2.0', result: { sdp: 'ok' } } })
    await settled()
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video recvonly'])
    expect([call.state, call.localStream?.getTracks().length, gone]).toEqual(['active', 1, ['']])
  })

  it('has no sizes, so that separate cameras are not possible', async () => {
    const { client } = await setUp()
    const wrong = client.dial({ to: '/public/lounge', ...options, tracks: 4 })
    await expect(wrong).rejects.toMatchObject({ code: 'bad_argument' })
  })
})

describe('another device', () => {
  it('replaces the former one without an offer', async () => {
    const { browser, call, events } = await inCall({ video: true })
    const [microphone, camera] = browser.microphones[0]!.getTracks()
    await call.updateMicrophone({ deviceId: { exact: 'headset' } })
    await call.updateCamera({ deviceId: 'front' })
    expect(browser.requested.slice(1)).toEqual([
      { audio: { deviceId: { exact: 'headset' } } },
      { video: { deviceId: 'front' } },
    ])
    expect(call).toMatchObject({ microphoneId: 'headset', cameraId: 'front' })
    expect(browser.peer.sent('audio')).toBe(call.localAudioTrack)
    expect(browser.peer.sent('video')).toBe(call.localVideoTrack)
    expect([microphone?.stopped, camera?.stopped]).toEqual([true, true])
    expect(browser.socket.requests('verto.modify')).toHaveLength(0)
    expect(events).toEqual(['microphone audio-1 > headset', 'camera video-1 > front'])
    expect(call.localStream?.getTracks()).toHaveLength(2)
    await Promise.all([call.hangup(), settled().then(() => browser.socket.reply('verto.bye'))])
    released(browser)
  })

  it('is silent while the call is muted or held', async () => {
    const { browser, call } = await inCall()
    void call.mute()
    await call.updateMicrophone({ deviceId: 'headset' })
    expect(call.localAudioTrack?.enabled).toBe(false)
    void call.unmute()
    expect(browser.peer.sent('audio')?.enabled).toBe(true)
  })

  it('that cannot be opened leaves the former one', async () => {
    const { browser, call, events } = await inCall()
    browser.microphone = () => Promise.reject(new DOMException('no', 'OverconstrainedError'))
    await expect(call.updateMicrophone({ deviceId: { exact: 'x' } })).rejects.toMatchObject({
      code: 'microphone_missing',
    })
    expect(call.localAudioTrack?.readyState).toBe('live')
    expect(events).toEqual([])
  })

  it('that can be opened only once makes the former one close first', async () => {
    const { browser, call } = await inCall()
    const open = browser.microphone
    browser.microphone = (wanted) =>
      browser.microphones.some(({ tracks }) => tracks.some(({ stopped }) => !stopped))
        ? Promise.reject(new DOMException('busy', 'NotReadableError'))
        : open(wanted)
    await call.updateMicrophone({ deviceId: 'headset' })
    expect(call.microphoneId).toBe('headset')
    browser.microphone = ({ audio }) =>
      typeof audio === 'object' && audio.deviceId === 'broken'
        ? Promise.reject(new DOMException('busy', 'NotReadableError'))
        : open({ audio: true })
    await expect(call.updateMicrophone({ deviceId: 'broken' })).rejects.toMatchObject({
      code: 'microphone_failed',
    })
    expect(call.localAudioTrack?.readyState).toBe('live')
    expect(browser.peer.sent('audio')).toBe(call.localAudioTrack)
  })

  it('applies to sent media of a running call', async () => {
    const { browser, client, call } = await inCall()
    await expect(call.updateCamera({})).rejects.toMatchObject({ code: 'bad_state' })
    expect(browser.requested).toHaveLength(1)
    const unstarted = await client.dial({ to: '/public/bob' })
    await expect(unstarted.updateMicrophone({})).rejects.toMatchObject({ code: 'bad_state' })
  })

  it('is closed again if the call ends while it opens', async () => {
    const { browser, call } = await inCall()
    const opened = Promise.withResolvers<FakeStream>()
    browser.microphone = () => opened.promise
    const choosing = call.updateMicrophone({ deviceId: 'headset' })
    await settled()
    void call.hangup()
    opened.resolve(new FakeStream([new FakeTrack('audio', 'headset')]))
    await expect(choosing).rejects.toMatchObject({ code: 'canceled' })
    released(browser)
  })

  it('is the last requested one, whichever opens first', async () => {
    const { browser, call } = await inCall()
    const slow = Promise.withResolvers<FakeStream>()
    const opened = [slow.promise, Promise.resolve(new FakeStream([new FakeTrack('audio', 'second')]))]
    browser.microphone = () => opened.shift()!
    const choosing = [
      call.updateMicrophone({ deviceId: 'first' }),
      call.updateMicrophone({ deviceId: 'second' }),
    ]
    await settled()
    slow.resolve(new FakeStream([new FakeTrack('audio', 'first')]))
    await Promise.all(choosing)
    expect(call.microphoneId).toBe('second')
    expect(
      browser.microphones.flatMap(({ tracks }) => tracks).filter(({ stopped }) => !stopped),
    ).toHaveLength(1)
  })

  it('that is disconnected is reported; one that the page closes is not', async () => {
    const { browser, call, events } = await inCall({ video: true })
    const [microphone, camera] = browser.microphones[0]!.getTracks()
    microphone?.end()
    expect(events).toEqual(['microphone gone: The audio-1'])
    const seen: boolean[] = []
    call.on('video', ({ local }) => seen.push(local))
    camera?.end()
    expect(seen).toEqual([false])
    await call.updateMicrophone({ deviceId: 'headset' })
    expect(call.localAudioTrack?.readyState).toBe('live')
  })
})

describe('the loudspeaker', () => {
  it('applies to current and later audio', async () => {
    const { browser, call, events } = await inCall()
    await call.updateSpeaker({ deviceId: 'room' })
    browser.peer.arrives('audio')
    expect(browser.player('audio')?.sink).toBe('room')
    await call.updateSpeaker({ deviceId: 'headset' })
    expect(browser.player('audio')?.sink).toBe('headset')
    expect(events).toEqual(['speaker none > room', 'speaker room > headset'])
    await expect(call.updateSpeaker({ deviceId: 'unplugged' })).rejects.toMatchObject({
      code: 'bad_argument',
    })
  })

  it('cannot be chosen in a browser without support', async () => {
    const { browser, call } = await inCall()
    browser.peer.arrives('audio')
    Object.assign(browser.player('audio')!, { setSinkId: undefined })
    await expect(call.updateSpeaker({ deviceId: 'room' })).rejects.toMatchObject({ code: 'unsupported' })
  })
})

describe('levels', () => {
  const listened = (call: Call) => {
    const levels: CallLevels[] = []
    const listener = (level: CallLevels) => void levels.push(level)
    call.on('level', listener)
    return { levels, listener }
  }

  it('are measured ten times a second while the event has a listener', async () => {
    const { browser, call } = await inCall()
    const { levels, listener } = listened(call)
    browser.clock.advance(100)
    expect(levels).toEqual([{ local: 0.25, remote: 0 }])
    browser.peer.arrives('audio')
    browser.meters.set(call.localStream, 0.5)
    browser.clock.advance(100)
    expect(levels[1]).toEqual({ local: 0.5, remote: 0.25 })
    call.off('level', listener)
    expect(browser.meters.size).toBe(0)
    browser.clock.advance(1000)
    expect(levels).toHaveLength(2)
  })

  it('follow another microphone, and end with the call', async () => {
    const { browser, call } = await inCall()
    const { levels } = listened(call)
    browser.clock.advance(100)
    browser.meters.set(call.localStream, 0)
    await call.updateMicrophone({ deviceId: 'headset' })
    browser.clock.advance(100)
    expect(levels[1]?.local).toBe(0.25)
    void call.hangup()
    expect(browser.meters.size).toBe(0)
  })

  it('are reported once to a listener of once()', async () => {
    const { browser, call } = await inCall()
    let count = 0
    call.once('level', () => count++)
    browser.clock.advance(500)
    expect(count).toBe(1)
    expect(browser.meters.size).toBe(0)
  })
})

import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import { offerOf } from './testing/descriptions.ts'
import { type FakeBrowser, FakeStream, FakeTrack, settled } from './testing/fakes.ts'
import { answered, dialled, incoming, joined, released, setUp } from './testing/situations.ts'

const inCall = async () => {
  const { browser, client } = await setUp()
  const call = await answered(browser, client, { video: { width: 640 } }, { capabilities: ['self'] })
  const events: string[] = []
  call.on('camera.updated', ({ current }) => events.push(current.deviceId))
  return { browser, call, events, camera: () => browser.microphones.at(-1)!.getVideoTracks()[0]! }
}

const mute = async (browser: FakeBrowser, call: Call): Promise<void> => {
  const muting = call.mute('video')
  browser.socket.reply('call.mute', { code: '200' })
  await muting
}

/** Mutes the camera, and lets it be closed. */
const closed = async (browser: FakeBrowser, call: Call): Promise<void> => {
  await mute(browser, call)
  browser.clock.advance(1000)
  await settled()
}

const unmute = async (browser: FakeBrowser, call: Call): Promise<void> => {
  const unmuting = call.unmute('video')
  await settled()
  browser.socket.reply('call.unmute', { code: '200' })
  await unmuting
}

/** Reports the own member as the gateway does. */
const updated = (browser: FakeBrowser, call: Call, muted: boolean): void =>
  browser.socket.event('member.updated', {
    call_id: call.id,
    member: { member_id: 'm1', video_muted: muted, updated: ['video_muted'] },
  })

describe('a muted camera', () => {
  it('sends black for a second, closes, and opens again when it is unmuted', async () => {
    const { browser, call, events, camera } = await inCall()
    const first = camera()
    await mute(browser, call)
    browser.clock.advance(999)
    await settled()
    expect(first).toMatchObject({ enabled: false, stopped: false })
    browser.clock.advance(1)
    await settled()
    expect([first.stopped, browser.peer.sent('video'), call.localVideoTrack]).toEqual([true, null, null])
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendrecv'])
    expect(call.localStream?.getTracks()).toHaveLength(1)
    await unmute(browser, call)
    expect(browser.requested.at(-1)).toEqual({ video: { deviceId: 'video-1' } })
    expect(browser.peer.sent('video')).toBe(camera())
    expect([camera().enabled, call.muted.video, call.video.local]).toEqual([true, false, true])
    expect(browser.socket.requests('verto.modify')).toEqual([])
    expect(events).toEqual([])
  })

  it('that is unmuted before it closes stays open', async () => {
    const { browser, call, camera } = await inCall()
    await mute(browser, call)
    await unmute(browser, call)
    browser.clock.advance(5000)
    await settled()
    expect([browser.requested.length, camera().stopped]).toEqual([1, false])
  })

  it('that cannot be opened again leaves the call muted, and the gateway receives nothing more', async () => {
    const { browser, call } = await inCall()
    await closed(browser, call)
    const open = browser.microphone
    browser.microphone = () => Promise.reject(new DOMException('busy', 'NotReadableError'))
    await expect(call.unmute('video')).rejects.toMatchObject({ code: 'microphone_failed' })
    expect([call.muted.video, browser.socket.requests('call.unmute')]).toEqual([true, []])
    browser.microphone = open
    await unmute(browser, call)
    expect(call.video.local).toBe(true)
  })

  it('that is muted again while it opens is closed', async () => {
    const { browser, call } = await inCall()
    await closed(browser, call)
    const asked = Promise.withResolvers<FakeStream>()
    browser.microphone = () => asked.promise
    const unmuting = call.unmute('video')
    await settled()
    void call.mute('video')
    const camera = new FakeTrack('video')
    asked.resolve(new FakeStream([camera]))
    await unmuting
    expect([camera.enabled, call.muted.video, browser.socket.requests('call.unmute')]).toEqual([
      false,
      true,
      [],
    ])
    browser.clock.advance(1000)
    await settled()
    expect(camera.stopped).toBe(true)
  })

  it('of an ended call stays closed, even if it was opening', async () => {
    const { browser, call } = await inCall()
    await mute(browser, call)
    void call.hangup()
    await settled()
    browser.socket.replyAll()
    expect(browser.clock.running).toBe(0)
    released(browser)
    const next = await inCall()
    await closed(next.browser, next.call)
    const asked = Promise.withResolvers<FakeStream>()
    next.browser.microphone = () => asked.promise
    const unmuting = next.call.unmute('video')
    await settled()
    void next.call.hangup()
    await expect(unmuting).rejects.toMatchObject({ code: 'canceled' })
    asked.resolve(new FakeStream([new FakeTrack('video')]))
    await settled()
    released(next.browser)
  })

  it('is replaced by a camera that was chosen meanwhile', async () => {
    const { browser, call } = await inCall()
    await closed(browser, call)
    await call.updateCamera({ deviceId: 'front' })
    expect(browser.requested).toHaveLength(1)
    await unmute(browser, call)
    expect(call.cameraId).toBe('front')
  })

  it('is not opened by a call that begins or adds video while it is muted', async () => {
    const { browser, client, invites } = await setUp()
    const call = await client.dial({ to: '/public/bob', video: true })
    await call.mute('video')
    const started = call.start()
    await settled()
    expect(browser.requested).toEqual([{ audio: true, video: false }])
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendrecv'])
    browser.socket.event('call.joined', { ...joined(call.id), capabilities: ['self'] })
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
    await started
    await unmute(browser, call)
    expect(call.video.local).toBe(true)
    const { call: other } = await dialled(client, {})
    browser.socket.verto('verto.answer', { callID: other.id, sdp: 'their answer' })
    await settled()
    await other.mute('video')
    const adding = other.updateMedia({ video: { enable: true, constraints: { deviceId: 'front' } } })
    await settled()
    browser.socket.reply('verto.modify', { sdp: 'new answer' })
    await adding
    expect([browser.peer.shape, other.cameraId]).toEqual([['audio sendrecv', 'video sendrecv'], null])
    await other.unmute('video')
    expect(other.cameraId).toBe('front')
    incoming(browser, 'c9', offerOf('audio', 'video'))
    expect(invites).toHaveLength(1)
  })

  it('that is muted while the call opens it is closed once it is open', async () => {
    const { browser, client } = await setUp()
    const asked = Promise.withResolvers<FakeStream>()
    browser.microphone = () => asked.promise
    const call = await client.dial({ to: '/public/bob', video: true })
    void call.start().catch(() => {})
    await settled()
    await call.mute('video')
    // The user's permission takes longer than the time for which black is sent.
    browser.clock.advance(5000)
    await settled()
    const microphone = new FakeTrack('audio')
    const camera = new FakeTrack('video')
    asked.resolve(new FakeStream([microphone, camera]))
    await settled()
    expect(camera).toMatchObject({ enabled: false, stopped: false })
    browser.clock.advance(1000)
    await settled()
    expect([camera.stopped, microphone.stopped, browser.peer.sent('video')]).toEqual([true, false, null])
  })

  it('is opened if it is unmuted while the call opens the microphone', async () => {
    const { browser, client } = await setUp()
    const asked = Promise.withResolvers<FakeStream>()
    const open = browser.microphone
    browser.microphone = () => asked.promise
    const call = await client.dial({ to: '/public/bob', video: { width: 640 } })
    await call.mute('video')
    void call.start().catch(() => {})
    await settled()
    await call.unmute('video')
    browser.microphone = open
    asked.resolve(new FakeStream([new FakeTrack('audio')]))
    await settled()
    expect(browser.requested.at(-1)).toEqual({ video: { width: 640 } })
    expect(browser.peer.sent('video')).toMatchObject({ enabled: true, stopped: false })
  })

  it('is closed and opened by mutes of the gateway', async () => {
    const { browser, call, camera } = await inCall()
    const first = camera()
    updated(browser, call, true)
    browser.clock.advance(1000)
    await settled()
    expect(first.stopped).toBe(true)
    updated(browser, call, false)
    await settled()
    expect([call.muted.video, camera().enabled, camera().stopped]).toEqual([false, true, false])
    updated(browser, call, true)
    browser.clock.advance(1000)
    await settled()
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    updated(browser, call, false)
    await settled()
    // The other members are informed that no video is sent.
    expect([call.muted.video, browser.socket.requests('call.mute').length]).toEqual([true, 1])
  })

  it('that was removed is not opened by an unmute', async () => {
    const { browser, call } = await inCall()
    await closed(browser, call)
    const giving = call.setVideoDirection('recvonly')
    await settled()
    browser.socket.reply('verto.modify', { sdp: 'new answer' })
    await giving
    await unmute(browser, call)
    expect([call.muted.video, browser.requested.length]).toEqual([false, 1])
  })

  it('stays open during a hold, which sends black', async () => {
    const { browser, call, camera } = await inCall()
    const holding = call.hold()
    browser.socket.reply('verto.modify', { action: 'hold' })
    await holding
    browser.clock.advance(60_000)
    await settled()
    expect(camera()).toMatchObject({ enabled: false, stopped: false })
  })

  it('does not affect the microphone, which stays open when muted', async () => {
    const { browser, call } = await inCall()
    void call.mute()
    browser.clock.advance(60_000)
    await settled()
    expect(call.localAudioTrack).toMatchObject({ enabled: false, stopped: false })
  })
})

import { describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { Client } from './client.ts'
import type { VideoState } from './media-types.ts'
import { offerOf } from './testing/descriptions.ts'
import { type FakeBrowser, FakeStream, FakeTrack, settled } from './testing/fakes.ts'
import { answered, dialled, incoming, released, setUp } from './testing/situations.ts'

const root = {} as HTMLElement

/** Makes the server accept the pending offer. */
const taken = async (browser: FakeBrowser, doing: Promise<void>): Promise<void> => {
  await settled()
  browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'new answer' })
  await doing
}

const watched = (call: Call): VideoState[] => {
  const seen: VideoState[] = []
  call.on('video', (video) => seen.push(video))
  return seen
}

const withVideo = async (browser: FakeBrowser, client: Client): Promise<Call> =>
  answered(browser, client, { video: true, rootElement: root })

describe('a call with video', () => {
  it('offers audio first, then video, and shows the far side in the root element', async () => {
    const { browser, client } = await setUp()
    const call = await withVideo(browser, client)
    expect(browser.requested).toEqual([{ audio: true, video: true }])
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendrecv'])
    const seen = watched(call)
    browser.peer.arrives('video')
    expect(browser.player('video')).toMatchObject({ removed: false, hidden: false })
    expect(seen).toEqual([{ local: true, remote: true }])
    expect(call).toMatchObject({ withAudio: true, withVideo: true, cameraId: 'video-1', video: seen[0] })
    await Promise.all([call.hangup(), settled().then(() => browser.socket.reply('verto.bye'))])
    released(browser)
  })

  it('without a root element creates no player, but reports the track', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client, { video: true })
    const tracks: unknown[] = []
    call.on('track', ({ track }) => tracks.push(track))
    const track = browser.peer.arrives('video')
    expect(tracks).toEqual([track])
    expect(call.remoteStream.getVideoTracks()).toEqual([track])
    expect(browser.player('video')).toBeUndefined()
  })

  it('can send video only, or receive it only', async () => {
    const { browser, client } = await setUp()
    await dialled(client, { video: true, negotiateVideo: false })
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendonly'])
    await dialled(client, { negotiateVideo: true, negotiateAudio: false })
    expect(browser.peer.shape).toEqual(['audio sendonly', 'video recvonly'])
    expect(browser.requested.at(-1)).toEqual({ audio: true, video: false })
  })

  it('that is answered opens no camera if no video is offered', async () => {
    const { browser, invites } = await setUp()
    incoming(browser)
    const accepting = invites[0]!.accept({ video: { width: 640 } })
    await settled()
    expect(browser.requested).toEqual([{ audio: true, video: false }])
    browser.socket.reply('verto.answer')
    const call = await accepting
    expect(browser.peer.shape).toEqual(['audio sendrecv'])
    await taken(browser, call.setVideoDirection('sendrecv'))
    expect(browser.requested.at(-1)).toEqual({ video: { width: 640 } })
  })

  it('that is answered without a camera receives video', async () => {
    const { browser, invites } = await setUp()
    incoming(browser, 'c9', offerOf('audio', 'video'))
    const accepting = invites[0]!.accept({ rootElement: root })
    await settled()
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video recvonly'])
    browser.socket.reply('verto.answer')
    const call = await accepting
    browser.peer.arrives('video')
    expect(call.video).toEqual({ local: false, remote: true })
  })

  it('hides the last picture of a far side that stops sending, and reports it', async () => {
    const { browser, client } = await setUp()
    const call = await withVideo(browser, client)
    const track = browser.peer.arrives('video')
    const seen = watched(call)
    track.mute(true)
    expect(browser.player('video')?.hidden).toBe(true)
    track.mute(false)
    expect(browser.player('video')?.hidden).toBe(false)
    const far = { member_id: 'm2', call_id: 'x', node_id: 'n1', visible: true }
    browser.socket.event('member.joined', { room_session_id: 'r1', call_id: call.id, member: far })
    const gone = { ...far, visible: false, updated: ['visible'] }
    browser.socket.event('member.updated', { call_id: call.id, member: gone })
    expect(seen.map(({ remote }) => remote)).toEqual([false, true, false])
  })

  it('sends black while the camera is muted', async () => {
    const { browser, client } = await setUp()
    const call = await withVideo(browser, client)
    const seen = watched(call)
    const [camera] = browser.microphones[0]!.getVideoTracks()
    const muting = call.videoMute()
    expect(camera?.enabled).toBe(false)
    expect(browser.socket.requests('call.mute')[0]?.params.channels).toEqual(['video'])
    browser.socket.reply('call.mute', { code: '200' })
    await muting
    void call.videoUnmute()
    expect(camera?.enabled).toBe(true)
    expect(seen.map(({ local }) => local)).toEqual([false, true])
    browser.clock.advance(5000)
    await settled()
    expect(camera?.stopped).toBe(false)
  })
})

describe('a camera whose video is rejected is closed', () => {
  const refusals = ['stopped', 'inactive', 'recvonly']

  it.each(refusals)('(%s) when the call is answered', async (direction) => {
    const { browser, client } = await setUp()
    const { call } = await dialled(client, { video: true })
    browser.peer.refused.video = direction
    browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
    await settled()
    const [microphone, camera] = browser.microphones[0]!.getTracks()
    expect([microphone?.stopped, camera?.stopped]).toEqual([false, true])
    expect(call).toMatchObject({ active: true, localVideoTrack: null, cameraId: null })
    expect(call.localStream?.getTracks()).toEqual([microphone])
    expect(call.video.local).toBe(false)
    // A later offer, whatever its purpose, does not start the video again.
    expect(browser.peer.sections.filter((section) => section.direction.startsWith('send'))).toHaveLength(1)
    if (direction !== 'stopped') expect(browser.peer.sent('video')).toBeNull()
  })

  it.each(refusals)('(%s) when it is added, and can be added again', async (direction) => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const changed: unknown[] = []
    call.on('camera.updated', (change) => changed.push(change))
    browser.peer.refused.video = direction
    await taken(browser, call.setVideoDirection('sendrecv'))
    expect(browser.microphones[1]?.tracks[0]?.stopped).toBe(true)
    expect([call.localVideoTrack, call.video.local, changed]).toEqual([null, false, []])
    delete browser.peer.refused.video
    await taken(browser, call.setVideoDirection('sendrecv'))
    expect([call.video.local, changed.length]).toEqual([true, 1])
  })

  it.each(['sendonly', 'inactive'])('or not opened if the offer (%s) accepts none', async (direction) => {
    const { browser, invites } = await setUp()
    incoming(browser, 'c9', `${offerOf('audio', 'video')}a=${direction}\r\n`)
    const accepting = invites[0]!.accept({ video: true })
    await settled()
    expect(browser.requested).toEqual([{ audio: true, video: false }])
    browser.socket.reply('verto.answer')
    await accepting
  })

  it('and a replacement is closed too if its update fails', async () => {
    const { browser, client } = await setUp()
    const call = await withVideo(browser, client)
    const [camera] = browser.microphones[0]!.getVideoTracks()
    const changing = call.updateMedia({ video: { enable: true, constraints: { deviceId: 'front' } } })
    await settled()
    browser.socket.reply('verto.modify', { code: '488', message: 'No.' })
    await expect(changing).rejects.toMatchObject({ code: 'server' })
    expect(browser.microphones[1]?.tracks[0]).toMatchObject({ deviceId: 'front', stopped: true })
    expect([camera?.stopped, browser.peer.sent('video'), call.cameraId]).toEqual([false, camera, 'video-1'])
  })
})

describe('updateMedia()', () => {
  it('opens and offers the camera, and reads the answer in the result', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client, { rootElement: root })
    const seen = watched(call)
    await taken(browser, call.updateMedia({ video: { enable: true, constraints: { width: 640 } } }))
    expect(browser.requested.at(-1)).toEqual({ video: { width: 640 } })
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendrecv'])
    expect(browser.socket.requests('verto.modify')[0]?.message.params).toMatchObject({
      action: 'updateMedia',
      sdp: 'offer 2',
      dialogParams: { callID: call.id },
    })
    expect(browser.peer.remote.at(-1)).toEqual({ type: 'answer', sdp: 'new answer' })
    expect(seen).toEqual([{ local: true, remote: false }])
    expect(call.localStream?.getTracks().map(({ kind }) => kind)).toEqual(['audio', 'video'])
    browser.peer.arrives('video')
    expect(browser.player('video')).toMatchObject({ hidden: false })
  })

  it('removes the camera, and adds it again in the same section', async () => {
    const { browser, client } = await setUp()
    const call = await withVideo(browser, client)
    browser.peer.arrives('video')
    const [camera] = browser.microphones[0]!.getVideoTracks()
    await taken(browser, call.setVideoDirection('inactive'))
    expect(camera?.stopped).toBe(true)
    expect(browser.peer.sent('video')).toBeNull()
    expect(call.localVideoTrack).toBeNull()
    expect(call.remoteStream.getVideoTracks()).toEqual([])
    expect(browser.player('video')?.removed).toBe(true)
    expect(call.video).toEqual({ local: false, remote: false })
    await taken(browser, call.setVideoDirection('sendrecv'))
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendrecv'])
    expect(browser.peer.sent('video')?.stopped).toBe(false)
    browser.peer.arrives('video')
    expect(call.video).toEqual({ local: true, remote: true })
  })

  it('can receive video without a camera', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    await taken(browser, call.setVideoDirection('recvonly'))
    expect(browser.requested).toHaveLength(1)
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video recvonly'])
  })

  it('removes the microphone', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    await taken(browser, call.setAudioDirection('recvonly'))
    expect(browser.microphones[0]?.tracks[0]?.stopped).toBe(true)
    expect(call.microphoneId).toBeNull()
  })

  it('that the server rejects changes nothing', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const adding = call.updateMedia({ video: { enable: true } })
    await settled()
    browser.socket.reply('verto.modify', { code: '488', message: 'No.' })
    await expect(adding).rejects.toMatchObject({ code: 'server', serverCode: '488' })
    expect(browser.microphones[1]?.tracks[0]?.stopped).toBe(true)
    expect(browser.peer.signalingState).toBe('stable')
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video stopped'])
    expect(call.localVideoTrack).toBeNull()
    await taken(browser, call.updateMedia({ video: { enable: true } }))
    expect(call.video.local).toBe(true)
  })

  it('without a camera rejects without an offer', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    browser.microphone = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    await expect(call.updateMedia({ video: { enable: true } })).rejects.toMatchObject({
      code: 'microphone_refused',
    })
    expect(browser.socket.requests('verto.modify')).toHaveLength(0)
  })

  it('runs concurrent updates one after another', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const first = call.setVideoDirection('sendrecv')
    const second = call.setVideoDirection('inactive')
    await taken(browser, first)
    await taken(browser, second)
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video inactive'])
    expect(browser.microphones[1]?.tracks).toHaveLength(1)
    expect(browser.microphones[1]?.tracks[0]?.stopped).toBe(true)
  })

  it('requires a kind, a direction and a running call', async () => {
    const { browser, client } = await setUp()
    const { call: early } = await dialled(client)
    await expect(early.setVideoDirection('sendrecv')).rejects.toMatchObject({ code: 'bad_state' })
    const call = await answered(browser, client)
    const wrong = [{}, { video: {} }, { audio: { direction: 'both' as 'inactive' } }]
    for (const params of wrong)
      await expect(call.updateMedia(params)).rejects.toMatchObject({ code: 'bad_argument' })
    expect(browser.socket.requests('verto.modify')).toHaveLength(0)
  })

  it('rejects, and releases the camera, if the call ends during the negotiation', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const work = Promise.withResolvers<void>()
    browser.peer.busy = work.promise
    const adding = call.setVideoDirection('sendrecv')
    await settled()
    void call.hangup()
    work.resolve()
    await expect(adding).rejects.toMatchObject({ code: 'canceled' })
    released(browser)
  })

  it('rejects if the call ends while the browser asks for the camera, which closes again', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const asked = Promise.withResolvers<FakeStream>()
    browser.microphone = () => asked.promise
    const adding = call.setVideoDirection('sendrecv')
    await settled()
    void call.hangup()
    await expect(adding).rejects.toMatchObject({ code: 'canceled' })
    asked.resolve(new FakeStream([new FakeTrack('video')]))
    await settled()
    expect(browser.microphones).toHaveLength(2)
    released(browser)
  })

  it('releases the camera if the call ends meanwhile', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client)
    const adding = call.setVideoDirection('sendrecv')
    await settled()
    browser.socket.verto('verto.bye', { callID: call.id, cause: 'NORMAL_CLEARING', causeCode: 16 })
    browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'too late' })
    await adding.catch(() => {})
    released(browser)
    expect(browser.microphones[1]?.tracks.every(({ stopped }) => stopped)).toBe(true)
  })
})

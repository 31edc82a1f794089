import { beforeAll, describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { ScreenShareOptions } from './media-types.ts'
import type { ScreenShare } from './screen-share.ts'
import { FakeStream, FakeTrack, settled } from './testing/fakes.ts'
import { answered, dialled, joined, released, setUp } from './testing/situations.ts'

// Calls load it with their first screen.
beforeAll(() => import('./screen-share.ts'))

const inCall = async () => {
  const { browser, client } = await setUp()
  const call = await answered(browser, client)
  return { browser, client, call }
}

const begun = async (options?: ScreenShareOptions) => {
  const all = await inCall()
  const starting = all.call.startScreenShare(options)
  starting.catch(() => {})
  await settled()
  return { ...all, starting, id: screenOf(all.call)?.id ?? '' }
}

const screenOf = (call: Call): ScreenShare | undefined => call.screenShareList[0]

const shared = async (options?: ScreenShareOptions) => {
  const all = await begun(options)
  all.browser.socket.reply('verto.invite', { node_id: 'n2', code: '200' })
  all.browser.socket.verto('verto.answer', { callID: all.id, sdp: 'screen answer' })
  const screen = await all.starting
  const ends: string[] = []
  screen.on('destroy', ({ reason }) => ends.push(reason.code))
  return { ...all, screen, ends, track: all.browser.screens[0]!.tracks[0]! }
}

/** Checks that the screen's resources are released and the call continues. */
const gone = ({ browser, call }: Awaited<ReturnType<typeof inCall>>) => {
  expect(call.screenShareList).toEqual([])
  expect(browser.screens.flatMap(({ tracks }) => tracks).every(({ stopped }) => stopped)).toBe(true)
  expect(browser.peers.slice(1).every(({ closed }) => closed)).toBe(true)
  expect(call.active).toBe(true)
}

describe('a shared screen', () => {
  it('is released if the call ends while its code is loaded', async () => {
    const { browser, call } = await inCall()
    const starting = call.startScreenShare()
    void call.hangup()
    await expect(starting).rejects.toMatchObject({ code: 'canceled' })
    expect(browser.screens.flatMap(({ tracks }) => tracks).map(({ stopped }) => stopped)).toEqual([true])
    expect(call.screenShareList).toEqual([])
  })

  it('is chosen, and offered as a second session beside the call', async () => {
    const options = { preferCurrentTab: true, userVariables: { title: 'Plan' } }
    const { browser, call, screen, id } = await shared(options)
    expect(browser.requested.at(-1)).toEqual({ preferCurrentTab: true, video: true, audio: false })
    expect(browser.peer.shape).toEqual(['video sendonly'])
    const invite = browser.socket.requests('verto.invite')[1]
    expect(invite?.params).toMatchObject({ callID: id, node_id: 'n1' })
    expect(invite?.message.params).toMatchObject({
      sdp: 'offer 1',
      dialogParams: {
        callID: id,
        screenShare: true,
        destination_number: call.to,
        userVariables: { title: 'Plan', memberCallId: call.id, memberId: 'm1' },
      },
    })
    expect(browser.peer.remote).toEqual([{ type: 'answer', sdp: 'screen answer' }])
    expect(screen).toMatchObject({ active: true, state: 'active', localStream: browser.screens[0] })
    expect(call.screenShareList).toEqual([screen])
  })

  it('with audio offers the audio first', async () => {
    const { browser, call } = await inCall()
    browser.screen = async () => new FakeStream([new FakeTrack('video'), new FakeTrack('audio')])
    call.startScreenShare({ audio: true }).catch(() => {})
    await settled()
    expect(browser.peer.shape).toEqual(['audio sendonly', 'video sendonly'])
  })

  it.each([
    ['leave()', (screen: ScreenShare) => screen.leave()],
    ['hangup()', (screen: ScreenShare) => screen.hangup()],
    ['hangup(id) of its call', (screen: ScreenShare, call: Call) => call.hangup(screen.id)],
  ])('ends with %s', async (_, end) => {
    const all = await shared()
    const ending = end(all.screen, all.call)
    expect(all.browser.socket.requests('verto.bye')[0]?.params).toMatchObject({
      callID: all.id,
      node_id: 'n2',
    })
    all.browser.socket.reply('verto.bye')
    await ending
    expect(all.ends).toEqual(['normal'])
    await all.screen.leave()
    expect(all.browser.socket.requests('verto.bye')).toHaveLength(1)
    gone(all)
  })

  it('ends when the user stops it in the browser', async () => {
    const all = await shared()
    all.track.end()
    expect(all.browser.socket.requests('verto.bye')).toHaveLength(1)
    expect(all.ends).toEqual(['normal'])
    gone(all)
  })

  it('ends at the bye of the server, without a bye of its own', async () => {
    const all = await shared()
    all.browser.socket.verto('verto.bye', { callID: all.id, cause: 'NORMAL_CLEARING', causeCode: 16 })
    expect(all.browser.socket.requests('verto.bye')).toHaveLength(0)
    expect(all.ends).toEqual(['normal'])
    gone(all)
  })

  it('ends with its call', async () => {
    const hungUp = await shared()
    void hungUp.call.hangup()
    expect(hungUp.browser.socket.requests('verto.bye')).toHaveLength(2)
    const lost = await shared()
    lost.browser.socket.drop()
    lost.browser.clock.advance(500)
    lost.browser.socket.welcome('signalwire_j_2_p')
    expect(lost.browser.socket.requests('verto.bye')).toHaveLength(0)
    for (const { browser, ends, call } of [hungUp, lost]) {
      expect(ends).toHaveLength(1)
      expect(call.screenShareList).toEqual([])
      released(browser)
      expect(browser.screens[0]?.tracks[0]?.stopped).toBe(true)
    }
  })

  it('restores its media path by itself', async () => {
    const all = await shared()
    all.browser.peer.become('connected')
    all.browser.peer.become('failed')
    await settled()
    const modify = all.browser.socket.requests('verto.modify')[0]
    expect(modify?.message.params).toMatchObject({ action: 'updateMedia', dialogParams: { callID: all.id } })
    all.browser.socket.reply('verto.modify', { code: '404' })
    await settled()
    expect(all.ends).toEqual(['media_lost'])
    gone(all)
  })
})

describe('the screen of a gateway whose media server has died', () => {
  it('is offered anew, and goes on', async () => {
    const all = await shared()
    all.browser.peer.become('connected')
    all.browser.socket.verto('verto.renew', { callID: all.id })
    await settled()
    const modify = all.browser.socket.requests('verto.modify')
    expect(modify.map(({ message }) => message.params)).toMatchObject([
      { action: 'updateMedia', dialogParams: { callID: all.id } },
    ])
    all.browser.socket.reply('verto.modify', { action: 'updateMedia', sdp: 'new answer' })
    await settled()
    expect([all.screen.active, all.ends]).toEqual([true, []])
  })
})

describe('no screen is shared', () => {
  it('if the user chooses none', async () => {
    const { browser, call } = await inCall()
    browser.screen = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    await expect(call.startScreenShare()).rejects.toMatchObject({ code: 'screen_refused' })
    browser.screen = () => Promise.reject(new DOMException('no', 'NotReadableError'))
    await expect(call.startScreenShare()).rejects.toMatchObject({ code: 'screen_failed' })
    expect(browser.socket.requests('verto.invite')).toHaveLength(1)
    expect(call.screenShareList).toEqual([])
  })

  it('if the server rejects it, ends it, or never responds', async () => {
    const refused = await begun()
    refused.browser.socket.reply('verto.invite', { code: '403', message: 'No.' })
    await expect(refused.starting).rejects.toMatchObject({ code: 'server', serverCode: '403' })
    expect(refused.browser.socket.requests('verto.bye')).toHaveLength(0)
    const ended = await begun()
    ended.browser.socket.reply('verto.invite')
    await settled()
    ended.browser.socket.verto('verto.bye', { callID: ended.id, cause: 'CALL_REJECTED', causeCode: 21 })
    await expect(ended.starting).rejects.toMatchObject({ code: 'declined' })
    const late = await begun()
    late.browser.socket.reply('verto.invite')
    late.browser.socket.replyAll()
    await settled()
    late.browser.clock.advance(15_000)
    await expect(late.starting).rejects.toMatchObject({ code: 'timeout' })
    expect(late.browser.socket.requests('verto.bye')).toHaveLength(1)
    late.browser.socket.reply('verto.bye')
    await settled()
    for (const all of [refused, ended, late]) gone(all)
  })

  it('if its description is unusable', async () => {
    const all = await begun()
    all.browser.socket.reply('verto.invite')
    all.browser.socket.verto('verto.answer', { callID: all.id, sdp: 'broken' })
    await expect(all.starting).rejects.toMatchObject({ code: 'media_lost' })
    expect(all.browser.socket.requests('verto.bye')).toHaveLength(1)
  })

  it('if the call ended while the user chose', async () => {
    const { browser, call } = await inCall()
    const chosen = Promise.withResolvers<FakeStream>()
    browser.screen = () => chosen.promise
    const starting = call.startScreenShare()
    await settled()
    void call.hangup()
    chosen.resolve(new FakeStream([new FakeTrack('video')]))
    await expect(starting).rejects.toMatchObject({ code: 'canceled' })
    expect(browser.screens[0]?.tracks[0]?.stopped).toBe(true)
    expect(browser.socket.requests('verto.invite')).toHaveLength(1)
  })

  it('if the call ends while the user chooses, or during the negotiation', async () => {
    const { browser, call, starting } = await begun()
    const chosen = Promise.withResolvers<FakeStream>()
    browser.screen = () => chosen.promise
    const second = call.startScreenShare()
    void call.hangup()
    await expect(second).rejects.toMatchObject({ code: 'canceled' })
    await starting.catch(() => {})
    chosen.resolve(new FakeStream([new FakeTrack('video')]))
    await settled()
    expect(browser.screens.flatMap(({ tracks }) => tracks).every(({ stopped }) => stopped)).toBe(true)
  })

  it('without a running call or the capability', async () => {
    const { browser, client } = await setUp()
    const { call: early } = await dialled(client)
    await expect(early.startScreenShare()).rejects.toMatchObject({ code: 'bad_state' })
    const call = await answered(browser, client)
    browser.socket.event('call.joined', { ...joined(call.id), capabilities: ['self'] })
    await expect(call.startScreenShare()).rejects.toMatchObject({ code: 'no_capability' })
    expect(browser.screens).toEqual([])
  })
})

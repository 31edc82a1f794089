import { beforeAll, describe, expect, it } from 'vitest'
import type { Call } from './call.ts'
import type { Json } from './frames.ts'
import { createLog } from './log.ts'
import { RoomTracks } from './room-tracks.ts'
import { offerOf } from './testing/descriptions.ts'
import { FakeBrowser, settled } from './testing/fakes.ts'
import { otherMember, ownMember } from './testing/room.ts'
import { answered, dialled, released, setUp } from './testing/situations.ts'
import type { TrackConnectionOwner } from './track-connection.ts'

// Calls load it with their first room.
beforeAll(() => import('./track-connection.ts'))

const offer = offerOf('video', 'video', 'video')
const room = { room_session_id: 'r1', room_session: { members: [ownMember, otherMember] } }

/** Answers the last request of a method, and waits for the effects. */
const reply = async (browser: FakeBrowser, method: string, result: Json = {}): Promise<void> => {
  browser.socket.reply(method, { code: '200', ...result })
  await settled()
}

/** Lets the gateway offer the tracks, and accept the answer. */
const opens = async (browser: FakeBrowser): Promise<void> => {
  await settled()
  await reply(browser, 'call.tracks.open', { sdp: offer })
  await reply(browser, 'call.tracks.accept')
}

const withTracks = async (): Promise<{ browser: FakeBrowser; call: Call; seen: string[] }> => {
  const { browser, client } = await setUp()
  const call = await answered(browser, client, { video: true, tracks: 2 }, room)
  const seen: string[] = []
  call.on('tracks', (tracks) => seen.push([...tracks.keys()].join()))
  await opens(browser)
  return { browser, call, seen }
}

const assigns = (browser: FakeBrowser, ...tracks: Json[]) =>
  browser.socket.event('call.tracks', { call_id: 'id-3', room_session_id: 'r1', open: true, tracks })
const line = (mid: string, member_id: string, more: Json = {}) => ({
  mid,
  member_id,
  kind: 'camera',
  state: 'live',
  ...more,
})
const shown = ({ socket }: FakeBrowser) =>
  socket.requests('call.tracks.show').map(({ params }) => (params as { members?: unknown }).members)

describe('a call with separate cameras', () => {
  it('sends a large camera in three sizes, and receives video on another section', async () => {
    const { browser, client } = await setUp()
    await dialled(client, { video: true, tracks: 9 })
    expect(browser.requested).toEqual([
      { audio: true, video: { width: { ideal: 1280 }, height: { ideal: 720 } } },
    ])
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video sendonly', 'video recvonly'])
    expect(browser.peer.rids).toEqual(['q', 'h', 'f'])
    await dialled(client, { tracks: 9 })
    expect(browser.peer.shape).toEqual(['audio sendrecv', 'video recvonly'])
  })

  it('still shows the picture of the room on its first connection', async () => {
    const { browser, client } = await setUp()
    const call = await answered(browser, client, { video: true, tracks: 2, rootElement: {} as HTMLElement })
    browser.peers[0]!.ontrack?.({ track: browser.peers[0]!.sections[2]!.receiver.track })
    expect([call.withVideo, browser.player('video')?.removed]).toEqual([true, false])
  })

  it('opens them in a room, and has the track of each member that the gateway assigns', async () => {
    const { browser, call, seen } = await withTracks()
    expect(browser.socket.requests('call.tracks.open')[0]!.params).toMatchObject({
      lines: 2,
      self: { member_id: 'm1' },
    })
    expect(browser.peer.remote).toEqual([{ type: 'offer', sdp: offer }])
    assigns(browser, line('1', 'm2', { layer: 1 }), line('0', 'm3', { state: 'paused' }), line('9', 'm4'))
    const { track } = browser.peer.sections[1]!.receiver
    expect([...call.tracks.all.values()]).toEqual([{ memberId: 'm2', kind: 'camera', track, layer: 1 }])
    assigns(browser, line('0', 's1', { kind: 'screen' }))
    expect(call.tracks.all.get('s1')?.kind).toBe('screen')
    expect(seen).toEqual(['m2', 's1'])
  })

  it('tells the gateway what the page shows, combined and without members that have left', async () => {
    const { browser, call } = await withTracks()
    call.tracks.show([{ memberId: 'm2', width: 100 }])
    call.tracks.show([
      { memberId: 'm2', width: 320.4, pinned: true },
      { memberId: 'gone', width: 320 },
    ])
    expect(shown(browser)).toEqual([])
    browser.clock.advance(100)
    await settled()
    expect(shown(browser)).toEqual([[{ member_id: 'm2', width: 320, pinned: true }]])
    browser.socket.event('member.left', { room_session_id: 'r1', member: otherMember })
    browser.clock.advance(100)
    await settled()
    expect(shown(browser).at(-1)).toEqual([])
    call.tracks.show(undefined)
    browser.clock.advance(100)
    await settled()
    expect(shown(browser).at(-1)).toBeUndefined()
    for (const width of [-1, Number.NaN, 20_000])
      expect(() => call.tracks.show([{ memberId: 'm2', width }])).toThrow(
        expect.objectContaining({ code: 'bad_argument' }),
      )
  })

  it('asks for a key frame after two seconds without a frame, and for a new stream after two more', async () => {
    const { browser } = await withTracks()
    const second = async (packets: number, frames: number) => {
      browser.peer.stats.set('in', {
        type: 'inbound-rtp',
        mid: '0',
        packetsReceived: packets,
        framesDecoded: frames,
      })
      browser.clock.advance(1000)
      await settled()
    }
    const asked = () =>
      browser.socket.requests('call.tracks.refresh').map(({ params }) => (params as Json).renew)
    await second(10, 1)
    // No packets: the member has nothing to send.
    for (let i = 0; i < 2; i++) await second(10, 1)
    expect(asked()).toEqual([])
    for (let i = 1; i <= 2; i++) await second(10 + i, 1)
    expect(asked()).toEqual([false])
    browser.socket.replyAll()
    for (let i = 3; i <= 4; i++) await second(10 + i, 1)
    expect(asked()).toEqual([false, true])
    await second(20, 2)
    expect(asked()).toEqual([false, true])
  })

  it('opens them again after their connection or the gateway’s media has failed', async () => {
    const { browser, seen } = await withTracks()
    assigns(browser, line('0', 'm2'))
    const first = browser.peer
    first.become('failed')
    expect([first.closed, seen]).toEqual([true, ['m2', '']])
    browser.clock.advance(1000)
    await opens(browser)
    assigns(browser, line('0', 'm2'))
    browser.socket.event('call.tracks', { call_id: 'id-3', room_session_id: 'r1', open: false, tracks: [] })
    browser.clock.advance(1000)
    await opens(browser)
    expect(browser.socket.requests('call.tracks.open')).toHaveLength(3)
  })

  it('tries again after a failure of the gateway, ten times at most until the next room', async () => {
    const { browser, client } = await setUp()
    await answered(browser, client, { video: true, tracks: 2 }, room)
    browser.peer.become('connected')
    const asked = () => browser.socket.requests('call.tracks.open').length
    const waits: number[] = []
    for (let i = 1; i <= 10; i++) {
      await settled()
      await reply(browser, 'call.tracks.open', { code: i === 1 ? '429' : '500', message: 'Failed' })
      browser.socket.replyAll()
      const from = browser.clock.now()
      for (let ms = 0; ms < 16_000 && asked() === i; ms += 250) {
        browser.clock.advance(250)
        await settled()
      }
      waits.push(browser.clock.now() - from)
    }
    expect(waits).toEqual([750, 1500, 3000, 6000, 12_000, ...Array(5).fill(12_000)])
    await reply(browser, 'call.tracks.open', { code: '500', message: 'Failed' })
    browser.socket.replyAll()
    browser.clock.advance(60_000)
    await settled()
    expect(asked()).toBe(11)
    browser.socket.event('call.joined', { call_id: 'id-3', member_id: 'm1', ...room })
    await opens(browser)
    expect(asked()).toBe(12)
  })

  it('does not try again where the gateway has none', async () => {
    for (const refusal of [{ code: '403' }, { code: '501' }, { code: '400' }]) {
      const { browser, client } = await setUp()
      await answered(browser, client, { tracks: 2 }, room)
      browser.peer.become('connected')
      await settled()
      await reply(browser, 'call.tracks.open', { ...refusal, message: 'No' })
      browser.socket.replyAll()
      browser.clock.advance(60_000)
      await settled()
      expect(browser.socket.requests('call.tracks.open')).toHaveLength(1)
    }
  })

  it('has none outside of a room, and releases them at its end', async () => {
    const { browser, client } = await setUp()
    await answered(browser, client, { tracks: 2 })
    await settled()
    await reply(browser, 'call.tracks.open', { code: '404', message: 'The call is not in a room.' })
    browser.clock.advance(5_000)
    await settled()
    expect([browser.peers.length, browser.socket.requests('call.tracks.open').length]).toEqual([1, 1])
    const { browser: other, call } = await withTracks()
    await Promise.all([call.hangup(), settled().then(() => other.socket.reply('verto.bye'))])
    released(other)
    expect(call.tracks.all.size).toBe(0)
  })

  it('refuses an impossible number', async () => {
    const { client } = await setUp()
    for (const tracks of [0, 26, 1.5])
      await expect(client.dial({ to: '/public/lounge', tracks })).rejects.toMatchObject({
        code: 'bad_argument',
      })
  })
})

describe('the code of separate cameras', () => {
  /** Returns tracks whose loads a test settles, and the number of their openings. */
  const loading = () => {
    const { environment, clock } = new FakeBrowser()
    const loads: PromiseWithResolvers<typeof import('./track-connection.ts')>[] = []
    let opened = 0
    const owner: TrackConnectionOwner = {
      environment,
      log: createLog('silent', console),
      iceServers: () => [],
      request: () => {
        opened++
        return new Promise(() => {})
      },
      memberIds: () => [],
      changed: () => {},
    }
    const tracks = new RoomTracks(2, owner, () => {
      loads.push(Promise.withResolvers())
      return loads.at(-1)!.promise
    })
    return { clock, tracks, loads, openings: () => opened }
  }
  const code = () => import('./track-connection.ts')

  it('is loaded again after a failure, ten times at most and only in the room', async () => {
    const { clock, tracks, loads, openings } = loading()
    tracks.notify('call.joined', {})
    for (let i = 1; i <= 11; i++) {
      loads.at(-1)!.reject(new TypeError('not fetched'))
      await settled()
      clock.advance(16_000)
      expect(loads).toHaveLength(Math.min(i + 1, 11))
    }
    expect(clock.running).toBe(0)
    tracks.notify('call.joined', {})
    loads.at(-1)!.reject(new TypeError('not fetched'))
    await settled()
    clock.advance(1000)
    expect([loads.length, openings()]).toEqual([13, 0])
    loads.at(-1)!.resolve(await code())
    await settled()
    expect(openings()).toBe(1)
    const other = loading()
    other.tracks.notify('call.joined', {})
    other.loads[0]!.reject(new TypeError('not fetched'))
    await settled()
    other.tracks.notify('call.left', {})
    expect(other.clock.running).toBe(0)
  })

  it('opens them once, even if the call leaves and joins during a load', async () => {
    const { tracks, loads, openings } = loading()
    for (const type of ['call.joined', 'call.left', 'call.joined']) tracks.notify(type, {})
    for (const load of loads) load.resolve(await code())
    await settled()
    expect([loads.length, openings()]).toEqual([2, 1])
    const left = loading()
    for (const type of ['call.joined', 'call.left']) left.tracks.notify(type, {})
    left.loads[0]!.resolve(await code())
    await settled()
    expect(left.openings()).toBe(0)
  })
})

import { once } from 'node:events'
import { observer, type types } from 'mediasoup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BrowserMedia, Edge, MediaPort } from '../../media/types.ts'
import { browserOffer } from '../../media/webrtc/sdp/sample.ts'
import { createWebRtc } from '../../media/webrtc/webrtc.ts'
import { freePort } from '../support/ports.ts'
import { type House, hangUp, openHouse, until } from './setup.ts'

const workers: types.Worker[] = []
observer.on('newworker', (worker) => workers.push(worker))

let house: House
beforeAll(async () => {
  house = await openHouse()
})
afterAll(() => house?.close())

const nothingOpen = () => {
  expect(house.webrtc.transports).toBe(0)
  expect(house.edge.portCount).toBe(0)
}
/** A description that does not say how its streams are told from others. */
const anonymous = (sdp: string) => sdp.replaceAll(/^a=(ssrc|extmap):.*\r\n/gm, '')

/** What the worker itself still has. */
const left = async (worker: types.Worker) => {
  const dump = await worker.dump()
  return dump.channelMessageHandlers.channelRequestHandlers.length
}

describe('everything is released', () => {
  it('when an offer cannot be answered', async () => {
    const before = await left(workers.at(-1)!)
    await expect(house.webrtc.answer('g', 'v=0\r\n', ['PCMU'])).rejects.toMatchObject({ code: 'bad_sdp' })
    const opus = browserOffer()
      .replaceAll(/^a=rtpmap:(0|8) .*\r\n/gm, '')
      .replace(' 9 0 8 13', '')
    await expect(house.webrtc.answer('g', opus, ['PCMU'])).rejects.toMatchObject({ code: 'no_common_codec' })
    await expect(house.webrtc.answer('g', anonymous(browserOffer()), ['PCMU'])).rejects.toMatchObject({
      code: 'bad_sdp',
    })
    nothingOpen()
    expect(await left(workers.at(-1)!)).toBe(before)
  })

  it('when an answer is refused, and the session is closed', async () => {
    const before = await left(workers.at(-1)!)
    const media = await house.webrtc.offer('g', 'PCMU')
    await expect(media.accept(browserOffer())).rejects.toMatchObject({ code: 'bad_sdp' })
    await expect(media.renegotiate(browserOffer())).rejects.toMatchObject({ code: 'wrong_state' })
    expect(house.webrtc.transports).toBe(1)
    await hangUp(media)
    await media.close()
    nothingOpen()
    expect(await left(workers.at(-1)!)).toBe(before)
  })

  it('when an answer is refused, except the offer, which another answer may be given to', async () => {
    const media = await house.webrtc.offer('g', 'PCMU')
    const answer = browserOffer().replaceAll('a=setup:actpass', 'a=setup:active')
    await expect(media.accept(anonymous(answer))).rejects.toThrow('a=ssrc')
    await media.accept(answer)
    await hangUp(media)
    nothingOpen()
  })

  it('when a page comes back with another certificate, and its offer is refused, except what was there', async () => {
    const video = browserOffer({ video: true })
    const media = await house.webrtc.answer('g', video, ['PCMU'])
    const before = await left(workers.at(-1)!)
    const [audio, further] = video.replaceAll('sha-256 A0:', 'sha-256 A1:').split(/(?=m=video)/) as [
      string,
      string,
    ]
    await expect(media.renegotiate(audio + anonymous(further))).rejects.toThrow('a=ssrc')
    const sameVideo = video
      .split(/(?=m=video)/)[1]!
      .replace('96 VP8', '96 H265')
      .replace('98 VP9', '98 VP8')
    await expect(media.renegotiate(audio + sameVideo)).rejects.toThrow('VP8 with payload type 96')
    expect(media.video).toMatchObject({ sends: true, receives: true })
    expect(house.webrtc.transports).toBe(2)
    expect(await left(workers.at(-1)!)).toBe(before)
    await hangUp(media)
    nothingOpen()
  })

  it('when a later offer fails, except what was there', async () => {
    const media = await house.webrtc.answer('g', browserOffer(), ['PCMU'])
    const sdp = media.sdp
    const video = browserOffer({ video: true })
    await expect(media.renegotiate(video.replace('a=mid:0', 'a=mid:7'))).rejects.toMatchObject({
      code: 'bad_sdp',
    })
    await expect(media.renegotiate(anonymous(video))).rejects.toThrow('a=ssrc')
    expect(house.webrtc.transports).toBe(1)
    expect(media.sdp).toBe(sdp)
    expect(await media.renegotiate(video)).toMatch(/^m=video [1-9][\s\S]*^a=sendrecv/m)
    expect(house.webrtc.transports).toBe(2)
    const dropped = video.replace(/^m=video \d+/m, 'm=video 0')
    expect(await media.renegotiate(dropped)).toMatch(/^m=video 0 /m)
    expect(house.webrtc.transports).toBe(1)
    await hangUp(media)
    nothingOpen()
  })

  it('when no port is left to the edge, or between two browsers, which is told', async () => {
    const port = await freePort()
    const relayPorts = { from: port, to: port + 1 }
    const options = { edge: house.edge, bind: '127.0.0.1', announce: [], port: await freePort(), relayPorts }
    const webrtc = await createWebRtc(options)
    const video = browserOffer({ video: true })
    const a = await webrtc.answer('g', video, ['PCMU'])
    const b = await webrtc.answer('g', video.replace(' 96 97', ' 120').replace(':96 VP8', ':120 VP8'), [
      'PCMU',
    ])
    const before = await left(workers.at(-1)!)
    await expect(webrtc.offer('g', 'PCMU')).rejects.toMatchObject({ code: 'no_ports' })
    const faults: Error[] = []
    webrtc.joinVideo(a.video, b.video, (fault) => faults.push(fault))
    await until(
      () => faults.length,
      (length) => length === 2,
    )
    expect(faults).toEqual(faults.map(() => expect.objectContaining({ code: 'no_ports' })))
    expect(await left(workers.at(-1)!)).toBe(before)
    for (const media of [a, b]) await hangUp(media)
    await webrtc.close()
    nothingOpen()
  })

  it('when the edge fails half way', async () => {
    const noPorts: Pick<Edge, 'open'> = {
      open: async () => Promise.reject(Object.assign(new Error('none'), { code: 'no_ports' })),
    }
    let closed = 0
    const broken: Pick<Edge, 'open'> = {
      open: async (options) => {
        const port: MediaPort = await house.edge.open(options)
        return Object.assign(Object.create(port), {
          port: port.port,
          ssrc: port.ssrc,
          setFar: () => {
            throw new Error('gone')
          },
          close: () => {
            closed++
            return port.close()
          },
        })
      },
    }
    for (const [edge, message] of [
      [noPorts, 'none'],
      [broken, 'gone'],
    ] as const) {
      const webrtc = await createWebRtc({ edge, bind: '127.0.0.1', announce: [], port: await freePort() })
      const before = await left(workers.at(-1)!)
      await expect(webrtc.offer('g', 'PCMU')).rejects.toThrow(message)
      await expect(webrtc.answer('g', browserOffer(), ['PCMU'])).rejects.toThrow(message)
      expect(webrtc.transports).toBe(0)
      expect(await left(workers.at(-1)!)).toBe(before)
      await webrtc.close()
    }
    expect(closed).toBe(2)
    nothingOpen()
  })

  it('when all is closed while sessions are open, or are being made', async () => {
    const webrtc = await createWebRtc({
      edge: house.edge,
      bind: '127.0.0.1',
      announce: [],
      port: await freePort(),
    })
    const media = await webrtc.offer('g', 'PCMU')
    const states: string[] = []
    media.onState((state) => states.push(state))
    const making = webrtc.answer('g', browserOffer({ video: true }), ['PCMU'])
    const outcome = making.then(
      (made) => hangUp(made),
      () => undefined,
    )
    await webrtc.close()
    await webrtc.close()
    await outcome
    expect(states).toEqual(['closed'])
    expect(webrtc.transports).toBe(0)
    await expect(webrtc.offer('g', 'PCMU')).rejects.toMatchObject({ code: 'closed' })
    await media.port.close()
    nothingOpen()
  })

  it('when the port is in use', async () => {
    const port = await freePort()
    const first = await createWebRtc({ edge: house.edge, bind: '127.0.0.1', announce: [], port })
    await expect(createWebRtc({ edge: house.edge, bind: '127.0.0.1', announce: [], port })).rejects.toThrow()
    expect(workers.at(-1)!.closed).toBe(true)
    await first.close()
  })
})

describe('video', () => {
  const withVideo = browserOffer({ video: true })
  const screenOffer = withVideo.replace(/m=audio \d+/, 'm=audio 0')

  it('is refused in another format than was agreed, and what was there stays', async () => {
    const media = await house.webrtc.answer('g', withVideo, ['PCMU'])
    const other = withVideo
      .replace(' 96 97', ' 120')
      .replaceAll(':96 ', ':120 ')
      .replace(':97 apt=96', ':97 apt=120')
    await expect(media.renegotiate(other)).rejects.toThrow('VP8 with payload type 96 expected')
    expect(media.video).toMatchObject({ sends: true, receives: true })
    expect(house.webrtc.transports).toBe(2)
    await hangUp(media)
    expect(media.video).toMatchObject({ sends: false, receives: false })
    nothingOpen()
  })

  it('of two with different codecs is not shown, which is told once for each joining', async () => {
    const h264 = 'a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;profile-level-id=42e01f'
    const a = await house.webrtc.answer('g', withVideo, ['PCMU'])
    const b = await house.webrtc.answer('g', withVideo.replace('a=rtpmap:96 VP8/90000', h264), ['PCMU'])
    const faults: Error[] = []
    const told = (times: number) =>
      until(
        () => faults.length,
        (length) => length === times,
      )
    const onFault = (fault: Error) => {
      faults.push(fault)
      throw new Error('a defect of the listener')
    }
    const first = house.webrtc.joinVideo(a.video, b.video, onFault)
    await told(2)
    await a.renegotiate(withVideo)
    first.close()
    const second = house.webrtc.joinVideo(a.video, b.video, onFault)
    await told(4)
    expect(faults).toEqual(faults.map(() => expect.objectContaining({ code: 'no_common_codec' })))
    second.close()
    for (const media of [a, b]) await hangUp(media)
    nothingOpen()
  })

  it('of a session that is over is that of no screen either', async () => {
    const media = await house.webrtc.answer('g', withVideo, ['PCMU'])
    const screen = await house.webrtc.screen('g', screenOffer)
    await hangUp(media)
    media.present(screen)
    expect(media.video).toMatchObject({ sends: false, receives: false })
    await screen.close()
    nothingOpen()
  })

  it('leaves nothing where a screen is refused, or closed', async () => {
    // The router stays.
    await (await house.webrtc.screen('g', screenOffer)).close()
    const before = await left(workers[0]!)
    const silent = screenOffer.replace(/(m=video[\s\S]*)a=sendrecv/, '$1a=recvonly')
    for (const offer of ['v=0\r\n', browserOffer(), silent])
      await expect(house.webrtc.screen('g', offer)).rejects.toMatchObject({ code: 'bad_sdp' })
    await expect(house.webrtc.screen('g', anonymous(screenOffer))).rejects.toThrow('a=ssrc')
    const screen = await house.webrtc.screen('g', screenOffer)
    expect(screen.sdp).toMatch(/m=audio 0 [\s\S]*m=video [1-9]/)
    expect(house.webrtc.transports).toBe(1)
    await screen.close()
    await screen.close()
    nothingOpen()
    expect(await left(workers[0]!)).toBe(before)
  })

  it('leaves nothing of two who saw each other, whatever is closed first', async () => {
    const webrtc = await createWebRtc({
      ...{ edge: house.edge, bind: '127.0.0.1', announce: [], workers: 2 },
      port: await freePort(),
    })
    const mine = workers.slice(-2)
    const count = async () => (await Promise.all(mine.map(left))).reduce((sum, one) => sum + one, 0)
    const make = async () => [
      await webrtc.answer('g', withVideo, ['PCMU']),
      await webrtc.answer('g', withVideo, ['PCMU']),
    ]
    // Routers stay.
    for (const media of await make()) await hangUp(media)
    const before = await count()
    const [a, b] = (await make()) as [BrowserMedia, BrowserMedia]
    const apart = await count()
    // A pipe has two ends, a consumer and a producer; then there is the consumer of the browser.
    const joined = apart + 2 * 5
    let joining = webrtc.joinVideo(a.video, b.video)
    await until(count, (now) => now === joined)
    joining.close()
    joining.close()
    await until(count, (now) => now === apart)
    joining = webrtc.joinVideo(a.video, b.video)
    joining.close()
    joining = webrtc.joinVideo(a.video, b.video)
    await until(count, (now) => now === joined)
    const screen = await webrtc.screen('g', screenOffer)
    a.present(screen)
    await screen.close()
    await until(count, (now) => now === joined)
    for (const media of [a, b]) await hangUp(media)
    joining.close()
    expect(await count()).toBe(before)
    await webrtc.close()
    nothingOpen()
  })

  it('ends with the worker that one of two was in', async () => {
    const webrtc = await createWebRtc({
      ...{ edge: house.edge, bind: '127.0.0.1', announce: [], workers: 2 },
      port: await freePort(),
    })
    const mine = workers.slice(-2)
    const empty = await left(mine[0]!)
    const a = await webrtc.answer('g', withVideo, ['PCMU'])
    // Either may have started first.
    const [first, second] = ((await left(mine[0]!)) > empty ? mine : mine.reverse()) as [
      types.Worker,
      types.Worker,
    ]
    const b = await webrtc.answer('g', withVideo, ['PCMU'])
    const apart = await left(second)
    const faults: Error[] = []
    const joining = webrtc.joinVideo(a.video, b.video, (fault) => faults.push(fault))
    await until(
      () => left(second),
      (now) => now === apart + 5,
    )
    const ended = new Promise<void>((resolve) => a.onState((state) => state === 'failed' && resolve()))
    process.kill(first.pid, 'SIGKILL')
    await ended
    expect(a.video).toMatchObject({ sends: false, receives: false })
    await until(
      () => left(second),
      (now) => now === apart,
    )
    expect(b.video).toMatchObject({ sends: true, receives: true })
    expect(faults).toEqual([])
    joining.close()
    for (const media of [a, b]) await hangUp(media)
    await webrtc.close()
    nothingOpen()
  })

  it('that is not of this WebRtc is refused', async () => {
    const media = await house.webrtc.answer('g', withVideo, ['PCMU'])
    const stranger = { sends: true, receives: true, onChange: () => {} }
    expect(() => house.webrtc.joinVideo(media.video, stranger)).toThrow('video of this WebRtc')
    await hangUp(media)
  })
})

describe('two workers', () => {
  it('share the sessions, each on its own port', async () => {
    const port = await freePort()
    const webrtc = await createWebRtc({ edge: house.edge, bind: '127.0.0.1', announce: [], port, workers: 2 })
    const both = [await webrtc.offer('g', 'PCMU'), await webrtc.offer('g', 'PCMU')]
    expect(both.map(({ sdp }) => Number(sdp.match(/^m=audio (\d+)/m)![1]))).toEqual([port, port + 1])
    expect(webrtc.transports).toBe(2)
    for (const media of both) await hangUp(media)
    await webrtc.close()
    nothingOpen()
  })
})

describe('a worker that dies', () => {
  it('fails its sessions, and another takes its place', async () => {
    const worker = workers[0]!
    const failures: string[] = []
    house.webrtc.onFailure((reason) => failures.push(reason.message))
    const media = await house.webrtc.offer('g', 'PCMU')
    const states: string[] = []
    media.onState((state) => states.push(state))
    const started = once(observer, 'newworker')
    process.kill(worker.pid, 'SIGKILL')
    await started
    expect(states).toEqual(['failed'])
    expect(failures.length).toBe(1)
    await expect(media.accept(browserOffer())).rejects.toThrow()
    await hangUp(media)
    expect(states).toEqual(['failed'])
    const next = await until(
      () => house.webrtc.offer('g', 'PCMU').catch(() => undefined),
      (made) => made !== undefined,
    )
    expect(house.webrtc.transports).toBe(1)
    await hangUp(next!)
    nothingOpen()
  })
})

/** Release of objects in the mediasoup processes after video between two browsers and shared screens. */
import type { types } from 'mediasoup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import type { BrowserMedia } from '../../media/types.ts'
import { browserOffer } from '../../media/webrtc/testing/browser-offer.ts'
import { createWebRtc } from '../../media/webrtc/webrtc.ts'
import { hangUp, type MediaStack, openMediaStack, until } from '../support/webrtc/media-stack.ts'
import { anonymous, left, workers } from '../support/webrtc/worker-contents.ts'

let fixture: MediaStack
beforeAll(async () => {
  fixture = await openMediaStack()
})
afterAll(() => fixture?.close())

const nothingOpen = () => {
  expect(fixture.webrtc.transports).toBe(0)
  expect(fixture.edge.portCount).toBe(0)
}

describe('video between browsers', () => {
  const withVideo = browserOffer({ video: true })
  const screenOffer = withVideo.replace(/m=audio \d+/, 'm=audio 0')

  it('keeps its negotiated format: an offer of another format is rejected and changes nothing', async () => {
    const media = await fixture.webrtc.answer('g', withVideo, ['PCMU'])
    const other = withVideo
      .replace(' 96 97', ' 120')
      .replaceAll(':96 ', ':120 ')
      .replace(':97 apt=96', ':97 apt=120')
    await expect(media.renegotiate(other)).rejects.toThrow('VP8 with payload type 96 expected')
    expect(media.video).toMatchObject({ isSending: true, isReceiving: true })
    expect(fixture.webrtc.transports).toBe(2)
    await hangUp(media)
    expect(media.video).toMatchObject({ isSending: false, isReceiving: false })
    nothingOpen()
  })

  it('is not forwarded without a common codec, which is reported once per direction and connection', async () => {
    const h264 = 'a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;profile-level-id=42e01f'
    const a = await fixture.webrtc.answer('g', withVideo, ['PCMU'])
    const b = await fixture.webrtc.answer('g', withVideo.replace('a=rtpmap:96 VP8/90000', h264), ['PCMU'])
    const faults: Error[] = []
    const reported = (times: number) =>
      until(
        () => faults.length,
        (length) => length === times,
      )
    const onFault = (fault: Error) => {
      faults.push(fault)
      throw new Error('a defect of the listener')
    }
    const first = fixture.webrtc.joinVideo(a.video, b.video, onFault)
    await reported(2)
    await a.renegotiate(withVideo)
    first.close()
    const second = fixture.webrtc.joinVideo(a.video, b.video, onFault)
    await reported(4)
    expect(faults).toEqual(faults.map(() => expect.objectContaining({ code: 'no_common_codec' })))
    second.close()
    for (const media of [a, b]) await hangUp(media)
    nothingOpen()
  })

  it('of a closed session stays off when a screen is presented', async () => {
    const media = await fixture.webrtc.answer('g', withVideo, ['PCMU'])
    const screen = await fixture.webrtc.source('g', screenOffer)
    await hangUp(media)
    media.present(screen)
    expect(media.video).toMatchObject({ isSending: false, isReceiving: false })
    await screen.close()
    nothingOpen()
  })

  it('leaves no objects in the worker after a rejected or closed screen', async () => {
    // The first screen creates a router, which stays in the worker.
    await (await fixture.webrtc.source('g', screenOffer)).close()
    const before = await left(workers[0]!)
    const silent = screenOffer.replace(/(m=video[\s\S]*)a=sendrecv/, '$1a=recvonly')
    for (const offer of ['v=0\r\n', browserOffer(), silent])
      await expect(fixture.webrtc.source('g', offer)).rejects.toMatchObject({ code: 'bad_sdp' })
    await expect(fixture.webrtc.source('g', anonymous(screenOffer))).rejects.toThrow('a=ssrc')
    const screen = await fixture.webrtc.source('g', screenOffer)
    expect(screen.sdp).toMatch(/m=audio 0 [\s\S]*m=video [1-9]/)
    expect(fixture.webrtc.transports).toBe(1)
    await screen.close()
    await screen.close()
    nothingOpen()
    expect(await left(workers[0]!)).toBe(before)
  })

  it('leaves no objects in the workers, whichever of sessions, connections and screens is closed first', async () => {
    const webrtc = await createWebRtc({
      edge: fixture.edge,
      bind: '127.0.0.1',
      announce: [],
      workers: 2,
      port: await freePort(),
    })
    const mine = workers.slice(-2)
    const count = async () => (await Promise.all(mine.map(left))).reduce((sum, one) => sum + one, 0)
    const make = async () => [
      await webrtc.answer('g', withVideo, ['PCMU']),
      await webrtc.answer('g', withVideo, ['PCMU']),
    ]
    // The first sessions create routers, which stay in the workers.
    for (const media of await make()) await hangUp(media)
    const before = await count()
    const [a, b] = (await make()) as [BrowserMedia, BrowserMedia]
    const apart = await count()
    // Five objects per direction: the two ends of a pipe, its consumer and producer, and the browser's
    // consumer.
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
    const screen = await webrtc.source('g', screenOffer)
    a.present(screen)
    await screen.close()
    await until(count, (now) => now === joined)
    for (const media of [a, b]) await hangUp(media)
    joining.close()
    expect(await count()).toBe(before)
    await webrtc.close()
    nothingOpen()
  })

  it('ends when the worker of one browser dies, and leaves no objects in the other worker', async () => {
    const webrtc = await createWebRtc({
      edge: fixture.edge,
      bind: '127.0.0.1',
      announce: [],
      workers: 2,
      port: await freePort(),
    })
    const mine = workers.slice(-2)
    const empty = await left(mine[0]!)
    const a = await webrtc.answer('g', withVideo, ['PCMU'])
    // Either worker may have started first.
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
    const ended = new Promise<void>((resolve) => a.onState((state) => state === 'crashed' && resolve()))
    process.kill(first.pid, 'SIGKILL')
    await ended
    expect(a.video).toMatchObject({ isSending: false, isReceiving: false })
    await until(
      () => left(second),
      (now) => now === apart,
    )
    expect(b.video).toMatchObject({ isSending: true, isReceiving: true })
    expect(faults).toEqual([])
    joining.close()
    for (const media of [a, b]) await hangUp(media)
    await webrtc.close()
    nothingOpen()
  })

  it('of another WebRtc instance is rejected', async () => {
    const media = await fixture.webrtc.answer('g', withVideo, ['PCMU'])
    const stranger = { isSending: true, isReceiving: true, onChange: () => () => {} }
    expect(() => fixture.webrtc.joinVideo(media.video, stranger)).toThrow('video of this WebRtc')
    await hangUp(media)
  })
})

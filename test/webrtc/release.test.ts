import { once } from 'node:events'
import { observer } from 'mediasoup'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort, freePortRange } from '../../media/testing/free-ports.ts'
import type { Edge, MediaPort } from '../../media/types.ts'
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
describe('all objects are released', () => {
  it('when an offer is rejected', async () => {
    const before = await left(workers.at(-1)!)
    await expect(fixture.webrtc.answer('g', 'v=0\r\n', ['PCMU'])).rejects.toMatchObject({ code: 'bad_sdp' })
    const opus = browserOffer()
      .replaceAll(/^a=rtpmap:(0|8) .*\r\n/gm, '')
      .replace(' 9 0 8 13', '')
    await expect(fixture.webrtc.answer('g', opus, ['PCMU'])).rejects.toMatchObject({
      code: 'no_common_codec',
    })
    await expect(fixture.webrtc.answer('g', anonymous(browserOffer()), ['PCMU'])).rejects.toMatchObject({
      code: 'bad_sdp',
    })
    nothingOpen()
    expect(await left(workers.at(-1)!)).toBe(before)
  })

  it('when an answer is rejected and the session is closed', async () => {
    // The first offer creates a router for audio with telephone-event, which stays in the worker.
    await hangUp(await fixture.webrtc.offer('g', 'PCMU'))
    const before = await left(workers.at(-1)!)
    const media = await fixture.webrtc.offer('g', 'PCMU')
    await expect(media.accept(browserOffer())).rejects.toMatchObject({ code: 'bad_sdp' })
    await expect(media.renegotiate(browserOffer())).rejects.toMatchObject({ code: 'wrong_state' })
    expect(fixture.webrtc.transports).toBe(1)
    await hangUp(media)
    await media.close()
    nothingOpen()
    expect(await left(workers.at(-1)!)).toBe(before)
  })

  it('when an answer is rejected, while the offer stays valid for another answer', async () => {
    const media = await fixture.webrtc.offer('g', 'PCMU')
    const answer = browserOffer().replaceAll('a=setup:actpass', 'a=setup:active')
    await expect(media.accept(anonymous(answer))).rejects.toThrow('a=ssrc')
    await media.accept(answer)
    await hangUp(media)
    const both = await fixture.webrtc.offer('g', 'PCMU', { video: true })
    expect(fixture.webrtc.transports).toBe(2)
    const refused = browserOffer({ video: true }).replace(/m=video \d+/, 'm=video 0')
    await both.accept(refused.replaceAll('a=setup:actpass', 'a=setup:active'))
    expect(both.video).toMatchObject({ isSending: false, isReceiving: false })
    expect(fixture.webrtc.transports).toBe(1)
    await hangUp(both)
    nothingOpen()
  })

  it('when the offer of a reloaded page with a new certificate is rejected, while the session stays unchanged', async () => {
    const video = browserOffer({ video: true })
    const media = await fixture.webrtc.answer('g', video, ['PCMU'])
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
    expect(media.video).toMatchObject({ isSending: true, isReceiving: true })
    expect(fixture.webrtc.transports).toBe(2)
    expect(await left(workers.at(-1)!)).toBe(before)
    await hangUp(media)
    nothingOpen()
  })

  it('when a later offer is rejected, while the session stays unchanged', async () => {
    const media = await fixture.webrtc.answer('g', browserOffer(), ['PCMU'])
    const sdp = media.sdp
    const video = browserOffer({ video: true })
    await expect(media.renegotiate(video.replace('a=mid:0', 'a=mid:7'))).rejects.toMatchObject({
      code: 'bad_sdp',
    })
    await expect(media.renegotiate(anonymous(video))).rejects.toThrow('a=ssrc')
    expect(fixture.webrtc.transports).toBe(1)
    expect(media.sdp).toBe(sdp)
    expect(await media.renegotiate(video)).toMatch(/^m=video [1-9][\s\S]*^a=sendrecv/m)
    expect(fixture.webrtc.transports).toBe(2)
    const dropped = video.replace(/^m=video \d+/m, 'm=video 0')
    expect(await media.renegotiate(dropped)).toMatch(/^m=video 0 /m)
    expect(fixture.webrtc.transports).toBe(1)
    await hangUp(media)
    nothingOpen()
  })

  it('when no port is left for the edge or for video between browsers, and the fault is reported', async () => {
    const relayPorts = await freePortRange(2)
    const options = {
      edge: fixture.edge,
      bind: '127.0.0.1',
      announce: [],
      port: await freePort(),
      relayPorts,
    }
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

  it('when the edge fails during the set-up of a session', async () => {
    const noPorts: Pick<Edge, 'open'> = {
      open: async () => Promise.reject(Object.assign(new Error('none'), { code: 'no_ports' })),
    }
    let closed = 0
    const broken: Pick<Edge, 'open'> = {
      open: async (options) => {
        const port: MediaPort = await fixture.edge.open(options)
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
      const fail = async () => {
        await expect(webrtc.offer('g', 'PCMU')).rejects.toThrow(message)
        await expect(webrtc.answer('g', browserOffer(), ['PCMU'])).rejects.toThrow(message)
        expect(webrtc.transports).toBe(0)
      }
      // The first attempt creates routers, which stay in the worker.
      await fail()
      const before = await left(workers.at(-1)!)
      await fail()
      expect(await left(workers.at(-1)!)).toBe(before)
      await webrtc.close()
    }
    expect(closed).toBe(4)
    nothingOpen()
  })

  it('when WebRtc is closed while sessions are open or being created', async () => {
    const webrtc = await createWebRtc({
      edge: fixture.edge,
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
    // A gateway that is started next listens on the same port.
    expect(workers.at(-1)!.subprocessClosed).toBe(true)
    await expect(webrtc.offer('g', 'PCMU')).rejects.toMatchObject({ code: 'closed' })
    await media.port.close()
    nothingOpen()
  })

  it('when WebRtc cannot start because its port is in use', async () => {
    const port = await freePort()
    const first = await createWebRtc({ edge: fixture.edge, bind: '127.0.0.1', announce: [], port })
    await expect(
      createWebRtc({ edge: fixture.edge, bind: '127.0.0.1', announce: [], port }),
    ).rejects.toThrow()
    expect(workers.at(-1)!.subprocessClosed).toBe(true)
    await first.close()
  })

  it('when WebRtc is closed while its process hangs', async () => {
    const port = await freePort()
    const webrtc = await createWebRtc({ edge: fixture.edge, bind: '127.0.0.1', announce: [], port })
    const worker = workers.at(-1)!
    onTestFinished(() => {
      if (!worker.subprocessClosed) process.kill(worker.pid, 'SIGKILL')
    })
    process.kill(worker.pid, 'SIGSTOP')
    await webrtc.close()
    expect(worker.subprocessClosed).toBe(true)
  })
})

describe('two workers', () => {
  it('share the sessions, each on its own port', async () => {
    const { from: port } = await freePortRange(2)
    const webrtc = await createWebRtc({
      edge: fixture.edge,
      bind: '127.0.0.1',
      announce: [],
      port,
      workers: 2,
    })
    const both = [await webrtc.offer('g', 'PCMU'), await webrtc.offer('g', 'PCMU')]
    expect(both.map(({ sdp }) => Number(sdp.match(/^m=audio (\d+)/m)![1]))).toEqual([port, port + 1])
    expect(webrtc.transports).toBe(2)
    for (const media of both) await hangUp(media)
    await webrtc.close()
    nothingOpen()
  })
})

/** The worker of the fixture. */
const running = () => workers.findLast(({ closed }) => !closed)!

describe('the death of a worker', () => {
  it('lets a session continue in the new worker by a later offer, with the same port', async () => {
    const worker = running()
    const offer = browserOffer({ video: true })
    const media = await fixture.webrtc.answer('g', offer, ['PCMU'])
    const source = await fixture.webrtc.source('g', offer, ['opus'])
    const { sdp, port } = media
    const states: string[] = []
    media.onState((state) => states.push(state))
    process.kill(worker.pid, 'SIGKILL')
    await until(
      () => states.at(-1),
      (state) => state === 'crashed',
    )
    expect(media.video).toMatchObject({ isSending: false, isReceiving: false })
    const again = offer.replaceAll('a=ice-ufrag:', 'a=ice-ufrag:new')
    const answer = await media.renegotiate(again)
    expect(await source.renegotiate(again)).toContain('m=video')
    const of = (name: string) => (text: string) => text.match(new RegExp(`^a=${name}:(.*)`, 'm'))?.[1]
    for (const name of ['ice-ufrag', 'ice-pwd', 'fingerprint'])
      expect(of(name)(answer)).not.toBe(of(name)(sdp))
    expect([media.port === port, media.video.isSending, media.video.isReceiving]).toEqual([true, true, true])
    expect([source.hasVideo, fixture.webrtc.transports]).toEqual([true, 4])
    expect(states).toEqual(['crashed'])
    await hangUp(media)
    await source.close()
    nothingOpen()
  })

  it('answers no offer of a session that is closed while it moves', async () => {
    const worker = running()
    const media = await fixture.webrtc.answer('g', browserOffer(), ['PCMU'])
    const started = once(observer, 'newworker')
    process.kill(worker.pid, 'SIGKILL')
    await started
    // The new worker has no router before the move.
    const begun = once(running().observer, 'newrouter')
    const answer = media.renegotiate(browserOffer().replaceAll('a=ice-ufrag:', 'a=ice-ufrag:new'))
    const refused = expect(answer).rejects.toThrow()
    await begun
    await Promise.all([refused, hangUp(media)])
    nothingOpen()
  })

  it('ends its sessions, and a new worker replaces it', async () => {
    const worker = running()
    const failures: string[] = []
    fixture.webrtc.onFailure((reason) => failures.push(reason.message))
    const media = await fixture.webrtc.offer('g', 'PCMU')
    const states: string[] = []
    media.onState((state) => states.push(state))
    const started = once(observer, 'newworker')
    process.kill(worker.pid, 'SIGKILL')
    await started
    expect(states).toEqual(['crashed'])
    expect(failures.length).toBe(1)
    await expect(media.accept(browserOffer())).rejects.toThrow()
    await hangUp(media)
    expect(states).toEqual(['crashed'])
    const next = await until(
      () => fixture.webrtc.offer('g', 'PCMU').catch(() => undefined),
      (made) => made !== undefined,
    )
    expect(fixture.webrtc.transports).toBe(1)
    await hangUp(next!)
    nothingOpen()
  })
})

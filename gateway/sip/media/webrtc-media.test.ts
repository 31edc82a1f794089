import { beforeEach, describe, expect, it } from 'vitest'
import type { BrowserMedia, MediaPort } from '../../../media/types.ts'
import { newCallId } from '../../calls/call/ids.ts'
import { FakeClock } from '../../core/clock.ts'
import { TestEdge, TestPort } from '../testing/fake-edge.ts'
import { FakeRequest } from '../testing/fake-srf.ts'
import { readOffer, SipAudio } from './sip-audio.ts'
import { isWebRtcSdp, isWebRtcTarget, WebRtcMedia } from './webrtc-media.ts'

const sdpOf = (direction = 'sendrecv', session = 1) =>
  `v=0\r\no=- ${session} 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=${direction}\r\n`

/** The browser's side of mediasoup, as the test plays it. */
class FakeBrowser implements BrowserMedia {
  readonly port: MediaPort = new TestPort('call')
  readonly codec = 'PCMU'
  readonly video = { isSending: false, isReceiving: false, onChange: () => () => {} }
  sdp = 'ours 1'
  readonly accepted: string[] = []
  refuses: Error | undefined
  closed = 0
  state: Parameters<BrowserMedia['onState']>[0] = () => {}

  async accept(answer: string): Promise<void> {
    if (this.refuses) throw this.refuses
    this.accepted.push(answer)
  }

  async renegotiate(): Promise<string> {
    if (this.refuses) throw this.refuses
    this.sdp = 'ours 2'
    return this.sdp
  }

  present(): void {}
  async setDeaf(): Promise<void> {}

  onState(listener: FakeBrowser['state']): void {
    this.state = listener
  }

  async close(): Promise<void> {
    this.closed++
  }
}

let browser: FakeBrowser
let clock: FakeClock
let made: unknown[]
let faults: Error[]
const webrtc = {
  answer: async (...args: unknown[]) => {
    made.push(['answer', ...args])
    return browser
  },
  offer: async (...args: unknown[]) => {
    made.push(['offer', ...args])
    return browser
  },
}
beforeEach(() => {
  browser = new FakeBrowser()
  clock = new FakeClock()
  made = []
  faults = []
})

const answering = async () => {
  const media = await WebRtcMedia.answering(webrtc, 'call', sdpOf(), ['G722', 'PCMU'], clock)
  media.onFault((error) => faults.push(error))
  return media
}
const offering = async () => {
  const media = await WebRtcMedia.offering(webrtc, 'call', 'PCMA', clock)
  media.onFault((error) => faults.push(error))
  return media
}

describe('the recognition of WebRTC', () => {
  const secure = 'UDP/TLS/RTP/SAVPF 0'
  const plain = 'RTP/AVP 0'
  const keyed = 'RTP/SAVP 0'
  it.each([
    ['its profile', [`9 ${secure}`], true],
    ['its older profile over TCP', ['9 TCP/TLS/RTP/SAVP 0'], true],
    ['a line that is off', [`0 ${secure}`], false],
    ['plain RTP', [`4000 ${plain}`], false],
    ['a line that is off beside plain RTP', [`0 ${secure}`, `4000 ${plain}`], false],
    ['plain RTP as the other choice', [`9 ${secure}`, `4000 ${plain}`], false],
    ['SRTP with keys as the other choice', [`4000 ${keyed}`, `9 ${secure}`], false],
    ['plain RTP that is off', [`9 ${secure}`, `0 ${plain}`], true],
  ])('reads %s as %j', (_what, lines, expected) => {
    const sdp = ['v=0', 'o=- 1 1 IN IP4 192.0.2.9', 's=-', 'c=IN IP4 192.0.2.9', 't=0 0']
    const text = `${[...sdp, ...lines.map((line) => `m=audio ${line}`)].join('\r\n')}\r\n`
    expect(isWebRtcSdp(text)).toBe(expected)
  })

  it('rejects the WebRTC line of a caller that also offers plain RTP, and answers the plain line', async () => {
    const edge = new TestEdge()
    const offer = [
      'v=0',
      'o=- 1 1 IN IP4 192.0.2.9',
      's=-',
      'c=IN IP4 192.0.2.9',
      't=0 0',
      'm=audio 9 UDP/TLS/RTP/SAVPF 0',
      'm=audio 4000 RTP/AVP 0',
      '',
    ].join('\r\n')
    const read = readOffer(new FakeRequest('INVITE', 'sip:x@y', offer), offer)
    const media = await new SipAudio(edge, clock, webrtc).answer(newCallId(), read, {})
    expect(media.local.match(/^m=.*/gm)).toEqual([
      'm=audio 0 UDP/TLS/RTP/SAVPF 0',
      expect.stringMatching(/^m=audio [1-9]\d* RTP\/AVP 0$/),
    ])
    expect(made).toEqual([])
  })
})

describe('a client that calls', () => {
  it('gets an answer, and a new answer to each further offer', async () => {
    const media = await answering()
    expect(made).toEqual([['answer', 'call', sdpOf(), ['G722', 'PCMU']]])
    expect([media.local, media.isWaiting, media.isHeld]).toEqual(['ours 1', false, false])
    expect(media.port).toBe(browser.port)
    expect(await media.answerSdp(sdpOf())).toBe('ours 1')
    expect(await media.answerSdp(sdpOf('sendonly'))).toBe('ours 2')
    expect([media.local, media.isHeld]).toEqual(['ours 2', true])
  })

  it('keeps its session after an unacceptable offer', async () => {
    const media = await answering()
    browser.refuses = Object.assign(new Error('no'), { code: 'bad_sdp' })
    await expect(media.answerSdp(sdpOf('inactive'))).rejects.toThrow('no')
    expect([media.local, media.isHeld]).toEqual(['ours 1', false])
  })

  it('can hear the gateway when its media is up, and is awaited for at most five seconds', async () => {
    const media = await answering()
    let heard = 0
    const wait = () => void media.ready().then(() => heard++)
    wait()
    clock.advance(4_999)
    await Promise.resolve()
    expect(heard).toBe(0)
    clock.advance(1)
    await media.ready
    browser.state('connected')
    wait()
    await expect.poll(() => heard).toBe(2)
  })
})

describe('a client that is called', () => {
  it('gets an offer, and its answer is applied once even if repeated', async () => {
    const media = await offering()
    expect(made).toEqual([['offer', 'call', 'PCMA']])
    expect(media.local).toBe('')
    expect(media.offer('PCMA', 'invite')).toBe('ours 1')
    expect(media.isWaiting).toBe(true)
    expect(() => media.offer('PCMA', 'invite')).toThrow('open already')
    media.acceptSdp(sdpOf())
    expect(media.isWaiting).toBe(false)
    expect(media.offerAgain('invite')).toBe('ours 1')
    media.acceptSdp(sdpOf('sendonly'))
    expect(media.isHeld).toBe(true)
    expect(browser.accepted).toEqual([sdpOf()])
  })

  it('ends the leg if its answer is unusable or not WebRTC', async () => {
    const media = await offering()
    media.offer('PCMU', 'invite')
    expect(() => media.acceptSdp('v=0\r\nm=audio 4000 RTP/AVP 0\r\n')).toThrow('WebRTC')
    expect(media.isWaiting).toBe(true)
    browser.refuses = Object.assign(new Error('none'), { code: 'no_common_codec' })
    media.acceptSdp(sdpOf())
    await expect.poll(() => faults).toEqual([browser.refuses])
  })
})

it('ends the leg once when its media is lost, and leaves nothing open', async () => {
  const media = await answering()
  browser.state('connected')
  browser.state('disconnected')
  clock.advance(15_000)
  browser.state('failed')
  clock.advance(10_000)
  expect(faults).toMatchObject([{ code: 'media_timeout' }])
  media.close()
  media.close()
  expect([browser.closed, (browser.port as TestPort).closed, clock.running]).toEqual([1, true, 0])
  browser.state('closed')
  clock.advance(60_000)
  expect(faults).toHaveLength(1)
})

it('ends the leg at once with an internal error when the mediasoup process dies', async () => {
  const media = await answering()
  browser.state('connected')
  browser.state('crashed')
  clock.advance(0)
  expect(faults).toMatchObject([{ code: 'internal', message: expect.stringContaining('mediasoup') }])
  media.close()
  expect(clock.running).toBe(0)
})

it('is recognised by the description, or without one by the WebSocket', () => {
  const rtp =
    'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n'
  const over = (protocol: string) => Object.assign(new FakeRequest('INVITE', 'sip:a@b.example'), { protocol })
  expect(readOffer(over('udp'), rtp)).toMatchObject({ kind: 'rtp', remote: {} })
  expect(readOffer(over('udp'), sdpOf())).toEqual({ kind: 'webrtc', sdp: sdpOf() })
  expect(readOffer(over('udp'), undefined)).toEqual({ kind: 'rtp', remote: undefined })
  expect(readOffer(over('wss'), undefined)).toEqual({ kind: 'webrtc', sdp: undefined })
  const target = (uri: string, nextHop?: string) => isWebRtcTarget({ kind: 'sip', uri, nextHop })
  expect(target('sip:a@b.invalid;transport=ws')).toBe(true)
  expect(target('sip:a@192.0.2.1', 'sip:192.0.2.1:5000;transport=wss')).toBe(true)
  expect(target('sip:a@b.invalid;transport=ws', 'sip:192.0.2.1:5000;transport=tcp')).toBe(false)
  expect(target('sip:a@b.example')).toBe(false)
})

it('opens only the media that an INVITE requests', async () => {
  const edge = new TestEdge()
  const call = newCallId()
  const source = '192.0.2.1'
  const offer = { kind: 'webrtc', sdp: undefined } as const
  const late = await new SipAudio(edge, clock, webrtc).answer(call, offer, { source })
  expect([late.local, late.isWaiting]).toEqual(['ours 1', true])
  const audio = new SipAudio(edge, clock)
  const rtp = await audio.answer(call, { kind: 'rtp', remote: undefined }, { source })
  expect([rtp.isWaiting, edge.used]).toEqual([true, 1])
  rtp.close()
  await expect(audio.answer(call, { kind: 'webrtc', sdp: sdpOf() }, { source })).rejects.toMatchObject({
    code: 'no_common_codec',
  })
  expect(edge.used).toBe(0)
})

import { describe, expect, it } from 'vitest'
import { browserOffer } from '../testing/browser-offer.ts'
import { planAnswer, planSource } from './negotiate.ts'
import { readSdp } from './read-sdp.ts'
import type { MediaSection } from './session-description.ts'
import { checkSameVideo, ownVideo, videoOf } from './video-format.ts'

const offer = browserOffer({ video: true })
const video = (sdp: string) => readSdp(sdp, 'offer').sections[1] as MediaSection
const formats = (list: string, ...lines: string[]) =>
  video(
    offer
      .replace(/^(m=video.*SAVPF) .*$/m, `$1 ${list}`)
      .replace(
        /(m=video[\s\S]*)a=rtpmap:96 [\s\S]*?(?=a=ssrc)/,
        `$1${lines.map((line) => `${line}\r\n`).join('')}`,
      ),
  )
const h264 = (number: number, parameters: string) => [
  `a=rtpmap:${number} H264/90000`,
  `a=fmtp:${number} ${parameters}`,
]
const baseline = 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f'

describe('the format of a video m-line', () => {
  it('is VP8 with the payload type and feedback of the offer, in any order', () => {
    const section = formats(
      '108 107 120 121',
      ...h264(108, baseline),
      'a=rtpmap:107 VP9/90000',
      'a=rtpmap:120 VP8/90000',
      'a=rtcp-fb:120 goog-remb',
      'a=rtcp-fb:120 nack',
      'a=rtcp-fb:120 nack pli',
      'a=rtcp-fb:* ccm fir',
      'a=rtcp-fb:108 transport-cc',
      'a=rtpmap:121 rtx/90000',
      'a=fmtp:121 apt=120',
    )
    expect(videoOf(section)).toEqual({
      payloadType: 120,
      name: 'VP8',
      clockRate: 90_000,
      parameters: '',
      feedback: ['nack', 'nack pli', 'ccm fir'],
    })
  })

  it('is H.264 without VP8, in packetization mode 1 and the constrained baseline profile', () => {
    const section = formats(
      '102 103 104 105',
      ...h264(102, 'packetization-mode=0;profile-level-id=42e01f'),
      ...h264(103, 'packetization-mode=1;profile-level-id=640c1f'),
      ...h264(104, 'packetization-mode=1;profile-level-id=42001f'),
      ...h264(105, baseline),
    )
    expect(videoOf(section)).toMatchObject({ name: 'H264', payloadType: 105, parameters: baseline })
  })

  it('is undefined without either, or with a payload type ambiguous with RTCP', () => {
    expect(videoOf(formats('98', 'a=rtpmap:98 VP9/90000'))).toBeUndefined()
    expect(videoOf(formats('72', 'a=rtpmap:72 VP8/90000'))).toBeUndefined()
    expect(videoOf(formats('96', 'a=rtpmap:96 VP8/48000'))).toBeUndefined()
  })

  it('remains as agreed', () => {
    checkSameVideo(ownVideo, { ...ownVideo, parameters: 'max-fr=30' })
    expect(() => checkSameVideo(ownVideo, { ...ownVideo, payloadType: 97 })).toThrow(
      'VP8 with payload type 96',
    )
    expect(() => checkSameVideo(ownVideo, { ...ownVideo, name: 'H264' })).toThrow('VP8 with payload type 96')
  })
})

describe('header extensions', () => {
  const uri = 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01'
  const withLines = (...lines: string[]) => offer.replace('a=mid:1', `a=mid:1\r\n${lines.join('\r\n')}`)
  const mid = 'a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid'

  it('are parsed with the ids of the offer, without those out of range', () => {
    const section = video(withLines(mid, `a=extmap:3/sendrecv ${uri}`))
    expect(section).toMatchObject({ midExtension: 4, transportExtension: 3 })
    expect(video(withLines(`a=extmap:15 ${uri}`)).transportExtension).toBeUndefined()
  })

  it('must not share an id', () => {
    expect(() => video(withLines(mid, `a=extmap:4 ${uri}`))).toThrow('every a=extmap')
  })
})

describe('several video m-lines', () => {
  const [own] = offer.match(/m=video[\s\S]*/)!
  const second = (first: string, further: string) =>
    offer.replace(/(m=video[\s\S]*)a=sendrecv/, `$1a=${first}`) +
    own.replace('a=mid:1', 'a=mid:2').replace('a=sendrecv', `a=${further}`)
  const used = (sdp: string) =>
    planAnswer(readSdp(sdp, 'offer'), ['PCMU']).map((plan) => plan.kind === 'video' && plan.isUsed)

  it('use the first that is not inactive, and keep the others for later', () => {
    expect(used(second('inactive', 'sendrecv'))).toEqual([false, false, true])
    expect(used(second('recvonly', 'sendrecv'))).toEqual([false, true, false])
    expect(used(second('inactive', 'inactive'))).toEqual([false, true, false])
  })

  it('are rejected beyond the maximum', () => {
    const many = Array.from({ length: 20 }, (_, i) => own.replace('a=mid:1', `a=mid:${i + 2}`)).join('')
    const plans = planAnswer(
      readSdp(offer.replace(/(m=video[\s\S]*)a=sendrecv/, '$1a=inactive') + many, 'offer'),
      ['PCMU'],
    )
    const kinds = plans.map(({ kind }) => kind)
    expect(kinds).toEqual(['audio', ...Array(4).fill('video'), ...Array(17).fill('refused')])
    expect(plans.filter((plan) => plan.kind === 'video' && plan.isUsed).length).toBe(1)
  })
})

describe('the offer of a further source', () => {
  const withoutOpus = (sdp: string) => sdp.replace(/^a=rtpmap:\d+ opus.*\r\n/m, '')
  const sending = (sdp: string) => sdp.replaceAll('a=sendrecv', 'a=sendonly')

  it('is accepted for its sound in a room, with or without video', () => {
    expect(planSource(readSdp(sending(offer), 'offer'), ['opus', 'PCMU'])).toMatchObject([
      { kind: 'audio', audio: { codec: 'opus' } },
      { kind: 'video', isUsed: true },
    ])
    expect(planSource(readSdp(sending(browserOffer()), 'offer'), ['PCMU'])).toMatchObject([
      { kind: 'audio', audio: { codec: 'PCMU' } },
    ])
  })

  it('is accepted for its video if its sound has another codec, or is not sent', () => {
    const kinds = (sdp: string) => planSource(readSdp(sdp, 'offer'), ['opus']).map(({ kind }) => kind)
    expect(kinds(withoutOpus(sending(offer)))).toEqual(['refused', 'video'])
    expect(kinds(sending(offer).replace('a=sendonly', 'a=recvonly'))).toEqual(['refused', 'video'])
  })

  it('is rejected if it sends nothing, or sound in another codec alone', () => {
    const silent = browserOffer().replace('a=sendrecv', 'a=recvonly')
    expect(() => planSource(readSdp(silent, 'offer'), ['opus'])).toThrow('video or audio that is sent')
    expect(() => planSource(readSdp(withoutOpus(browserOffer()), 'offer'), ['opus'])).toThrow(
      expect.objectContaining({ code: 'no_common_codec' }),
    )
  })
})

describe('the offer of a screen', () => {
  it('is accepted for its video, with its audio rejected', () => {
    const plans = planSource(readSdp(offer, 'offer'), [])
    expect(plans).toMatchObject([
      { kind: 'refused', media: 'audio', mid: '0' },
      { kind: 'video', isUsed: true },
    ])
  })

  it('is rejected without active video in a supported format', () => {
    expect(() => planSource(readSdp(browserOffer(), 'offer'), [])).toThrow('video or audio that is sent')
    const other = offer.replace(/^(m=video.*SAVPF) .*$/m, '$1 104 98')
    expect(() => planSource(readSdp(other, 'offer'), [])).toThrow(
      expect.objectContaining({ code: 'no_common_codec' }),
    )
  })
})

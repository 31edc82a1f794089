import { describe, expect, it } from 'vitest'
import type { AudioCodec } from '../../types.ts'
import { browserOffer } from '../testing/browser-offer.ts'
import { checkSuccession, planAnswer } from './negotiate.ts'
import { readSdp } from './read-sdp.ts'

const read = (sdp: string) => readSdp(sdp, 'offer')
const plan = (sdp: string, codecs: readonly AudioCodec[] = ['PCMU', 'PCMA']) => planAnswer(read(sdp), codecs)

describe('the plan of an answer', () => {
  it('selects the first supported codec that is offered, independent of the order of the offer', () => {
    expect(plan(browserOffer(), ['PCMA', 'PCMU'])[0]).toMatchObject({
      kind: 'audio',
      audio: { codec: 'PCMA', payloadType: 8 },
    })
    const onlyMu = browserOffer().replace(' 9 0 8 13', ' 9 0 13')
    expect(plan(onlyMu, ['PCMA', 'PCMU'])[0]).toMatchObject({ audio: { codec: 'PCMU' } })
  })

  it('has Opus with the payload type and the preferences of the offer', () => {
    expect(plan(browserOffer(), ['L16', 'opus', 'PCMU'])[0]).toMatchObject({
      audio: { codec: 'opus', payloadType: 111, opus: { fec: true } },
    })
    const firefox = browserOffer().replace('AVPF 111 ', 'AVPF 109 ').replaceAll(':111 ', ':109 ')
    expect(plan(firefox, ['opus'])[0]).toMatchObject({ audio: { codec: 'opus', payloadType: 109 } })
    // 72 is RTCP's if both use one port.
    const taken = browserOffer().replace('AVPF 111 ', 'AVPF 72 ').replaceAll(':111 ', ':72 ')
    expect(plan(taken, ['opus', 'G722'])[0]).toMatchObject({ audio: { codec: 'G722', payloadType: 9 } })
  })

  it('has telephone-events beside the codec, at 8 kHz and with Opus at 48 kHz, with the payload types of the offer', () => {
    const eventsOf = (sdp: string, codec: AudioCodec) => {
      const [first] = plan(sdp, [codec])
      return first?.kind === 'audio' ? first.audio.events : undefined
    }
    const narrow = { payloadType: 126, clockRate: 8000 }
    const wide = { payloadType: 110, clockRate: 48_000 }
    expect(eventsOf(browserOffer(), 'opus')).toEqual([narrow, wide])
    expect(eventsOf(browserOffer(), 'PCMU')).toEqual([narrow])
    const firefox = browserOffer().replace('a=rtpmap:110 telephone-event/48000\r\n', '')
    expect(eventsOf(firefox, 'opus')).toEqual([narrow])
    // RTCP's numbers, and those missing in the m-line, do not count.
    const odd = browserOffer()
      .replaceAll(':126 ', ':72 ')
      .replace(/(m=audio.*) 126/, '$1 72')
    expect(eventsOf(odd, 'PCMU')).toEqual([])
    expect(eventsOf(browserOffer().replace(/(m=audio.*) 126/, '$1'), 'PCMU')).toEqual([])
  })

  it('is rejected without a common codec, naming the offered ones', () => {
    const opus = browserOffer().replace(' 9 0 8 13', '')
    expect(() => plan(opus)).toThrow(expect.objectContaining({ code: 'no_common_codec' }))
    expect(() => plan(opus)).toThrow('one of PCMU, PCMA expected, found opus, red')
  })

  it('is rejected without active audio', () => {
    expect(() => plan(browserOffer().replace('m=audio 39545', 'm=audio 0'))).toThrow('an audio m-line')
  })

  it('keeps the order of the m-lines: video in one format, other types rejected', () => {
    const plans = plan(browserOffer({ video: true, application: true }))
    expect(plans.map(({ kind }) => kind)).toEqual(['audio', 'video', 'refused'])
    expect(plans[1]).toMatchObject({ isUsed: true, video: { name: 'VP8', payloadType: 96 } })
  })

  it('rejects video without a supported format', () => {
    const vp9 = browserOffer({ video: true }).replace('SAVPF 96 97 102 104 98', 'SAVPF 104 98')
    expect(plan(vp9)[1]).toEqual({
      kind: 'refused',
      media: 'video',
      mid: '1',
      protocol: 'UDP/TLS/RTP/SAVPF',
      formats: '104 98',
    })
  })

  it('rejects all video if not accepted', () => {
    const plans = planAnswer(read(browserOffer({ video: true })), ['PCMU'], false)
    expect(plans.map(({ kind }) => kind)).toEqual(['audio', 'refused'])
  })

  it('rejects a second audio m-line', () => {
    const [audio] = browserOffer().match(/^m=audio[\s\S]*/m)!
    expect(plan(browserOffer() + audio.replace('a=mid:0', 'a=mid:5')).map(({ kind }) => kind)).toEqual([
      'audio',
      'refused',
    ])
  })
})

describe('a later offer', () => {
  const one = read(browserOffer()).sections
  const two = read(browserOffer({ video: true })).sections
  const off = read(browserOffer({ video: true }).replace(/m=video \d+/, 'm=video 0')).sections

  it('may add m-lines, disable and re-enable them', () => {
    checkSuccession(one, one)
    checkSuccession(one, two)
    checkSuccession(two, off)
    checkSuccession(off, two)
  })

  it('may neither drop m-lines nor change their type or mid', () => {
    expect(() => checkSuccession(two, one)).toThrow('at least 2 m-lines')
    expect(() => checkSuccession(two, [two[1]!, two[0]!])).toThrow('m-line 1: audio expected')
    expect(() => checkSuccession(one, read(browserOffer().replace('a=mid:0', 'a=mid:a')).sections)).toThrow(
      'a=mid:0 expected',
    )
  })
})

import { describe, expect, it } from 'vitest'
import { readSdp } from '../sdp/read-sdp.ts'
import { TestPort } from '../testing/fake-edge.ts'
import { strictRules } from './audio-far-end.ts'
import { packetTime, plainCodecs, preferring } from './codec-rules.ts'
import { LegMedia, type LegMediaOptions } from './leg-media.ts'

const sdpWith = (payloads: string, ...attributes: string[]) =>
  [
    'v=0',
    'o=- 1 1 IN IP4 192.0.2.9',
    's=-',
    'c=IN IP4 192.0.2.9',
    't=0 0',
    `m=audio 4000 RTP/AVP ${payloads}`,
    ...attributes,
    '',
  ].join('\r\n')

const opus = 'a=rtpmap:107 opus/48000/2'
const events8 = 'a=rtpmap:96 telephone-event/8000'
const events48 = 'a=rtpmap:97 telephone-event/48000'

const legWith = (rules: Partial<typeof plainCodecs>, more: LegMediaOptions = {}) => {
  const port = new TestPort('call')
  const media = new LegMedia(port, '1', { rules: { ...strictRules, ...rules }, ...more })
  const far = () => port.farUpdates.at(-1)
  return { port, media, far }
}
const formatsOf = (sdp: string) => /^m=audio \d+ \S+ (.*)$/m.exec(sdp)?.[1]

describe('an offer', () => {
  it('has the permitted codecs, with the codec of the partner leg first', () => {
    const rules = { codecs: ['PCMU', 'PCMA', 'G722', 'opus'] } as const
    expect(formatsOf(legWith(rules).media.offer('opus'))).toBe('111 0 8 9 101 110')
    expect(formatsOf(legWith(rules).media.offer('L16'))).toBe('0 8 9 111 101 110')
    expect(formatsOf(legWith({ codecs: ['PCMA'] }).media.offer('PCMU'))).toBe('8 101')
    expect(formatsOf(legWith({ codecs: ['L16'], comfortNoise: true }).media.offer())).toBe('96 13 101 97')
  })

  it('is received with its own payload types and those of the answer, and sent to with those of the answer (RFC 3264 sections 5.1, 6.1)', () => {
    const { media, far } = legWith({ codecs: ['opus', 'G722'], ptimeMs: 40 })
    expect(media.offer('opus')).toContain('a=ptime:40')
    media.accept(
      readSdp(
        sdpWith('107 97 96', opus, events48, events8, 'a=fmtp:107 useinbandfec=1;maxplaybackrate=16000'),
      ),
    )
    expect(far()).toEqual({
      near: {
        codecs: [
          { codec: 'opus', payloadType: 111 },
          { codec: 'opus', payloadType: 107 },
        ],
        telephoneEvent: 101,
        telephoneEvents: [
          { payloadType: 110, clockRate: 48_000 },
          { payloadType: 97, clockRate: 48_000 },
          { payloadType: 96, clockRate: 8000 },
        ],
      },
      far: expect.objectContaining({
        codec: 'opus',
        payloadType: 107,
        telephoneEvent: 97,
        telephoneEventRate: 48_000,
        ptime: 40,
        opus: { fec: true, maxPlaybackRate: 16_000 },
      }),
    })
  })

  it('is received only with its own payload types if those of the answer have another meaning in it', () => {
    const { media, far } = legWith({ codecs: ['opus', 'L16'] })
    expect(formatsOf(media.offer('opus'))).toBe('111 96 101 110 97')
    const crossed = ['a=rtpmap:101 opus/48000/2', 'a=rtpmap:111 telephone-event/8000']
    media.accept(readSdp(sdpWith('101 111', ...crossed)))
    expect(far()).toEqual({
      near: { codecs: [{ codec: 'opus', payloadType: 111 }], telephoneEvent: 101 },
      far: expect.objectContaining({ codec: 'opus', payloadType: 101, telephoneEvent: 111 }),
    })
  })

  it('gives the payload type of a codec that the answer left out to the codec of the answer', () => {
    const { media, far } = legWith({ codecs: ['opus', 'L16'] })
    media.offer('opus')
    media.accept(readSdp(sdpWith('96', 'a=rtpmap:96 opus/48000/2')))
    expect(far()?.near.codecs.map(({ codec, payloadType }) => [codec, payloadType])).toEqual([
      ['opus', 111],
      ['opus', 96],
    ])
  })

  it('receives comfort noise with the payload type of the answer', () => {
    const { media, far } = legWith({ codecs: ['PCMU'], comfortNoise: true })
    media.offer()
    media.accept(readSdp(sdpWith('0 98', 'a=rtpmap:98 CN/8000')))
    expect(far()).toMatchObject({ near: { comfortNoise: 98 }, far: { comfortNoise: 98 } })
    const crossed = legWith({ codecs: ['PCMU'], comfortNoise: true })
    crossed.media.offer()
    const lines = ['a=rtpmap:101 CN/8000', 'a=rtpmap:98 telephone-event/8000']
    crossed.media.accept(readSdp(sdpWith('0 101 98', ...lines)))
    expect(crossed.far()?.near).toEqual({
      codecs: [{ codec: 'PCMU', payloadType: 0 }],
      telephoneEvent: 101,
      telephoneEvents: [{ payloadType: 98, clockRate: 8000 }],
    })
  })

  it('accepts only its own codecs in an answer', () => {
    const { media, port } = legWith({ codecs: ['PCMU', 'PCMA'] })
    media.offer('PCMU')
    expect(() => media.accept(readSdp(sdpWith('9 0 13')))).not.toThrow()
    expect(port.far).toMatchObject({ codec: 'PCMU' })
    expect(port.far).not.toHaveProperty('comfortNoise')
    const other = legWith({ codecs: ['PCMU'] })
    other.media.offer('PCMU')
    expect(() => other.media.accept(readSdp(sdpWith('9 8')))).toThrow(
      'Offered: G722/8000, PCMA/8000. Permitted here: PCMU.',
    )
  })
})

describe('an answer', () => {
  const all = { codecs: ['PCMU', 'PCMA', 'G722', 'opus'] } as const

  it('has the first offered codec that is permitted, preferably one that the callee probably supports', () => {
    const offered = readSdp(sdpWith('107 9 8 96 97', opus, events8, events48))
    expect(formatsOf(legWith(all).media.answer(offered))).toBe('107 97')
    expect(formatsOf(legWith(plainCodecs).media.answer(offered))).toBe('8 96')
    expect(formatsOf(legWith(all, { likely: ['PCMU', 'PCMA'] }).media.answer(offered))).toBe('8 96')
    expect(formatsOf(legWith(all, { likely: ['L16'] }).media.answer(offered))).toBe('107 97')
  })

  it('keeps the current codec as long as it is offered', () => {
    const { media, far } = legWith(all)
    media.answer(readSdp(sdpWith('9 0')))
    media.answer(readSdp(sdpWith('0 9', 'a=sendonly')))
    expect(far()?.far.codec).toBe('G722')
    media.answer(readSdp(sdpWith('107 0', opus)))
    expect(far()?.far).toMatchObject({ codec: 'opus', payloadType: 107 })
    expect(far()?.near.codecs).toEqual([{ codec: 'opus', payloadType: 107 }])
  })

  it('has telephone-event at 8 kHz if the far side offers no other, and comfort noise if offered', () => {
    const { media, far } = legWith(all)
    expect(formatsOf(media.answer(readSdp(sdpWith('107 96 13', opus, events8))))).toBe('107 96')
    expect(far()?.far).toMatchObject({ telephoneEvent: 96 })
    expect(far()?.far).not.toHaveProperty('comfortNoise')
    expect(formatsOf(media.answer(readSdp(sdpWith('9 96 13', events8))))).toBe('9 13 96')
    expect(far()?.far).toMatchObject({ codec: 'G722', comfortNoise: 13 })
  })

  it('rejects codecs that are not permitted, with the list of permitted ones', () => {
    expect(() => legWith(plainCodecs).media.answer(readSdp(sdpWith('9 107', opus)))).toThrow(
      'Offered: G722/8000, OPUS/48000/2. Permitted here: PCMU, PCMA.',
    )
  })
})

describe('the length of packets', () => {
  it.each([
    [{}, {}, 20, 20],
    [{}, {}, 30, 30],
    [{ ptime: 30 }, {}, 20, 30],
    [{ ptime: 60 }, {}, 20, 60],
    [{ ptime: 120 }, {}, 20, 60],
    [{ ptime: 5 }, {}, 20, 10],
    [{ ptime: 35 }, {}, 20, 30],
    [{ ptime: 60, maxptime: 40 }, {}, 20, 40],
    [{ maxptime: 10 }, {}, 20, 10],
    [{ maxptime: 3 }, {}, 20, 10],
    [{ ptime: 10 }, { minPacketMs: 20 }, 20, 20],
    [{ ptime: 10, maxptime: 30 }, { minPacketMs: 60 }, 20, 30],
  ])('to a peer with %j, for a codec with %j and a default of %i ms, is %i ms', (audio, codec, usual, ms) => {
    expect(packetTime(audio, codec, usual)).toBe(ms)
  })
})

it('is preferred only if permitted', () => {
  expect(preferring(['PCMU', 'G722'], ['opus', undefined, 'G722'])).toEqual(['G722', 'PCMU'])
})

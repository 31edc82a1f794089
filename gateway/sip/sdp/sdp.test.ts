import { describe, expect, it } from 'vitest'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { LocalSession } from './local-session.ts'
import { readSdp } from './read-sdp.ts'
import { mirrored } from './sdp-description.ts'

const read = (sdp: string) => {
  const [audio] = readSdp(sdp).audios
  return { audio }
}
const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n`
const session = ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0']
const offer = (...media: string[]): string => lines(...session, ...media)

const failure = (run: () => unknown): TrunklineError => {
  try {
    run()
  } catch (error) {
    if (error instanceof TrunklineError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('reading', () => {
  it('recognises PCMU and PCMA by number alone, in the order of the offer', () => {
    const { audio } = read(offer('m=audio 4000 RTP/AVP 18 8 0'))
    expect(audio).toEqual({
      index: 0,
      profile: 'RTP/AVP',
      crypto: [],
      address: '192.0.2.1',
      port: 4000,
      formats: [
        { payloadType: 18, name: 'G729/8000' },
        { payloadType: 8, name: 'PCMA/8000' },
        { payloadType: 0, name: 'PCMU/8000' },
      ],
      codecs: [
        { codec: 'PCMA', payloadType: 8 },
        { codec: 'PCMU', payloadType: 0 },
      ],
      telephoneEvents: [],
      direction: 'sendrecv',
    })
  })

  it('recognises them by rtpmap as well, and telephone-event by its clock rates', () => {
    const { audio } = read(
      offer(
        'm=audio 4000 RTP/AVP 96 97 98 99',
        'a=rtpmap:96 pcma/8000/1',
        'a=rtpmap:97 PCMU/16000',
        'a=rtpmap:98 telephone-event/16000',
        'a=rtpmap:99 telephone-event/8000',
      ),
    )
    expect(audio.codecs).toEqual([{ codec: 'PCMA', payloadType: 96 }])
    expect(audio.telephoneEvents).toEqual([
      { payloadType: 98, clockRate: 16_000 },
      { payloadType: 99, clockRate: 8_000 },
    ])
  })

  it('prefers media-level attributes to session-level ones', () => {
    const sdp = lines(
      ...session,
      'a=sendonly',
      'm=audio 4000 RTP/AVP 0',
      'c=IN IP6 2001:db8::1',
      'a=recvonly',
      'a=ptime:30',
      'a=rtcp:4567',
    )
    expect(read(sdp).audio).toMatchObject({
      address: '2001:db8::1',
      direction: 'recvonly',
      ptime: 30,
      rtcpPort: 4567,
    })
    expect(read(lines(...session, 'a=sendonly', 'm=audio 4000 RTP/AVP 0')).audio.direction).toBe('sendonly')
  })

  it('ignores a packet duration outside 1 to 200 ms', () => {
    expect(read(offer('m=audio 4000 RTP/AVP 0', 'a=ptime:0')).audio.ptime).toBeUndefined()
    expect(read(offer('m=audio 4000 RTP/AVP 0', 'a=ptime:300')).audio.ptime).toBeUndefined()
  })

  it.each([
    ['0.0.0.0', 'a=sendrecv', 'sendonly'],
    ['0.0.0.0', 'a=sendonly', 'sendonly'],
    ['0.0.0.0', 'a=recvonly', 'inactive'],
    ['0.0.0.0', 'a=inactive', 'inactive'],
  ])('reads c=%s with %s as hold', (address, direction, meant) => {
    const { audio } = read(offer('m=audio 4000 RTP/AVP 0', `c=IN IP4 ${address}`, direction))
    expect(audio).toMatchObject({ address: undefined, direction: meant })
  })

  it('keeps every m-line, and finds each usable audio line', () => {
    const found = readSdp(
      offer(
        'm=video 5000 RTP/AVP 96',
        'm=audio 4000 RTP/SAVP 0',
        'm=audio 0 RTP/AVP 0',
        'm=audio 4002 RTP/AVP 0',
        'm=image 6000 udptl t38',
      ),
    )
    expect(found.audios.map(({ index, profile, port }) => [index, profile, port])).toEqual([
      [1, 'RTP/SAVP', 4000],
      [3, 'RTP/AVP', 4002],
    ])
    expect(found.sections.map(({ media, protocol, formats }) => `${media} ${protocol} ${formats}`)).toEqual([
      'video RTP/AVP 96',
      'audio RTP/SAVP 0',
      'audio RTP/AVP 0',
      'audio RTP/AVP 0',
      'image udptl t38',
    ])
  })

  it('ignores an audio m-line without a supported codec if another line has one', () => {
    const { audios } = readSdp(offer('m=audio 4000 RTP/AVP 18', 'm=audio 4002 RTP/AVP 8'))
    expect(audios.map(({ index }) => index)).toEqual([1])
  })

  it('reads the session id and version, and recognises RTCP on the RTP port', () => {
    const long = '12345678901234567890123'
    const sdp = offer('m=audio 4000 RTP/AVP 0', 'a=rtcp-mux').replace('o=- 1 1', `o=ann ${long} ${long}`)
    expect(readSdp(sdp).origin).toEqual({ session: `ann ${long} IN IP4 192.0.2.1`, version: long })
    expect(read(sdp).audio.rtcpMux).toBe(true)
    expect(readSdp(sdp.replace(/^o=.*$/m, 'o=nonsense')).origin).toBeUndefined()
  })

  it('reports the offered codecs if none is supported', () => {
    const error = failure(() =>
      readSdp(
        offer(
          'm=audio 4000 RTP/AVP 3 18 100 101',
          'a=rtpmap:100 AMR-WB/16000',
          'a=rtpmap:101 telephone-event/8000',
        ),
      ),
    )
    expect(error.code).toBe('no_common_codec')
    expect(error.facts.offered).toEqual(['3', 'G729/8000', 'AMR-WB/16000', 'TELEPHONE-EVENT/8000'])
  })

  it.each([
    ['empty', ''],
    ['no m-line', offer()],
    ['no audio', offer('m=video 4000 RTP/AVP 96')],
    ['SRTP keyed by DTLS', offer('m=audio 4000 UDP/TLS/RTP/SAVP 0')],
    [
      'SRTP with a broken key',
      offer('m=audio 4000 RTP/SAVP 0', 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:abc'),
    ],
    [
      'a broken key beside a line that could be used',
      offer('m=audio 4000 RTP/SAVP 0', 'a=crypto:x', 'm=audio 4002 RTP/AVP 0'),
    ],
    ['audio refused', offer('m=audio 0 RTP/AVP 0')],
    ['a port too high', offer('m=audio 70000 RTP/AVP 0')],
    ['a port range', offer('m=audio 4000/2 RTP/AVP 0')],
    ['a payload type too high', offer('m=audio 4000 RTP/AVP 0 128')],
    ['words for payload types', offer('m=audio 4000 RTP/AVP zero')],
    ['a name for an address', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 media.example')],
    ['an IPv6 address called IPv4', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 2001:db8::1')],
    ['a multicast address', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 224.0.0.1')],
    ['the broadcast address', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 255.255.255.255')],
    ['a multicast address with a lifetime', offer('m=audio 4000 RTP/AVP 0', 'c=IN IP4 224.2.1.1/127')],
    ['no address', lines('v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 't=0 0', 'm=audio 4000 RTP/AVP 0')],
    ['a NUL', offer('m=audio 4000 RTP/AVP 0', 'a=x\0y')],
    ['a line without =', offer('m=audio 4000 RTP/AVP 0', 'nonsense')],
    ['too much', offer('m=audio 4000 RTP/AVP 0', `a=x:${'y'.repeat(20_000)}`)],
    ['too many m-lines', offer(...Array.from({ length: 17 }, () => 'm=audio 4000 RTP/AVP 0'))],
  ])('refuses %s with bad_sdp', (_name, sdp) => {
    expect(failure(() => readSdp(sdp)).code).toBe('bad_sdp')
  })

  it('fails with no other error for an offer that is cut or damaged anywhere', () => {
    const good = offer(
      'm=audio 4000 RTP/AVP 0 101',
      'a=rtpmap:101 telephone-event/8000',
      'a=rtcp:4001 IN IP4 192.0.2.1',
      'a=sendrecv',
    )
    for (let at = 0; at < good.length; at++) {
      for (const broken of [
        good.slice(0, at),
        `${good.slice(0, at)}\x7f${good.slice(at + 1)}`,
        good.slice(0, at) + good.slice(at + 1),
      ]) {
        try {
          readSdp(broken)
        } catch (error) {
          expect(error).toBeInstanceOf(TrunklineError)
        }
      }
    }
  })
})

describe('writing', () => {
  const local = {
    profile: 'RTP/AVP',
    crypto: [],
    rtcpMux: false,
    address: '198.51.100.7',
    port: 20_000,
    rtcpPort: 20_001,
    codecs: [{ codec: 'PCMU', payloadType: 0 }],
    telephoneEvents: [{ payloadType: 96, clockRate: 8000 }],
    ptime: 20,
    direction: 'sendrecv',
  } as const

  it('answers with one codec, the far side’s payload type for telephone-event, and all other m-lines refused', () => {
    const sections = [
      { media: 'video', protocol: 'RTP/AVP', formats: '96 97' },
      { media: 'audio', protocol: 'RTP/AVP', formats: '0 8 96' },
    ]
    expect(new LocalSession('42').write(local, sections, 1).split('\r\n')).toEqual([
      'v=0',
      'o=- 42 1 IN IP4 198.51.100.7',
      's=-',
      'c=IN IP4 198.51.100.7',
      't=0 0',
      'm=video 0 RTP/AVP 96 97',
      'm=audio 20000 RTP/AVP 0 96',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:96 telephone-event/8000',
      'a=fmtp:96 0-15',
      'a=ptime:20',
      'a=sendrecv',
      '',
    ])
  })

  it('raises the version exactly when the description changes', () => {
    const own = new LocalSession('42')
    const first = own.write(local)
    expect(own.write(local)).toBe(first)
    expect(own.write({ ...local, direction: 'recvonly' })).toContain('o=- 42 2 IN')
    expect(own.write(local)).toContain('o=- 42 3 IN')
  })

  it('announces RTCP if it is not at the next port, and writes IPv6', () => {
    const sdp = new LocalSession('1').write({ ...local, address: '2001:db8::7', rtcpPort: 30_000 })
    expect(sdp).toContain('c=IN IP6 2001:db8::7\r\n')
    expect(sdp).toContain('a=rtcp:30000\r\n')
  })

  it('writes keys that its own reader reads, and RTCP on the RTP port', () => {
    const key = new Uint8Array(30).fill(7)
    const crypto = [{ tag: 2, suite: 'AES_CM_128_HMAC_SHA1_32', key }] as const
    const { audio } = read(
      new LocalSession('1').write({ ...local, profile: 'RTP/SAVP', crypto, rtcpMux: true }),
    )
    expect(audio).toMatchObject({ profile: 'RTP/SAVP', crypto, rtcpMux: true })
  })

  it('is readable by its own reader', () => {
    const { audio } = read(new LocalSession('1').write(local))
    expect(audio).toMatchObject({
      address: '198.51.100.7',
      port: 20_000,
      telephoneEvents: local.telephoneEvents,
      ptime: 20,
    })
  })
})

it('mirrors a direction', () => {
  expect((['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const).map(mirrored)).toEqual([
    'sendrecv',
    'recvonly',
    'sendonly',
    'inactive',
  ])
})

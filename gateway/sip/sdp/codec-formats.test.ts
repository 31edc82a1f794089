import { describe, expect, it } from 'vitest'
import { LocalSession } from './local-session.ts'
import { readSdp } from './read-sdp.ts'

const read = (sdp: string) => {
  const [audio] = readSdp(sdp).audios
  return { audio }
}
const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n`
const session = ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0']
const offer = (...media: string[]): string => lines(...session, ...media)

describe('codecs', () => {
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

  it('include G.722 and comfort noise by number, Opus with its parameters, and L16 at 16 kHz mono', () => {
    const { audio } = read(
      offer(
        'm=audio 4000 RTP/AVP 111 112 9 10 11 96 97 98 13',
        'a=rtpmap:111 opus/48000/2',
        'a=fmtp:111 minptime=20;useinbandfec=1;maxplaybackrate=16000;stereo=1',
        'a=rtpmap:112 OPUS/48000',
        'a=rtpmap:96 L16/16000',
        'a=rtpmap:97 L16/16000/2',
        'a=rtpmap:98 L16/44100',
        'a=ptime:30',
        'a=maxptime:40',
      ),
    )
    expect(audio.codecs).toEqual([
      { codec: 'opus', payloadType: 111, opus: { fec: true, maxPlaybackRate: 16_000 }, minPacketMs: 20 },
      { codec: 'opus', payloadType: 112, opus: {} },
      { codec: 'G722', payloadType: 9 },
      { codec: 'L16', payloadType: 96 },
    ])
    expect(audio).toMatchObject({ comfortNoise: 13, ptime: 30, maxptime: 40 })
  })

  it('have their clock rates and parameters', () => {
    const codecs = [
      { codec: 'opus', payloadType: 111 },
      { codec: 'G722', payloadType: 9 },
      { codec: 'L16', payloadType: 97 },
    ] as const
    const telephoneEvents = [
      { payloadType: 101, clockRate: 8_000 },
      { payloadType: 110, clockRate: 48_000 },
    ]
    const sdp = new LocalSession('1').write({
      ...local,
      codecs,
      telephoneEvents,
      comfortNoise: 13,
      ptime: 40,
    })
    expect(sdp.split('\r\n').slice(5, -1)).toEqual([
      'm=audio 20000 RTP/AVP 111 9 97 13 101 110',
      'a=rtpmap:111 opus/48000/2',
      'a=fmtp:111 minptime=10;useinbandfec=1;stereo=0;sprop-stereo=0',
      'a=rtpmap:9 G722/8000',
      'a=rtpmap:97 L16/16000',
      'a=rtpmap:13 CN/8000',
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-15',
      'a=rtpmap:110 telephone-event/48000',
      'a=fmtp:110 0-15',
      'a=ptime:40',
      'a=sendrecv',
    ])
    expect(read(sdp).audio).toMatchObject({ telephoneEvents, comfortNoise: 13, ptime: 40 })
  })
})

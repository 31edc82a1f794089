import { describe, expect, it } from 'vitest'
import { candidatesOf } from '../listen-addresses.ts'
import { formatsOf, ownFormat } from './negotiate.ts'
import { readSdp } from './read-sdp.ts'
import { ownVideo } from './video-format.ts'
import { type LocalSection, writeSdp } from './write-sdp.ts'

const section: LocalSection = {
  kind: 'audio',
  mid: '0',
  protocol: 'UDP/TLS/RTP/SAVPF',
  formats: formatsOf({ ...ownFormat('PCMU'), events: [] }),
  direction: 'sendrecv',
  ufrag: 'abcd',
  password: 'p'.repeat(24),
  fingerprint: { algorithm: 'sha-256', value: Array(32).fill('AB').join(':') },
  setup: 'passive',
  candidates: candidatesOf(['203.0.113.5', '10.0.0.5'], 44_444),
  midExtension: 4,
  stream: { track: 'audio', source: { ssrc: 77, cname: 'us' } },
}
const write = (change: Partial<LocalSection> = {}) =>
  writeSdp({ id: 5, version: 2 }, [{ ...section, ...change }])

describe('the local description', () => {
  it('is complete: all candidates, no trickling, no bundle', () => {
    const sdp = write()
    expect(sdp.split('\r\n').slice(0, 8)).toEqual([
      'v=0',
      'o=- 5 2 IN IP4 127.0.0.1',
      's=-',
      't=0 0',
      'a=ice-lite',
      'a=msid-semantic: WMS trunkline',
      'm=audio 44444 UDP/TLS/RTP/SAVPF 0',
      'c=IN IP4 203.0.113.5',
    ])
    expect(sdp.match(/^a=candidate:.*$/gm)).toEqual([
      'a=candidate:udp1 1 udp 2130706431 203.0.113.5 44444 typ host',
      'a=candidate:udp2 1 udp 2130706175 10.0.0.5 44444 typ host',
      'a=candidate:tcp1 1 tcp 1526726655 203.0.113.5 44444 typ host tcptype passive',
      'a=candidate:tcp2 1 tcp 1526726399 10.0.0.5 44444 typ host tcptype passive',
    ])
    expect(sdp).toMatch(/tcptype passive\r\na=end-of-candidates\r\n/)
    expect(sdp).not.toMatch(/BUNDLE|trickle|telephone-event/)
    expect(sdp.endsWith('\r\n')).toBe(true)
  })

  it('can be read as a description again', () => {
    expect(readSdp(write(), 'answer').sections[0]).toMatchObject({
      kind: 'audio',
      mid: '0',
      ssrc: 77,
      midExtension: 4,
      credentials: { ufrag: 'abcd', setup: 'passive' },
    })
  })

  it('names no stream if nothing is sent', () => {
    for (const direction of ['recvonly', 'inactive'] as const)
      expect(write({ direction })).not.toMatch(/a=(ssrc|msid):/)
    for (const direction of ['sendrecv', 'sendonly'] as const)
      expect(write({ direction })).toMatch(/a=ssrc:77 cname:us/)
  })

  it('has video with its feedback and transport-wide numbering, of any SSRC', () => {
    const video = write({
      kind: 'video',
      mid: '1',
      formats: [ownVideo],
      transportExtension: 13,
      stream: { track: 'video' },
    })
    expect(video.match(/^a=rtcp-fb.*$/gm)).toEqual([
      'a=rtcp-fb:96 nack',
      'a=rtcp-fb:96 nack pli',
      'a=rtcp-fb:96 ccm fir',
      'a=rtcp-fb:96 transport-cc',
    ])
    expect(video).toContain('a=msid:trunkline video')
    expect(video).not.toMatch(/a=(ssrc|ptime)/)
    expect(readSdp(video, 'answer').sections[0]).toMatchObject({
      midExtension: 4,
      transportExtension: 13,
      formats: [ownVideo],
    })
  })

  it('rejects an m-line with port 0, in its place and with its mid', () => {
    const refused = {
      kind: 'refused',
      media: 'application',
      mid: '2',
      protocol: 'UDP/DTLS/SCTP',
      formats: 'webrtc-datachannel',
    } as const
    expect(writeSdp({ id: 1, version: 1 }, [refused, section])).toContain(
      'm=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\na=mid:2\r\nm=audio',
    )
  })
})

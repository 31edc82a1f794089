import { describe, expect, it } from 'vitest'
import { browserOffer } from '../testing/browser-offer.ts'
import { maxSdpLength, readSdp } from './read-sdp.ts'
import type { MediaSection } from './session-description.ts'

const offer = browserOffer()
const audioOf = (sdp: string, role: 'offer' | 'answer' = 'offer') =>
  readSdp(sdp, role).sections[0] as MediaSection

describe("a browser's description", () => {
  it('is read', () => {
    const audio = audioOf(offer)
    expect(audio).toMatchObject({
      kind: 'audio',
      mid: '0',
      protocol: 'UDP/TLS/RTP/SAVPF',
      direction: 'sendrecv',
      ssrc: 3514523933,
      midExtension: 4,
      credentials: { ufrag: 'vGFm', password: 'CXvZABFz+bFLwtWRKRPeEgTL', setup: 'actpass' },
    })
    expect(audio.credentials.fingerprint.value).toMatch(/^A0:A1:.*:BF$/)
    expect(audio.formats.map(({ payloadType }) => payloadType)).toEqual([111, 63, 9, 0, 8, 13, 110, 126])
  })

  it('may have line ends without a carriage return', () => {
    expect(audioOf(offer.replaceAll('\r\n', '\n'))).toEqual(audioOf(offer))
  })

  it('may have its credentials and direction at session level', () => {
    const moved = offer.match(/^a=(ice-ufrag|ice-pwd|fingerprint|setup|sendrecv).*\r\n/gm)!
    const bare = moved.reduce((sdp, line) => sdp.replace(line, ''), offer)
    const sdp = bare.replace('t=0 0\r\n', `t=0 0\r\n${moved.join('').replace('sendrecv', 'recvonly')}`)
    expect(audioOf(sdp)).toEqual({ ...audioOf(offer), direction: 'recvonly' })
  })

  it('may use credentials that look like numbers', () => {
    const sdp = offer
      .replace('a=ice-ufrag:vGFm', 'a=ice-ufrag:0012')
      .replace(/^a=ice-pwd:.*$/m, `a=ice-pwd:${'1'.repeat(22)}`)
    expect(audioOf(sdp).credentials).toMatchObject({ ufrag: '0012', password: '1'.repeat(22) })
  })

  it('has each payload type once, however often it is written', () => {
    const many = audioOf(offer.replace(/^m=audio .*(?=\r$)/m, `$&${' 0 00'.repeat(10_000)}`))
    expect(many).toEqual(audioOf(offer))
  })

  it('knows static payload types without a=rtpmap', () => {
    const sdp = offer.replace(/^a=rtpmap:[08] .*\r\n/gm, '')
    expect(audioOf(sdp).formats.map(({ name }) => name)).toContain('PCMA')
  })

  it('has rejected m-lines: disabled, bundle-only, or of other types', () => {
    const sections = readSdp(
      browserOffer({ video: true, application: true }).replace(/m=video \d+/, 'm=video 0'),
      'offer',
    ).sections
    expect(sections.map(({ kind }) => kind)).toEqual(['audio', 'refused', 'refused'])
    expect(sections[2]).toEqual({
      kind: 'refused',
      media: 'application',
      mid: '2',
      protocol: 'UDP/DTLS/SCTP',
      formats: 'webrtc-datachannel',
    })
  })

  const without = (name: string) => offer.replace(new RegExp(`^a=${name}.*\\r\\n`, 'gm'), '')
  const wrong: [string, string, string][] = [
    ['empty', '', 'v=0'],
    ['another text', '{"type":"offer"}', 'v=0'],
    ['a strange line', offer.replace('s=-', 'hello'), 'line 3'],
    ['a NUL', offer.replace('s=-', 's=\0'), 'NUL'],
    ['no m-line', 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n', 'an m-line is missing'],
    ['too many m-lines', `v=0\r\n${'m=audio 0 RTP/AVP 0\r\n'.repeat(33)}`, 'at most 32'],
    ['an m-line without a port', offer.replace('m=audio 39545', 'm=audio x'), 'm-line 1: type, port'],
    ['a port out of range', offer.replace('m=audio 39545', 'm=audio 70000'), '0 to 65535'],
    ['plain RTP', offer.replace('UDP/TLS/RTP/SAVPF', 'RTP/AVP'), 'UDP/TLS/RTP/SAVPF expected'],
    ['no rtcp-mux', without('rtcp-mux'), 'a=rtcp-mux is missing'],
    ['no mid', without('mid'), 'a=mid'],
    ['a mid with a space', offer.replace('a=mid:0', 'a=mid:"x"'), 'a=mid'],
    ['no user name fragment', without('ice-ufrag'), 'a=ice-ufrag of 4 to 256 characters is missing'],
    ['a short user name fragment', offer.replace('ufrag:vGFm', 'ufrag:vGF'), 'a=ice-ufrag'],
    ['a short password', offer.replace('CXvZABFz', ''), 'a=ice-pwd of 22 to 256 characters expected'],
    ['no fingerprint', without('fingerprint'), 'a=fingerprint is missing'],
    ['a broken hash', offer.replace('sha-256', 'sha-1'), 'a=fingerprint with sha-256'],
    ['a short fingerprint', offer.replace(':BF', ''), 'a=fingerprint of 32 bytes'],
    ['no setup', without('setup'), 'a=setup'],
    ['an unknown setup', offer.replace('actpass', 'holdconn'), 'a=setup'],
    ['a payload type out of range', offer.replace('SAVPF 111', 'SAVPF 211'), '0 to 127'],
    ['no format', offer.replace(/(SAVPF).*$/m, '$1'), 'at least one format'],
    ['the same mid twice', browserOffer({ video: true }).replace('a=mid:1', 'a=mid:0'), 'every a=mid'],
  ]
  it.each(wrong)('is rejected with %s', (_name, sdp, message) => {
    expect(() => readSdp(sdp, 'offer')).toThrow(message)
    expect(() => readSdp(sdp, 'offer')).toThrow(expect.objectContaining({ code: 'bad_sdp' }))
  })

  it('is rejected if too long', () => {
    expect(() => readSdp(offer + 'a=x\r\n'.repeat(maxSdpLength / 5), 'offer')).toThrow(
      `at most ${maxSdpLength}`,
    )
  })

  it('must select a role in an answer', () => {
    expect(() => readSdp(offer, 'answer')).toThrow('active or passive')
    expect(audioOf(offer.replace('actpass', 'active'), 'answer').credentials.setup).toBe('active')
  })

  it('never exposes a password in an error', () => {
    for (const [, sdp] of wrong) {
      try {
        readSdp(sdp, 'offer')
      } catch (error) {
        expect(String(error)).not.toContain('FLwtWRKRPeEgTL')
      }
    }
  })

  it('gives only typed errors, with any truncation or change', () => {
    const whole = browserOffer({ video: true, application: true })
    const read = (sdp: string) => {
      try {
        readSdp(sdp, 'offer')
      } catch (error) {
        expect(error).toMatchObject({ name: 'WebRtcError', code: 'bad_sdp' })
      }
    }
    for (let length = 0; length < whole.length; length += 3) read(whole.slice(0, length))
    const lines = whole.split('\r\n')
    for (let i = 1; i < lines.length; i++) {
      read(lines.toSpliced(i, 1).join('\r\n'))
      read(lines.with(i, lines[i]!.slice(0, 2)).join('\r\n'))
      read(lines.with(i, `${lines[i]!.slice(0, 2)}${'9'.repeat(400)}`).join('\r\n'))
      read(lines.with(i, lines[i]!.replace(/[:\s].*/, ':')).join('\r\n'))
    }
  })
})

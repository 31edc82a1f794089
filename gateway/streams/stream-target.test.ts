import { describe, expect, it } from 'vitest'
import { readTarget } from './stream-target.ts'

describe('where a stream goes', () => {
  it('is a WebSocket, or an RTP address with codec and ptime', () => {
    expect(readTarget({ url: ' wss://ai.example/in?a=1#x ' })).toMatchObject({
      kind: 'websocket',
      url: { href: 'wss://ai.example/in?a=1' },
    })
    expect(readTarget({ url: 'rtp://192.0.2.7:4000' })).toEqual({
      kind: 'rtp',
      host: '192.0.2.7',
      port: 4000,
      codec: 'PCMU',
      ptime: 20,
    })
    expect(readTarget({ url: 'RTP://[2001:db8::1]:4000?codec=pcma&ptime=40' })).toEqual({
      kind: 'rtp',
      host: '2001:db8::1',
      port: 4000,
      codec: 'PCMA',
      ptime: 40,
    })
  })

  it.each([
    ['another scheme', { url: 'https://ai.example' }, 'wss:, ws: or rtp:'],
    ['no URL', { url: 'ai.example' }, 'wss:, ws: or rtp:'],
    ['a packet length that RTP has not', { url: 'rtp://192.0.2.7:4000', packetMs: 120 }, '10 to 60'],
    ['no port', { url: 'rtp://192.0.2.7' }, 'rtp://host:port'],
    ['a port of a service', { url: 'rtp://192.0.2.7:53' }, 'from 1024'],
    ['a port that is none', { url: 'rtp://192.0.2.7:66000' }, 'rtp://host:port'],
    ['no host', { url: 'rtp://:5000' }, 'rtp://host:port'],
    ['a codec that RTP addresses have not', { url: 'rtp://192.0.2.7:4000?codec=opus' }, 'PCMU or PCMA'],
    ['L16 for RTP', { url: 'rtp://192.0.2.7:4000', codec: 'L16' }, 'PCMU or PCMA'],
    ['a strange ptime', { url: 'rtp://192.0.2.7:4000?ptime=25' }, '10 to 60'],
  ] as const)('is not %s', (_, options, message) => {
    expect(() => readTarget(options)).toThrow(expect.objectContaining({ code: 'bad_stream' }))
    expect(() => readTarget(options)).toThrow(message)
  })
})

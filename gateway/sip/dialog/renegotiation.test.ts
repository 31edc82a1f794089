import { describe, expect, it } from 'vitest'
import { srtpPolicy } from '../sdp/srtp-policy.ts'
import { type DialogBench, establish, farSdp } from '../testing/dialog-rig.ts'

const version = (sdp = '') => Number(/^o=- \d+ (\d+)/m.exec(sdp)?.[1])
const audioOf = (sdp = '') => /^m=audio.*$/m.exec(sdp)?.[0]
const directionOf = (sdp = '') => /^a=(sendrecv|sendonly|recvonly|inactive)\r?$/m.exec(sdp)?.[1]
const hold = (line: string, at: number) =>
  farSdp({ version: at, lines: ['a=rtpmap:101 telephone-event/8000', line] })
const reinvite = (bench: DialogBench, body: string, headers = {}) => {
  const [sent] = bench.receive('INVITE', body, headers).sent
  bench.ack()
  return sent!
}

describe('hold', () => {
  it.each([
    ['sendonly', hold('a=sendonly', 2), 'recvonly'],
    ['inactive', hold('a=inactive', 2), 'inactive'],
    ['c=0.0.0.0', farSdp({ version: 2, address: '0.0.0.0' }), 'recvonly'],
    ['c=0.0.0.0 and inactive', farSdp({ version: 2, address: '0.0.0.0', lines: ['a=inactive'] }), 'inactive'],
  ])(
    'by %s is answered with the mirrored direction, reported once, and can be resumed',
    (_name, body, direction) => {
      const bench = establish()
      const held = reinvite(bench, body)
      expect([held.status, directionOf(held.body)]).toEqual([200, direction])
      expect(bench.port.far).toMatchObject({ address: '192.0.2.9', port: 4000, direction })
      reinvite(bench, body.replace('o=- 7 2', 'o=- 7 3'))
      const back = reinvite(bench, farSdp({ version: 4 }))
      expect(directionOf(back.body)).toBe('sendrecv')
      expect(bench.port.far?.direction).toBe('sendrecv')
      expect(bench.heard).toEqual(['answered', 'held', 'taken back'])
      // The far side may send music on hold, so the legs stay bridged.
      expect(bench.leg.isHeld).toBe(false)
    },
  )

  it('is not reported if the far side only stops sending', () => {
    const bench = establish()
    expect(directionOf(reinvite(bench, hold('a=recvonly', 2)).body)).toBe('sendonly')
    expect(bench.heard).toEqual(['answered'])
  })

  it('of twelve minutes does not end the call, which then continues unchanged', () => {
    const bench = establish()
    reinvite(bench, hold('a=sendonly', 2))
    bench.clock.advance(12 * 60_000)
    expect(bench.leg.isAnswered).toBe(true)
    expect(directionOf(reinvite(bench, farSdp({ version: 3 })).body)).toBe('sendrecv')
  })
})

describe('a re-INVITE', () => {
  it('with an unchanged description is a refresh: the gateway’s last description again, and no change for the port', () => {
    const bench = establish()
    const updates = bench.port.farUpdates.length
    const first = bench.media.local
    expect(reinvite(bench, farSdp())).toMatchObject({ status: 200, body: first })
    expect(bench.port.farUpdates).toHaveLength(updates)
  })

  it('is also a refresh of hold if the far side does not raise the version (RFC 3264 section 8)', () => {
    const bench = establish()
    expect(directionOf(reinvite(bench, hold('a=sendonly', 1)).body)).toBe('recvonly')
    expect(directionOf(reinvite(bench, farSdp()).body)).toBe('sendrecv')
    expect(bench.heard).toEqual(['answered', 'held', 'taken back'])
  })

  it('that refreshes after the gateway’s offer gets an answer instead of that offer again (RFC 4568 section 5.1.2)', () => {
    const key = Buffer.alloc(30, 5).toString('base64')
    const lines = [`a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`, 'a=sendonly']
    const srtp = srtpPolicy(undefined, true)
    const bench = establish({ outbound: true, offer: farSdp({ formats: '8', lines }), media: { srtp } })
    expect(bench.media.local.match(/a=crypto:/g)).toHaveLength(6)
    const { body = '' } = reinvite(bench, farSdp({ formats: '8', lines }))
    expect([audioOf(body), directionOf(body)]).toEqual(['m=audio 20000 RTP/AVP 8', 'recvonly'])
    expect(body.match(/a=crypto:1 /g)).toHaveLength(1)
    expect(body).not.toContain('a=crypto:2')
  })

  it('with a new address and codec changes the far end, and raises the gateway’s version by one', () => {
    const bench = establish()
    const before = version(bench.media.local)
    const { body } = reinvite(
      bench,
      farSdp({ version: 2, address: '192.0.2.10', port: 5000, formats: '8 101' }),
    )
    expect(version(body)).toBe(before + 1)
    expect(bench.port.far).toMatchObject({ address: '192.0.2.10', port: 5000, codec: 'PCMA', payloadType: 8 })
  })

  it('can change the payload type of telephone-event from 126 to 101', () => {
    const events = (number: number, at: number) =>
      farSdp({ version: at, formats: `0 ${number}`, lines: [`a=rtpmap:${number} telephone-event/8000`] })
    const bench = establish({ offer: events(126, 1) })
    expect(bench.port.farUpdates.at(-1)).toMatchObject({
      near: { telephoneEvent: 126 },
      far: { telephoneEvent: 126 },
    })
    expect(reinvite(bench, events(101, 2)).body).toContain('a=rtpmap:101 telephone-event/8000')
    expect(bench.port.farUpdates.at(-1)).toMatchObject({
      near: { telephoneEvent: 101 },
      far: { telephoneEvent: 101 },
    })
  })

  it('without a common codec gets 488 with a reason, and changes nothing', () => {
    const bench = establish()
    const updates = bench.port.farUpdates.length
    const refused = reinvite(bench, farSdp({ version: 2, formats: '18' }))
    expect(refused.status).toBe(488)
    expect(refused.headers.Warning).toMatch(/^399 trunkline "None of the offered codecs is supported\..*G729/)
    expect([bench.port.farUpdates.length, bench.media.exchange.isStable, bench.leg.isAnswered]).toEqual([
      updates,
      true,
      true,
    ])
    expect(reinvite(bench, farSdp({ version: 3 })).status).toBe(200)
  })

  it('with an address of the gateway itself is rejected', () => {
    const bench = establish()
    expect(reinvite(bench, farSdp({ version: 2, address: '127.0.0.1' })).status).toBe(488)
    expect(bench.port.far?.address).toBe('192.0.2.9')
  })

  it('with another content type gets 415, and a part of a multipart body is accepted', () => {
    const bench = establish()
    const refused = reinvite(bench, 'hello', { 'content-type': 'text/plain' })
    expect([refused.status, refused.headers.Accept]).toEqual([415, 'application/sdp, multipart/mixed'])
    const part = `--b\r\nContent-Type: application/sdp\r\n\r\n${hold('a=sendonly', 2)}\r\n--b--\r\n`
    const taken = reinvite(bench, part, { 'content-type': 'multipart/mixed;boundary=b' })
    expect([taken.status, directionOf(taken.body)]).toEqual([200, 'recvonly'])
  })

  it('keeps other m-lines refused, each at its position', () => {
    const bench = establish()
    const lines = ['a=rtpmap:101 telephone-event/8000', 'm=video 5000 RTP/AVP 96', 'm=image 6000 udptl t38']
    const { body } = reinvite(bench, farSdp({ version: 2, lines }))
    expect(body?.match(/^m=.*$/gm)).toEqual([
      'm=audio 20000 RTP/AVP 0 101',
      'm=video 0 RTP/AVP 96',
      'm=image 0 udptl t38',
    ])
  })
})

describe('a re-INVITE without an offer', () => {
  it('gets the full offer again, with the payload types of the session', () => {
    const lines = ['a=rtpmap:97 PCMA/8000', 'a=rtpmap:126 telephone-event/8000', 'a=rtpmap:101 opus/48000/2']
    const bench = establish({ offer: farSdp({ formats: '97 126 101', lines }) })
    const [sent] = bench.receive('INVITE').sent
    expect(audioOf(sent?.body)).toBe('m=audio 20000 RTP/AVP 97 0 126')
    bench.ack(farSdp({ version: 2, formats: '0 126', lines: ['a=rtpmap:126 telephone-event/8000'] }))
    expect(bench.port.farUpdates.at(-1)).toMatchObject({
      near: { codecs: [{ codec: 'PCMU', payloadType: 0 }], telephoneEvent: 126 },
      far: { codec: 'PCMU', telephoneEvent: 126 },
    })
    expect(bench.media.exchange.isStable).toBe(true)
  })

  it('can resume the gateway from a hold, or keep the hold', () => {
    const bench = establish()
    reinvite(bench, hold('a=sendonly', 2))
    expect(directionOf(bench.receive('INVITE').sent[0]?.body)).toBe('sendrecv')
    bench.ack(hold('a=sendonly', 3))
    expect(bench.heard).toEqual(['answered', 'held'])
    bench.receive('INVITE')
    bench.ack(farSdp({ version: 4 }))
    expect(bench.heard).toEqual(['answered', 'held', 'taken back'])
    expect(bench.port.far?.direction).toBe('sendrecv')
  })

  it('uses no payload type that had another meaning before', () => {
    const bench = establish({ offer: farSdp({ formats: '0 101', lines: ['a=rtpmap:101 opus/48000/2'] }) })
    const [sent] = bench.receive('INVITE').sent
    expect(audioOf(sent?.body)).toBe('m=audio 20000 RTP/AVP 0 8 96')
  })

  it('still accepts its answer after another request with an unusable body before the ACK', () => {
    const bench = establish()
    bench.receive('INVITE')
    expect(bench.receive('UPDATE', 'text', { 'content-type': 'text/plain' }).statuses).toEqual([415])
    bench.ack(hold('a=sendonly', 2))
    expect(bench.heard).toEqual(['answered', 'held'])
  })

  it('changes nothing if the ACK lacks its answer', () => {
    const bench = establish()
    bench.receive('INVITE')
    bench.ack()
    expect([bench.media.exchange.isStable, bench.leg.isAnswered]).toEqual([true, true])
    expect(reinvite(bench, farSdp({ version: 2 })).status).toBe(200)
  })

  it('is answered neither by a late ACK of another re-INVITE nor by the gateway’s own refresh', () => {
    const settings = { expiresMs: 900_000, minMs: 90_000 }
    const timer = { settings, terms: { expiresMs: 900_000, refresher: 'us' } } as const
    const bench = establish({ parts: { timer } })
    bench.receive('INVITE', farSdp({ version: 2 }))
    bench.clock.advance(450_000)
    expect(bench.dialog.requests.map(({ method }) => method)).toEqual(['INVITE'])
    bench.ack()
    expect(bench.media.isWaiting).toBe(true)
  })

  it('gets 491 for a second offer before its ACK, and the call ends without the ACK', () => {
    const bench = establish()
    bench.receive('INVITE')
    expect(bench.receive('INVITE', farSdp({ version: 2 })).statuses).toEqual([491])
    expect(bench.receive('INVITE').statuses).toEqual([491])
    expect(bench.receive('UPDATE', farSdp({ version: 2 })).statuses).toEqual([491])
    expect(bench.receive('UPDATE').statuses).toEqual([200])
    bench.clock.advance(40_000)
    expect(bench.heard.at(-1)).toBe('ended unreachable by us')
    expect(bench.dialog.byes).toHaveLength(1)
  })
})

it('UPDATE can carry an offer or only refresh', () => {
  const bench = establish()
  const [held] = bench.receive('UPDATE', hold('a=sendonly', 2)).sent
  expect([held?.status, directionOf(held?.body)]).toEqual([200, 'recvonly'])
  expect(held?.headers['Content-Type']).toBe('application/sdp')
  const [refreshed] = bench.receive('UPDATE').sent
  expect([refreshed?.status, refreshed?.body]).toEqual([200, undefined])
})

it('a re-INVITE that crosses a BYE is rejected', () => {
  const bench = establish()
  bench.leg.end({ code: 'max_duration' })
  expect(bench.receive('INVITE', farSdp({ version: 2 })).statuses).toEqual([481])
  bench.dialog.byes[0]?.()
  expect([bench.released(), bench.clock.running]).toEqual([true, 0])
})

describe('encrypted audio', () => {
  const key = (fill: number) => Buffer.alloc(30, fill).toString('base64')
  const secured = (fill: number, at: number) =>
    farSdp({
      version: at,
      profile: 'RTP/SAVP',
      formats: '0',
      lines: [`a=crypto:4 AES_CM_128_HMAC_SHA1_32 inline:${key(fill)}`],
    })
  const media = { srtp: srtpPolicy(undefined, true) }
  const ourLine = (sdp = '') => /^a=crypto:(\d+ \S+) inline:(\S+)$/m.exec(sdp)

  it('is answered with the profile, tag and suite of the offer, and both keys are set at the port', () => {
    const bench = establish({ offer: secured(1, 1), media })
    expect(audioOf(bench.media.local)).toBe('m=audio 20000 RTP/SAVP 0')
    const [, line, ours = ''] = ourLine(bench.media.local) ?? []
    expect(line).toBe('4 AES_CM_128_HMAC_SHA1_32')
    expect(bench.port.far?.srtp).toEqual({
      suite: 'AES_CM_128_HMAC_SHA1_32',
      sendKey: new Uint8Array(Buffer.from(ours, 'base64')),
      receiveKey: new Uint8Array(30).fill(1),
    })
  })

  it('keeps the gateway’s key when the far side changes its key', () => {
    const bench = establish({ offer: secured(1, 1), media })
    const first = ourLine(bench.media.local)?.[2]
    reinvite(bench, secured(1, 2))
    expect(ourLine(bench.media.local)?.[2]).toBe(first)
    reinvite(bench, secured(2, 3))
    expect(ourLine(bench.media.local)?.[2]).toBe(first)
    expect(bench.port.far?.srtp?.receiveKey).toEqual(new Uint8Array(30).fill(2))
  })

  it('cannot be changed to plain RTP', () => {
    const bench = establish({ offer: secured(1, 1), media })
    expect(reinvite(bench, farSdp({ version: 2 })).status).toBe(488)
    expect(bench.port.far?.srtp).toBeDefined()
  })

  it('is offered again with its profile and key', () => {
    const bench = establish({ offer: secured(1, 1), media })
    const first = ourLine(bench.media.local)?.[2]
    const [sent] = bench.receive('INVITE').sent
    expect(audioOf(sent?.body)).toContain('RTP/SAVP')
    expect(ourLine(sent?.body)?.[2]).toBe(first)
  })
})

import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { loadCodecs } from '../codecs/codecs.ts'
import type { SrtpKeys, SrtpSuite } from '../types.ts'
import { writeRtpHeader } from './packet.ts'
import { buildRtcp, parseRtcp } from './rtcp.ts'
import { Session } from './session.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'
import { masterBytes, suiteInfo } from './srtp-suites.ts'
import { TestTime } from './testing/session-line.ts'

const newKeys = (suite: SrtpSuite): SrtpKeys => {
  const key = () => randomBytes(masterBytes(suite))
  return { suite, sendKey: key(), receiveKey: key() }
}

/** Far end of a session with SRTP. */
class Far {
  readonly hears: SrtpReceiver
  #says: SrtpSender
  #sequence: number

  constructor(keys: SrtpKeys, sequence: number) {
    this.hears = new SrtpReceiver(keys.suite, keys.sendKey)
    this.#says = new SrtpSender(keys.suite, keys.receiveKey)
    this.#sequence = sequence
  }

  packet(): Buffer {
    const bytes = Buffer.alloc(172, 0x2a)
    const sequence = this.#sequence++ & 0xffff
    const timestamp = this.#sequence * 160
    writeRtpHeader(bytes, 0, { payloadType: 0, marker: false, sequence, timestamp, ssrc: 9 })
    return bytes
  }

  protected(): Buffer {
    return this.#says.protect(this.packet())
  }

  report(): Buffer {
    return this.#says.protectRtcp(buildRtcp([{ kind: 'receiver', ssrc: 9, blocks: [] }]))
  }
}

const codecs = await loadCodecs()

describe.each(Object.keys(suiteInfo) as SrtpSuite[])('a session with %s', (suite) => {
  let now: number
  let sent: Buffer[]
  let rtcp: Buffer[]
  let session: Session
  let far: Far

  const set = (srtp: SrtpKeys | undefined, direction: 'sendrecv' | 'inactive' = 'sendrecv') =>
    session.setFar(
      now,
      { codecs: [{ codec: 'PCMU', payloadType: 0 }] },
      { address: '192.0.2.1', port: 4000, codec: 'PCMU', payloadType: 0, direction, ...(srtp && { srtp }) },
    )
  const hear = (bytes: Buffer, port = 4000) => session.receive(now, bytes, '192.0.2.1', port)
  const tick = (times: number) => {
    for (let i = 0; i < times; i++) {
      now += 10
      session.tick(now)
      if (i % 2 === 0) {
        session.frameIn(now)
        session.frameOut(now)
      }
    }
  }
  const keys = newKeys(suite)

  beforeEach(() => {
    now = 1_700_000_000_000
    sent = []
    rtcp = []
    session = new Session(
      {
        anyPort: true,
        seed: { ssrc: 5, sequence: 100, timestamp: 0 },
        cname: 'test',
        timeouts: { startMs: 30_000, mediaMs: 60_000 },
        random: () => 0.5,
        codecs,
      },
      {
        rtp: (bytes, offset, length) => sent.push(Buffer.from(bytes.subarray(offset, offset + length))),
        rtcp: (bytes) => rtcp.push(Buffer.from(bytes)),
        event: () => {},
        played: () => {},
        wake: () => {},
      },
    )
    far = new Far(keys, 65_500)
    set(keys)
  })

  it('sends nothing in the clear, and sends packets that can be decrypted', () => {
    tick(1_000)
    session.close(now)
    expect(sent.length).toBeGreaterThan(0)
    expect(rtcp.length).toBeGreaterThan(1)
    for (const each of sent) {
      expect(each.length).toBe(172 + suiteInfo[suite].tagBytes)
      expect(far.hears.unprotect(each)?.subarray(12)).toEqual(Buffer.alloc(160, 0xff))
    }
    for (const each of rtcp) expect(parseRtcp(far.hears.unprotectRtcp(each)!)).toBeDefined()
  })

  it('accepts only authentic packets, and learns nothing from others', () => {
    hear(far.packet(), 6000)
    hear(far.protected(), 6001)
    session.receiveRtcp(now, buildRtcp([{ kind: 'receiver', ssrc: 9, blocks: [] }]), '192.0.2.1', 4001)
    session.receiveRtcp(now, far.report(), '192.0.2.1', 4001)
    hear(far.packet(), 6001)
    expect(session.stats()).toMatchObject({ received: 1, refused: { srtp: 3, source: 0, malformed: 0 } })
  })

  it('keeps its counters through a hold of twelve minutes with the same keys', () => {
    for (let i = 0; i < 50; i++) hear(far.protected())
    const repeated = far.protected()
    hear(Buffer.from(repeated))
    set(keys, 'inactive')
    now += 720_000
    set(keys)
    hear(repeated)
    hear(far.protected())
    expect(session.stats()).toMatchObject({ received: 52, refused: { srtp: 1 } })
  })

  it('changes to new keys with a new offer', () => {
    hear(far.protected())
    const fresh = newKeys(suite)
    set(fresh)
    hear(far.protected())
    far = new Far(fresh, 65_502)
    hear(far.protected())
    expect(session.stats()).toMatchObject({ received: 2, refused: { srtp: 1 } })
  })

  it('changes to another suite with a new offer, and back', () => {
    hear(far.protected())
    const other = newKeys(suite === 'AEAD_AES_128_GCM' ? 'AES_CM_128_HMAC_SHA1_80' : 'AEAD_AES_128_GCM')
    set(other)
    const changed = new Far(other, 65_501)
    hear(changed.protected())
    sent.length = 0
    tick(400)
    expect(sent.every((each) => changed.hears.unprotect(each))).toBe(true)
    set(keys)
    far = new Far(keys, 65_502)
    hear(far.protected())
    expect(session.stats()).toMatchObject({ received: 3, refused: { srtp: 0 } })
  })

  it('reuses no index under keys that return after plain RTP', () => {
    tick(1_000)
    const before = { rtp: sent.splice(0), rtcp: rtcp.splice(0) }
    for (const each of before.rtp) expect(far.hears.unprotect(each)).toBeDefined()
    for (const each of before.rtcp) expect(far.hears.unprotectRtcp(each)).toBeDefined()
    expect(before.rtcp.length).toBeGreaterThan(0)
    set(undefined)
    tick(1_000)
    expect(sent[0]).toHaveLength(172)
    sent.length = 0
    rtcp.length = 0
    set({ ...keys })
    tick(1_000)
    expect([sent.length, rtcp.length].every((count) => count > 0)).toBe(true)
    for (const each of sent) expect(far.hears.unprotect(each)).toBeDefined()
    for (const each of rtcp) expect(far.hears.unprotectRtcp(each)).toBeDefined()
  })

  it('rejects packets replayed from before a phase of plain RTP', () => {
    const sound = far.protected()
    const copy = Buffer.from(sound)
    hear(sound)
    set(undefined)
    set({ ...keys })
    hear(copy)
    expect(session.stats()).toMatchObject({ received: 1, refused: { srtp: 1 } })
  })

  it('sends nothing rather than reuse an index or send in the clear', () => {
    const time = new TestTime()
    time.now = now
    const plain = time.line('198.51.100.1')
    plain.set()
    time.pass(200)
    tick(20)
    session.join(plain.session)
    for (const each of sent.splice(0)) far.hears.unprotect(each)
    const said = (place: number, byte: number) => {
      plain.next = { ...plain.next, sequence: 500 + place, timestamp: 8000 + place * 160 }
      plain.hear(Buffer.alloc(160, byte))
    }
    const places = [0, 4, 2, 2, 4, 3, 2, 3, 1, 0, 5]
    for (const place of places) said(place, 0x11)
    const opened = sent.map((each) => far.hears.unprotect(each))
    expect(opened).not.toContain(undefined)
    expect(opened.map((each) => each!.readUInt16BE(2) - opened[0]!.readUInt16BE(2))).toEqual([
      0, 4, 2, 3, 1, 5,
    ])
  })

  it('sends and counts no datagram for an index already used', () => {
    tick(20)
    sent.length = 0
    const before = session.stats()
    // The counters reject used indices, independent of the numbering.
    const spy = vi.spyOn(SrtpSender.prototype, 'protect').mockReturnValue(Buffer.alloc(0))
    try {
      session.promptMixer.play(1, new Int16Array(800), 8000, 1, 0)
      tick(20)
      expect(spy).toHaveBeenCalled()
      expect(sent).toEqual([])
      expect(session.stats()).toEqual(before)
    } finally {
      spy.mockRestore()
    }
  })

  it('learns no source from a replayed packet', () => {
    const sound = far.protected()
    const copy = Buffer.from(sound)
    hear(sound)
    set({ ...keys }, 'sendrecv')
    hear(copy, 7000)
    hear(far.protected())
    expect(session.stats()).toMatchObject({ received: 2, refused: { srtp: 1, source: 0 } })
  })

  it('forwards audio to a session without SRTP, and back', () => {
    const time = new TestTime()
    time.now = now
    const plain = time.line('198.51.100.1')
    plain.set()
    time.pass(200)
    plain.sent.length = 0
    tick(20)
    session.join(plain.session)
    for (const each of sent.splice(0)) far.hears.unprotect(each)
    for (let i = 0; i < 3; i++) hear(far.protected())
    plain.hear(Buffer.alloc(160, 0x11))
    expect(plain.sent.map(({ payload }) => payload)).toEqual(Array(3).fill(Buffer.alloc(160, 0x2a)))
    expect(sent.map((each) => far.hears.unprotect(each)?.subarray(12))).toEqual([Buffer.alloc(160, 0x11)])
  })
})

import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import type { SrtpKeys, SrtpSuite } from '../types.ts'
import { Session } from './session.ts'
import { transformOf } from './srtp.ts'
import { deriveKeys } from './srtp-keys.ts'
import { masterBytes, suiteInfo } from './srtp-suites.ts'
import { testCodecs } from './testing/codecs.ts'

const ssrc = 5

describe.each(Object.keys(suiteInfo) as SrtpSuite[])('keys of a later description, with %s', (suite) => {
  const newKey = () => randomBytes(masterBytes(suite))
  let now: number
  let sent: Buffer[]
  let rtcp: Buffer[]
  let session: Session
  let keys: SrtpKeys

  /** Sends until `sequence` is next: beyond the numbers that are skipped at the start of keys. */
  const talkUntil = (sequence: number) => {
    sent = []
    rtcp = []
    session = new Session(
      {
        anyPort: true,
        seed: { ssrc, sequence: 62_000, timestamp: 0 },
        cname: 'test',
        timeouts: { startMs: 1e9, mediaMs: 1e9 },
        random: () => 0.5,
        codecs: testCodecs,
      },
      {
        rtp: (bytes, offset, length) => sent.push(Buffer.from(bytes.subarray(offset, offset + length))),
        rtcp: (bytes) => rtcp.push(Buffer.from(bytes)),
        event: () => {},
        played: () => {},
        wake: () => {},
      },
    )
    keys = { suite, sendKey: newKey(), receiveKey: newKey() }
    set(keys)
    session.promptMixer.play(1, sine(440, 1000), 8000, 0, 0)
    say(sequence - 62_000)
  }
  const set = (srtp: SrtpKeys) =>
    session.setFar(
      now,
      { codecs: [{ codec: 'PCMU', payloadType: 0 }] },
      { address: '192.0.2.1', port: 4000, codec: 'PCMU', payloadType: 0, direction: 'sendrecv', srtp },
    )
  /** Sends a number of packets and returns them. */
  const say = (packets: number) => {
    sent.length = 0
    rtcp.length = 0
    for (let i = 0; i < packets; i++) {
      now += 20
      session.tick(now)
      session.frameIn(now)
      session.frameOut(now)
    }
    expect(sent).toHaveLength(packets)
    return sent.map((packet) => packet.readUInt16BE(2))
  }
  /** Whether a sent packet decrypts with that key and roll-over counter. */
  const opens = (key: Uint8Array, roc: number) => {
    const rtp = transformOf(suite, 'rtp', deriveKeys(suite, key, 'rtp'))
    return sent.every((packet) => rtp.openRtp(packet, 12, ssrc, 0, roc * 0x10000 + packet.readUInt16BE(2)))
  }

  beforeEach(() => {
    now = 1_700_000_000_000
  })

  it('keep the local roll-over counter if only the far end’s key is new', () => {
    talkUntil(65_530)
    const before = say(10)
    expect([before[5], before[6]]).toEqual([65_535, 0])
    set({ ...keys, receiveKey: newKey() })
    expect(say(3)).toEqual([4, 5, 6])
    expect(opens(keys.sendKey, 1)).toBe(true)
  })

  it('reset the roll-over counter and the RTCP index if the local key is new (RFC 4568 section 7.1.4)', () => {
    talkUntil(65_530)
    say(300)
    expect(rtcp.length).toBeGreaterThan(0)
    const sendKey = newKey()
    set({ ...keys, sendKey })
    expect(say(300).slice(0, 2)).toEqual([294, 295])
    expect(opens(sendKey, 0)).toBe(true)
    const control = transformOf(suite, 'rtcp', deriveKeys(suite, sendKey, 'rtcp'))
    expect(control.rtcpWord(rtcp[0]!)).toBe(0x80000001)
    expect(control.openRtcp(rtcp[0]!, ssrc, 1)).toBeDefined()
  })

  it('do not start shortly before a roll-over, which would be lost with the first packets', () => {
    talkUntil(65_500)
    const sendKey = newKey()
    set({ ...keys, sendKey })
    expect(say(3)).toEqual([0, 1, 2])
    expect(opens(sendKey, 0)).toBe(true)
    // Far from a roll-over, no number is skipped.
    set({ ...keys, sendKey: newKey() })
    expect(say(2)).toEqual([3, 4])
  })

  it('continue when they return', () => {
    talkUntil(65_530)
    say(10)
    set({ ...keys, sendKey: newKey() })
    say(1)
    set({ ...keys })
    expect(say(2)).toEqual([5, 6])
    expect(opens(keys.sendKey, 1)).toBe(true)
  })
})

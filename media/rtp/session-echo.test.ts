import { beforeEach, describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { type TestLine, TestTime } from './testing/session-line.ts'

describe('a session whose far end echoes its audio', () => {
  let time: TestTime
  let a: TestLine
  let b: TestLine

  beforeEach(() => {
    time = new TestTime()
    a = time.line('192.0.2.1')
    b = time.line('198.51.100.1')
  })

  it('receives it, and counts it as media', () => {
    a.set()
    a.echoes = []
    a.session.promptMixer.play(1, sine(440, 70_000), 8000, 1, 0)
    time.pass(70_000, () => a.echo())
    const { received, mos, refused } = a.session.stats()
    expect(a.events).toEqual([{ kind: 'latched', address: '192.0.2.1', port: 4000 }])
    expect([received, refused.ssrc, refused.rate]).toEqual([a.sent.length - a.echoes.length, 0, 0])
    expect(mos).toBeGreaterThan(4)
  })

  it('learns nothing from its own reports', () => {
    a.set()
    a.echoes = []
    a.session.promptMixer.play(1, sine(440, 60_000), 8000, 1, 0)
    time.pass(60_000, () => {
      a.echo()
      for (const { packet } of a.rtcp.splice(0)) a.session.receiveRtcp(time.now, packet, '192.0.2.1', 4001)
    })
    const stats = a.session.stats()
    expect([stats.roundTripMs, stats.far]).toEqual([undefined, undefined])
    expect(stats.refused).toMatchObject({ source: 0, ssrc: 0, malformed: 0 })
  })

  it('does not multiply packets between two of them', () => {
    a.set()
    b.set()
    a.session.join(b.session)
    a.echoes = []
    b.echoes = []
    a.hear()
    time.pass(10_000, () => {
      for (let turn = 0; turn < 1000; turn++) {
        b.echo()
        a.echo()
      }
    })
    for (const line of [a, b]) {
      expect(line.sent.length).toBeGreaterThan(100)
      expect(line.sent.length).toBeLessThan(10 * 200 + 300)
      expect(line.session.stats().refused.rate).toBeGreaterThan(0)
    }
  })
})

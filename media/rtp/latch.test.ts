import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Latch, type LatchTarget } from './latch.ts'

const target: LatchTarget = { address: '192.0.2.1', port: 4000 }
const stranger = '203.0.113.66'

describe('the latch', () => {
  let now: number
  let latch: Latch

  beforeEach(() => {
    now = 1000
    latch = new Latch(true)
  })

  const agrees = (address: string, port: number) => latch.accepts(now, address, port)
  /** Processes a packet. */
  const hear = (port: number, { address = '192.0.2.1', ssrc = 7, proven = false } = {}) =>
    latch.accepts(now, address, port) ? latch.admit(now, address, port, ssrc, proven) : 'not looked at'
  const goesTo = () => `${latch.address}:${latch.port}`

  it('accepts no source without a target', () => {
    expect(agrees('192.0.2.1', 4000)).toBe(false)
  })

  it('accepts the announced address with any port, and sends to the announced port before learning', () => {
    latch.setTarget(target)
    expect([agrees('192.0.2.1', 4000), agrees('192.0.2.1', 61000)]).toEqual([true, true])
    expect(agrees('192.0.2.2', 4000)).toBe(false)
    expect([goesTo(), latch.isLatched]).toEqual(['192.0.2.1:4000', false])
  })

  it('rejects all other sources once the announced source was received', () => {
    latch.setTarget(target)
    expect([hear(4000), hear(61_000), hear(4000, { address: stranger })]).toEqual([
      'learnt',
      'not looked at',
      'not looked at',
    ])
    expect(goesTo()).toBe('192.0.2.1:4000')
  })

  it('lets the announced source replace another port learnt shortly before, but not the reverse', () => {
    latch.setTarget(target)
    expect([hear(61_000), hear(62_000), hear(61_000)]).toEqual(['learnt', 'not looked at', 'kept'])
    now += 2999
    expect([hear(4000), hear(61_000)]).toEqual(['learnt', 'not looked at'])
    expect(goesTo()).toBe('192.0.2.1:4000')
  })

  it('is settled after three seconds', () => {
    latch.setTarget(target)
    hear(61_000)
    now += 3000
    expect([hear(4000), hear(61_000), goesTo()]).toEqual(['not looked at', 'kept', '192.0.2.1:61000'])
  })

  it('keeps a learnt source over a refresh, indefinitely', () => {
    latch.setTarget(target)
    hear(61_000)
    for (let i = 0; i < 5; i++) {
      now += 10_000
      latch.setTarget({ ...target })
      expect([latch.isLatched, goesTo(), hear(61_000)]).toEqual([true, '192.0.2.1:61000', 'kept'])
    }
  })

  it('learns once more after a new target, only the same stream while it is active', () => {
    latch.setTarget(target)
    hear(61_000)
    latch.setTarget(target)
    expect([hear(62_000, { ssrc: 8 }), hear(62_000), hear(61_000), hear(63_000)]).toEqual([
      'refused',
      'learnt',
      'not looked at',
      'not looked at',
    ])
    expect(goesTo()).toBe('192.0.2.1:62000')
  })

  it('accepts late packets of the old source and still learns the new one, for a limited time', () => {
    latch.setTarget(target)
    hear(61_000)
    now += 20_000
    latch.setTarget(target)
    expect(hear(61_000)).toBe('kept')
    now += 100
    expect(hear(62_000)).toBe('learnt')
    now += 20_000
    latch.setTarget(target)
    hear(62_000)
    now += 3000
    expect([hear(62_000), hear(63_000)]).toEqual(['kept', 'not looked at'])
  })

  it('learns another stream after a new target once the old source is silent, or by its tag', () => {
    latch.setTarget(target)
    hear(61_000)
    latch.setTarget(target)
    now += 1999
    expect(hear(62_000, { ssrc: 8 })).toBe('refused')
    now += 1
    expect(hear(62_000, { ssrc: 8 })).toBe('learnt')
    latch.setTarget(target)
    expect(hear(63_000, { ssrc: 9, proven: true })).toBe('learnt')
  })

  it('with `first`, does not learn an untrusted source with another stream during a silent hold', () => {
    latch.setTarget({ ...target, symmetric: 'first' })
    hear(61_000, { address: '198.51.100.1' })
    latch.setTarget({ ...target, symmetric: 'first' })
    now += 60_000
    expect(hear(9, { address: stranger, ssrc: 8 })).toBe('refused')
    // The same host, and the same stream from anywhere.
    expect(hear(62_000, { address: '198.51.100.1', ssrc: 8 })).toBe('learnt')
    latch.setTarget({ ...target, symmetric: 'first' })
    expect(hear(9, { address: '203.0.113.67', ssrc: 8 })).toBe('learnt')
  })

  it('accepts the announced source after a new target, with any stream', () => {
    latch.setTarget(target)
    hear(61_000)
    latch.setTarget(target)
    expect([hear(4000, { ssrc: 8 }), hear(61_000)]).toEqual(['learnt', 'not looked at'])
  })

  it('uses a new target at once', () => {
    latch.setTarget(target)
    hear(61_000)
    latch.setTarget({ address: '203.0.113.5', port: 5000 })
    expect([latch.isLatched, goesTo(), agrees('192.0.2.1', 61_000)]).toEqual([
      false,
      '203.0.113.5:5000',
      false,
    ])
    expect(hear(7, { address: '203.0.113.5', ssrc: 99 })).toBe('learnt')
  })

  it.each([
    ['strict', false, false],
    ['same-ip', true, false],
    ['first', true, true],
  ] as const)('%s: the signalling’s address %s, other %s', (symmetric, signalling, other) => {
    latch.setTarget({ ...target, symmetric, signalledFrom: '198.51.100.1' })
    expect([agrees('198.51.100.1', 9), agrees(stranger, 9), agrees('192.0.2.1', 9)]).toEqual([
      signalling,
      other,
      true,
    ])
  })

  it('prefers sources named in description and signalling', () => {
    latch.setTarget({ ...target, symmetric: 'first', signalledFrom: '198.51.100.1' })
    const order = [
      hear(1, { address: stranger }),
      hear(2, { address: '203.0.113.67' }),
      hear(3, { address: '198.51.100.1' }),
      hear(1, { address: stranger }),
      hear(61_000),
      hear(3, { address: '198.51.100.1' }),
      hear(4000),
      hear(61_000),
    ]
    const no = 'not looked at'
    expect(order).toEqual(['learnt', no, 'learnt', no, 'learnt', no, 'learnt', no])
  })

  it('learns from a further named address', () => {
    latch.setTarget({ address: '10.0.0.4', port: 4000, learnFrom: ['198.51.100.1'] })
    expect([agrees('198.51.100.1', 9), agrees('198.51.100.2', 9)]).toEqual([true, false])
  })

  it('requires an announced stream of all but the announced source', () => {
    latch.setTarget({ ...target, ssrcs: [7, 8] })
    expect([hear(61_000, { ssrc: 9 }), hear(61_000, { ssrc: 8 })]).toEqual(['refused', 'learnt'])
    expect(hear(4000, { ssrc: 9 })).toBe('learnt')
  })

  it('for RTCP follows RTP: accepts its address with its stream only, and sends there if the SDP named another', () => {
    latch.setTarget({ address: '10.0.0.4', port: 4001 })
    latch.follow('198.51.100.1', 61_000, 7)
    expect(goesTo()).toBe('198.51.100.1:61001')
    expect([
      hear(61_055, { address: '198.51.100.1', ssrc: 8 }),
      hear(61_055, { address: '198.51.100.1' }),
    ]).toEqual(['refused', 'learnt'])
    latch.follow('198.51.100.1', 61_000, 7)
    expect(goesTo()).toBe('198.51.100.1:61055')
    const usual = new Latch(true)
    usual.setTarget(target)
    usual.follow('192.0.2.1', 61_000, 7)
    expect(usual.port).toBe(4000)
  })

  it('recognises an IPv6 address in any notation', () => {
    latch.setTarget({ address: '2001:0DB8:0:0:0:0:0:1', port: 4000, learnFrom: ['2001:db8::00ff'] })
    expect([hear(4000, { address: '2001:db8::1' }), goesTo()]).toEqual(['learnt', '2001:db8::1:4000'])
    latch.setTarget({ address: '::2', port: 4000, learnFrom: ['2001:db8::00ff'] })
    expect(agrees('2001:db8::ff', 1)).toBe(true)
  })

  it.each(['', ':', '[::1]:5060', 'fe80::1%eth0', '1.2.3.4:5', '::ffff:192.0.2.1'])(
    'treats %j as an address without failing',
    (text) => {
      latch.setTarget({
        address: text,
        port: 4000,
        symmetric: 'same-ip',
        signalledFrom: text,
        learnFrom: [text],
      })
      expect([agrees(stranger, 4000), agrees(text, 4000)]).toEqual([false, true])
    },
  )

  it('requires the exact port of a far end on the same host', () => {
    latch = new Latch(false)
    latch.setTarget({ address: '127.0.0.1', port: 4000, symmetric: 'first', learnFrom: ['192.0.2.9'] })
    expect([
      agrees('127.0.0.1', 4000),
      agrees('127.0.0.1', 4001),
      agrees('192.0.2.9', 4000),
      agrees(stranger, 4000),
    ]).toEqual([true, false, false, false])
  })

  it('never learns an untrusted source and never loses the announced one, for any sequence of packets', () => {
    const packet = fc.record({
      wait: fc.integer({ min: 0, max: 4000 }),
      address: fc.constantFrom('192.0.2.1', stranger, '198.51.100.1'),
      port: fc.constantFrom(4000, 61_000, 62_000),
      ssrc: fc.constantFrom(7, 8),
      aim: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 60 }), (packets) => {
        now = 1000
        latch = new Latch(true)
        const to: LatchTarget = { ...target, symmetric: 'same-ip', signalledFrom: '198.51.100.1' }
        latch.setTarget(to)
        let isExact = false
        for (const { wait, address, port, ssrc, aim } of packets) {
          now += wait
          if (aim) latch.setTarget(to)
          hear(port, { address, ssrc })
          if (!latch.isLatched) continue
          expect(latch.address).not.toBe(stranger)
          if (goesTo() === '192.0.2.1:4000') isExact = true
          // Without a new description nothing replaces it.
          else if (!aim && isExact) expect(packets.some((each) => each.aim)).toBe(true)
        }
        if (packets.every(({ aim }) => !aim) && isExact) expect(goesTo()).toBe('192.0.2.1:4000')
      }),
    )
  })
})

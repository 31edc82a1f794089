import { beforeEach, describe, expect, it } from 'vitest'
import { unverifiedHeader } from '../../drachtio/extensions.ts'
import { CoreBench, nothing } from '../../testing/core.ts'

const sdp = 'v=0\r\n'
const rel = { Require: '100rel' }
let bench: CoreBench
beforeEach(() => {
  bench = new CoreBench()
})

/** An INVITE with an offer comes; returns the id under which the application answers it. */
const invite = (lines: Record<string, string> = { Supported: 'timer, 100rel' }) => {
  bench.receive('INVITE', 1, 'i', lines, sdp)
  return bench.handed()[0]?.txnId as string
}

/** The one response that was sent since the last look. */
const only = () => {
  const [response, ...more] = bench.sent()
  expect(more).toEqual([])
  if (!response) throw new Error('nothing was sent')
  return response
}

const prack = (rseq: number, tag: string, seq = 2, lines: Record<string, string> = {}) =>
  bench.receive('PRACK', seq, `p${seq}`, {
    To: `<sip:b@192.0.2.1>;tag=${tag}`,
    RAck: `${rseq} 1 INVITE`,
    ...lines,
  })

/** Sends a reliable 183; returns its RSeq and the agent's tag. */
const progress = (txnId: string, lines: Record<string, string> = rel) => {
  bench.respond(txnId, 183, lines, sdp)
  const response = only()
  return { rseq: Number(response.headers.first('rseq')), tag: response.toTag, response }
}

const timesOfSending = (ms: number) => {
  const times: number[] = []
  for (let at = 100; at <= ms; at += 100) {
    bench.clock.advance(100)
    for (const _ of bench.sent()) times.push(at)
  }
  return times
}

describe('a reliable provisional response', () => {
  it('carries RSeq, Require and Contact, and is reported to the application with its dialog id', () => {
    const txnId = invite()
    const { rseq, response } = progress(txnId)
    expect(rseq).toBeGreaterThan(0)
    expect(response.headers.all('require')).toEqual(['100rel'])
    expect(response.headers.first('contact')).toBe('<sip:192.0.2.1:5060>')
    const [echo] = bench.received()
    expect(echo?.fields.slice(0, 3)).toEqual(['response', 'm', 'OK'])
    expect(echo?.fields[10]).toBe('c1;from-tag=f')
    expect(echo?.text).toContain(`RSeq: ${rseq}\r\n`)
  })
  it('is repeated at doubling intervals, on any transport, until its PRACK arrives', () => {
    bench = new CoreBench({ reliable: true })
    const { rseq, tag } = progress(invite())
    expect(timesOfSending(20_000)).toEqual([500, 1_500, 3_500, 7_500, 15_500])
    bench.received()
    prack(rseq, tag)
    const [handed] = bench.handed()
    expect([handed?.method, handed?.dialogId]).toEqual(['PRACK', 'c1;from-tag=f'])
    bench.respond(handed?.txnId as string, 200)
    expect(only().seqMethod).toBe('PRACK')
    expect(timesOfSending(40_000)).toEqual([])
  })
  it('without a PRACK ends the call: the caller gets 504, and the application is notified', () => {
    progress(invite())
    bench.received()
    bench.clock.advance(31_900)
    expect(bench.handed()).toEqual([])
    bench.sent()
    bench.clock.advance(100)
    expect(bench.statuses()).toEqual([504])
    expect(bench.handed().map((each) => each.method)).toEqual(['CANCEL'])
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
  it('is repeated twice if the caller may have forged its address, as is the 504 after 5 s', () => {
    progress(invite(), { ...rel, [unverifiedHeader]: '1' })
    expect(timesOfSending(4_900)).toEqual([500, 1_500])
    expect(timesOfSending(30_000).map((at) => at + 4_900)).toEqual([5_000, 5_500, 6_500])
  })
  it('is rejected if the caller does not support 100rel, and the application can continue', () => {
    const txnId = invite({})
    bench.respond(txnId, 183, rel)
    expect(bench.received()[0]?.fields.slice(1)).toEqual([
      'm',
      'NOK',
      'Remote endpoint does not support 100rel',
    ])
    expect(bench.sent()).toEqual([])
    bench.respond(txnId, 180)
    expect(bench.statuses()).toEqual([180])
  })
  it('replaces a plain one if the caller requires 100rel, except for a 100', () => {
    const txnId = invite(rel)
    bench.respond(txnId, 100)
    expect(only().headers.first('rseq')).toBeUndefined()
    const { response } = progress(txnId, {})
    expect(response.headers.all('require')).toEqual(['100rel'])
    expect(response.headers.first('rseq')).toBeDefined()
  })
  it('is left to the application if the caller only supports 100rel', () => {
    const txnId = invite()
    const { response } = progress(txnId, {})
    expect(response.headers.first('rseq')).toBeUndefined()
    bench.respond(txnId, 200, {}, sdp)
    expect(bench.statuses()).toEqual([200])
  })
})

describe('answers during the wait for a PRACK', () => {
  it('are sent in order: reliable ones, responses after them, and the 200', () => {
    const txnId = invite()
    const first = progress(txnId)
    bench.received()
    bench.respond(txnId, 183, rel, '', 'second')
    bench.respond(txnId, 180, {}, '', 'plain')
    bench.respond(txnId, 200, {}, sdp, 'final')
    expect([bench.sent(), bench.received()]).toEqual([[], []])
    bench.respond(txnId, 486, {}, '', 'late')
    expect(bench.received()[0]?.fields[3]).toBe('Response not sent due to unknown transaction')

    prack(first.rseq, first.tag)
    const second = only()
    expect([second.status, Number(second.headers.first('rseq'))]).toEqual([183, first.rseq + 1])
    // The PRACK is delivered before the response that it releases.
    expect(bench.received().map(({ fields }) => fields[0] === 'sip' || fields[1])).toEqual([true, 'second'])
    prack(first.rseq + 1, first.tag, 3)
    expect(bench.statuses()).toEqual([180, 200])
    expect(
      bench
        .received()
        .map(({ fields }) => fields[1])
        .slice(1),
    ).toEqual(['plain', 'final'])
  })
  it('are sent at once if they are plain and nothing waits', () => {
    const txnId = invite()
    progress(txnId)
    bench.respond(txnId, 180)
    expect(bench.statuses()).toEqual([180])
  })
  it('are limited in number', () => {
    const txnId = invite()
    progress(txnId)
    bench.received()
    for (let i = 0; i < 20; i++) bench.respond(txnId, 183, rel)
    expect(bench.received().map(({ fields }) => fields[3])).toEqual(
      Array(4).fill('too many responses wait for a PRACK'),
    )
  })
  it('are sent at once if they are rejections, and a crossing PRACK is answered', () => {
    const txnId = invite()
    const { rseq, tag } = progress(txnId)
    bench.respond(txnId, 183, rel, '', 'never')
    bench.received()
    bench.respond(txnId, 486, {}, '', 'busy')
    expect(bench.statuses()).toEqual([486])
    expect(bench.received().map(({ fields }) => fields.slice(1, 3))).toEqual([
      ['never', 'NOK'],
      ['busy', 'OK'],
    ])
    prack(rseq, tag)
    expect(bench.statuses()).toEqual([200])
    prack(rseq, tag, 3)
    expect(bench.statuses()).toEqual([481])
    bench.receive('ACK', 1, 'i', { To: `<sip:b@192.0.2.1>;tag=${tag}` })
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
  it('are rejected if a CANCEL ends the call', () => {
    const txnId = invite()
    progress(txnId)
    bench.respond(txnId, 200, {}, sdp, 'final')
    bench.received()
    bench.receive('CANCEL', 1, 'i')
    expect(bench.statuses()).toEqual([200, 487])
    expect(bench.received().map(({ fields }) => fields.slice(1, 3))).toEqual([
      ['final', 'NOK'],
      ['network', '100'],
    ])
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
  it('survive the loss of the application', () => {
    const txnId = invite()
    progress(txnId)
    bench.respond(txnId, 200, {}, sdp)
    bench.incoming.lost(bench.app)
    expect(bench.statuses()).toEqual([503])
    bench.clock.advance(64_000)
    expect(bench.held()).toEqual(nothing)
  })
})

describe('a PRACK', () => {
  it.each([
    ['another number', { RAck: '7 1 INVITE' }, 481],
    ['another INVITE', { RAck: '@ 9 INVITE' }, 481],
    ['another method', { RAck: '@ 1 UPDATE' }, 481],
    ['no RAck', { RAck: '' }, 400],
    ['another dialog', { RAck: '@ 1 INVITE', To: '<sip:b@192.0.2.1>;tag=x' }, 481],
  ])('with %s is rejected', (_what, lines, status) => {
    const { rseq, tag } = progress(invite())
    prack(rseq, tag, 2, { ...lines, RAck: lines.RAck.replace('@', String(rseq)) })
    expect(bench.statuses()).toEqual([status])
  })
  it('that arrives twice matches once', () => {
    const { rseq, tag } = progress(invite())
    bench.received()
    prack(rseq, tag)
    prack(rseq, tag, 3)
    expect(bench.handed()).toHaveLength(1)
    expect(bench.statuses()).toEqual([481])
  })
})

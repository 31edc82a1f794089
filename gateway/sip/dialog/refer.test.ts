import { beforeEach, describe, expect, it } from 'vitest'
import type { Leg, LegOwner } from '../../calls/leg/leg.ts'
import type { Referral } from '../../calls/leg/referral.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { Target } from '../../model.ts'
import { type DialogBench, establish } from '../testing/dialog-rig.ts'
import { TestEdge } from '../testing/fake-edge.ts'
import type { DialogOrigin } from './known-dialogs.ts'
import { Transfers } from './transfers.ts'

const known: Readonly<Record<string, Target>> = {
  '/public/bob': { kind: 'subscriber', subscriberId: 'bob', address: '/public/bob' },
  '/private/safe': { kind: 'subscriber', subscriberId: 'safe', address: '/private/safe' },
  '/public/menu': {
    kind: 'handler',
    handler: { kind: 'xml', document: '<Response/>', name: 'menu' },
    address: '/public/menu',
  },
  '/sales/desk': { kind: 'subscriber', subscriberId: 'desk', address: '/sales/desk' },
  '+4930': { kind: 'sip', uri: 'sip:+4930@carrier.example' },
  'sip:bob@demo.example': { kind: 'sip', uri: 'sip:bob@demo.example' },
  'sip:x@elsewhere.example': { kind: 'sip', uri: 'sip:x@elsewhere.example' },
}
const carrier: DialogOrigin = { projectId: 'p1', carrier: 'main', source: '192.0.2.9' }
const endpoint = (mayDialOut: boolean): DialogOrigin => ({
  projectId: 'p1',
  endpoint: { id: 'desk', address: '/public/desk', mayDialOut },
  source: '192.0.2.9',
})
const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

/** Owner that accepts transfers and replacements, like a call with two connected parties. */
class Talking implements LegOwner {
  referral: Referral | undefined
  by: Leg | undefined
  willing = true
  legEarly(): void {}
  legAnswered(): void {}
  legDigit(): void {}
  legHeld(): void {}
  legEnded(): void {}
  legReferred(_leg: Leg, referral: Referral): boolean {
    this.referral = referral
    return this.willing
  }
  legReplaced(leg: Leg, by: Leg): boolean {
    if (!this.willing) return false
    this.by = by
    leg.end({ code: 'answered_elsewhere' })
    return true
  }
}

let edge: TestEdge
let transfers: Transfers
let bench: DialogBench
let owner: Talking
const begin = (origin: DialogOrigin = carrier, tag = 'theirs') => {
  const made = establish({ parts: { transfers, origin }, dialogTag: tag })
  const talking = new Talking()
  made.leg.own(talking)
  return { made, talking }
}
const notified = (made: DialogBench) =>
  made.dialog.requests
    .filter(({ method }) => method === 'NOTIFY')
    .map(({ headers, body }) => [body?.trim(), headers['Subscription-State']?.split(';')[0]])
const refer = (made: DialogBench, to: string, headers: Record<string, string> = {}) =>
  made.receive('REFER', '', { 'refer-to': to, ...headers })

beforeEach(() => {
  edge = new TestEdge()
  transfers = new Transfers(
    {
      addresses: { resolve: (to) => known[to] },
      isOwnHost: (host, projectId) => host === 'demo.example' && projectId === 'p1',
      countReferral: () => () => {},
    },
    edge,
    new FakeClock(),
    new Metrics(),
  )
  ;({ made: bench, talking: owner } = begin())
})

describe('permitted targets of a REFER', () => {
  const target = (value: string, origin: DialogOrigin) => {
    const uri = value.startsWith('sip:') ? `<${value}>` : `<tel:${value}>`
    const request = establish({ parts: { transfers, origin } })
    const talking = new Talking()
    request.leg.own(talking)
    const { statuses } = refer(request, uri)
    return talking.referral?.to ?? statuses[0]
  }

  it.each([
    ['sip:bob@demo.example', '/public/bob', '/public/bob', '/public/bob'],
    ['sip:nobody@demo.example', 404, 404, 404],
    ['sip:menu@demo.example', '/public/menu', '/public/menu', '/public/menu'],
    ['sip:%2Fpublic%2Fmenu@demo.example', '/public/menu', '/public/menu', '/public/menu'],
    ['sip:safe@demo.example', 403, '/private/safe', '/private/safe'],
    ['sip:%2Fsales%2Fdesk@demo.example', 403, '/sales/desk', '/sales/desk'],
    ['sip:+4930@demo.example', 403, 403, '+4930'],
    ['+4930', 403, 403, '+4930'],
    ['sip:x@elsewhere.example', 403, 403, 'sip:x@elsewhere.example'],
    ['sip:y@elsewhere.example', 403, 403, 404],
  ])(
    'with Refer-To %s: from a carrier %s, from an endpoint %s, from an endpoint that may dial out %s',
    (value, ...expected) => {
      expect([carrier, endpoint(false), endpoint(true)].map((origin) => target(value, origin))).toEqual(
        expected,
      )
    },
  )

  it('are those of the target domain’s project, not of the own project with the same name', () => {
    const inOther = (origin: DialogOrigin) => target('sip:bob@demo.example', { ...origin, projectId: 'p2' })
    expect([carrier, endpoint(false), endpoint(true)].map(inOther)).toEqual([
      403,
      403,
      'sip:bob@demo.example',
    ])
  })
})

describe('REFER', () => {
  it('is accepted, and its progress is reported by NOTIFY until the end', () => {
    const response = refer(bench, '<sip:bob@demo.example>', { 'referred-by': '<sip:a@b.example>' })
    expect([response.statuses, owner.referral?.referredBy]).toEqual([[202], '<sip:a@b.example>'])
    owner.referral?.progress(180)
    owner.referral?.progress(200)
    owner.referral?.progress(486)
    expect(notified(bench)).toEqual([
      ['SIP/2.0 100 Trying', 'active'],
      ['SIP/2.0 180 Ringing', 'active'],
      ['SIP/2.0 200 OK', 'terminated'],
    ])
    expect(bench.dialog.requests[0]?.headers).toMatchObject({
      Event: 'refer',
      'Content-Type': 'message/sipfrag;version=2.0',
    })
  })

  it('has an id in Event from the second one on', () => {
    refer(bench, '<sip:bob@demo.example>', { cseq: '5 REFER' })
    owner.referral?.progress(486)
    refer(bench, '<sip:bob@demo.example>', { cseq: '6 REFER' })
    expect(bench.dialog.requests.map(({ headers }) => headers.Event)).toEqual([
      'refer',
      'refer',
      'refer;id=6',
    ])
  })

  it('is not followed by NOTIFY if the sender wants none', () => {
    const [accepted] = refer(bench, '<sip:bob@demo.example>', { 'refer-sub': 'false' }).sent
    owner.referral?.progress(200)
    expect([accepted?.status, accepted?.headers['Refer-Sub'], notified(bench)]).toEqual([202, 'false', []])
  })

  it('is not followed by NOTIFY after the end of the dialog', () => {
    refer(bench, '<sip:bob@demo.example>')
    bench.dialog.emit('destroy', {}, 'normal release')
    owner.referral?.progress(200)
    expect(notified(bench)).toHaveLength(1)
  })

  it('is rejected without a party to transfer, and when it makes no sense', () => {
    owner.willing = false
    expect(refer(bench, '<sip:bob@demo.example>').statuses).toEqual([603])
    expect(refer(bench, 'nonsense').statuses).toEqual([400])
    expect(establish().receive('REFER', '', { 'refer-to': '<sip:bob@demo.example>' }).statuses).toEqual([405])
  })
})

describe('a NOTIFY', () => {
  it.each([
    [404, 'Not Found'],
    [408, 'Request Timeout'],
    [480, 'Temporarily Unavailable'],
    [483, 'Too Many Hops'],
    [502, 'Bad Gateway'],
    [603, 'Decline'],
    [699, 'Status'],
  ])('reports the final status unchanged: %i', (status, reason) => {
    refer(bench, '<sip:bob@demo.example>')
    owner.referral?.progress(status)
    expect(notified(bench).at(-1)).toEqual([`SIP/2.0 ${status} ${reason}`, 'terminated'])
  })
})

describe('REFER with Replaces', () => {
  const replaces = (tag: string) =>
    `<sip:c@demo.example?Replaces=call%40peer%3Bto-tag%3Dours%3Bfrom-tag%3D${tag}>`

  it('connects the other parties of two calls of one party, and ends both legs of that party', async () => {
    const { made: second, talking: other } = begin(carrier, 'second')
    expect(refer(bench, replaces('second')).statuses).toEqual([202])
    await settle()
    expect(notified(bench).at(-1)).toEqual(['SIP/2.0 200 OK', 'terminated'])
    expect([bench.leg.isEnded, second.leg.isEnded]).toEqual([true, true])
    const here = owner.by!
    const there = other.by!
    expect(edge.ports.map(({ far }) => far?.port)).toEqual([edge.ports[1]?.port, edge.ports[0]?.port])
    expect([here.port?.group, there.port?.group]).toEqual([bench.port.group, second.port.group])
    // Actions of each party reach the other one.
    const heard: string[] = []
    there.own({
      ...quiet,
      legDigit: (_leg, digit) => void heard.push(digit),
      legEnded: () => heard.push('ended'),
    })
    await here.sendDigits('1w2')
    here.end({ code: 'normal' })
    expect(heard).toEqual(['1', '2', 'ended'])
    expect(edge.used).toBe(0)
  })

  it('is rejected for a call of another party, for its own call, and for an unknown call', () => {
    begin(endpoint(true), 'foreign')
    for (const tag of ['foreign', 'theirs', 'unknown'])
      expect(refer(bench, replaces(tag)).statuses).toEqual([603])
  })

  it('reports a failure, and leaves both calls unchanged', async () => {
    const { made: second, talking: other } = begin(carrier, 'second')
    other.willing = false
    refer(bench, replaces('second'))
    // Only one REFER may be pending.
    expect(refer(bench, replaces('second')).statuses).toEqual([603])
    await settle()
    expect(notified(bench).at(-1)).toEqual(['SIP/2.0 603 Decline', 'terminated'])
    expect([bench.leg.isEnded, second.leg.isEnded, edge.used]).toEqual([false, false, 0])
    edge.exhausted = true
    refer(bench, replaces('second'), { cseq: '9 REFER' })
    await settle()
    expect(notified(bench).at(-1)).toEqual(['SIP/2.0 503 Service Unavailable', 'terminated'])
  })

  it('leaves no media port open after a failure at any step', async () => {
    const { talking: other } = begin(carrier, 'second')
    other.legReplaced = () => {
      throw new Error('the media thread died')
    }
    refer(bench, replaces('second'))
    await settle()
    expect(notified(bench).at(-1)).toEqual(['SIP/2.0 500 Server Internal Error', 'terminated'])
    expect([edge.ports.length, edge.used]).toEqual([2, 0])
  })
})

describe('REFER of the gateway', () => {
  const asked = (options = {}) => {
    const outcome = bench.established.refer('sip:c@far.example', options)
    return { outcome, sent: bench.dialog.requests.at(-1)! }
  }
  const notify = (body: string, state = 'active') =>
    bench.receive('NOTIFY', body, { event: 'refer', 'subscription-state': state }).statuses[0]

  it('is followed by NOTIFYs until the end', async () => {
    const { outcome, sent } = asked({ referredBy: 'sip:us@demo.example' })
    expect(sent).toMatchObject({
      method: 'REFER',
      headers: { 'Refer-To': '<sip:c@far.example>', 'Referred-By': '<sip:us@demo.example>' },
    })
    sent.reply(202)
    expect(notify('SIP/2.0 100 Trying')).toBe(200)
    expect(notify('SIP/2.0 200 OK\r\n', 'terminated;reason=noresource')).toBe(200)
    expect(await outcome).toEqual({ kind: 'completed', status: 202, notifyStatus: 200 })
    expect([notify('SIP/2.0 200 OK'), bench.clock.running]).toEqual([481, 0])
  })

  it.each([
    ['a refusal', (t: ReturnType<typeof asked>) => t.sent.reply(603), { kind: 'failed', status: 603 }],
    [
      'a lost connection',
      (t: ReturnType<typeof asked>) => t.sent.fail(new Error('lost')),
      { kind: 'failed', status: 503 },
    ],
    [
      'a far side that will tell nothing',
      (t: ReturnType<typeof asked>) => t.sent.reply(202, { headers: { 'Refer-Sub': 'false' } }),
      { kind: 'completed', status: 202 },
    ],
    [
      'a subscription that ends without a word',
      () => notify('', 'terminated'),
      { kind: 'canceled', status: 202 },
    ],
    ['no response in time', () => bench.clock.advance(60_000), { kind: 'no-answer', status: 408 }],
    [
      'no final NOTIFY in time',
      (t: ReturnType<typeof asked>) => {
        t.sent.reply(202)
        notify('SIP/2.0 180 Ringing')
        bench.clock.advance(60_000)
      },
      { kind: 'no-answer', status: 202, notifyStatus: 180 },
    ],
    [
      'a busy callee',
      (t: ReturnType<typeof asked>) => {
        t.sent.reply(202)
        notify('SIP/2.0 486 Busy Here')
      },
      { kind: 'busy', status: 202, notifyStatus: 486 },
    ],
    ['the end of the call', () => bench.leg.end({ code: 'normal' }), { kind: 'canceled', status: 408 }],
  ])('ends with %s', async (_name, happen, outcome) => {
    const t = asked()
    happen(t)
    expect(await t.outcome).toEqual(outcome)
  })

  it('is answered with credentials if the far side challenges it', async () => {
    const { outcome, sent } = asked({ credentials: { username: 'ann', password: 'secret' } })
    sent.reply(407, {
      headers: { 'Proxy-Authenticate': 'Digest realm="far.example", nonce="n1", algorithm=MD5, qop="auth"' },
    })
    const again = bench.dialog.requests.at(-1)!
    expect(again).not.toBe(sent)
    expect(again.headers['Proxy-Authorization']).toMatch(/^Digest username="ann", realm="far.example"/)
    again.reply(202, { headers: { 'Refer-Sub': 'false' } })
    expect(await outcome).toEqual({ kind: 'completed', status: 202 })
  })

  it('is sent one at a time, and only to SIP URIs', async () => {
    asked()
    expect(await bench.established.refer('sip:d@far.example')).toEqual({ kind: 'failed', status: 491 })
    expect(await bench.established.refer('+4930')).toEqual({ kind: 'failed', status: 400 })
    bench.leg.end({ code: 'normal' })
    expect(await bench.established.refer('sip:d@far.example')).toEqual({ kind: 'failed', status: 481 })
  })
})

it('is forgotten with its dialog', () => {
  bench.leg.end({ code: 'normal' })
  expect(transfers.dialogs.size).toBe(0)
})

const quiet: LegOwner = {
  legEarly: () => {},
  legAnswered: () => {},
  legDigit: () => {},
  legHeld: () => {},
  legEnded: () => {},
}

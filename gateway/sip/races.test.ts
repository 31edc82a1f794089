import pino from 'pino'
import { beforeEach, expect, it } from 'vitest'
import type { MediaPort, PortOptions } from '../../media/types.ts'
import type { Arrival } from '../calls/call/arrival.ts'
import type { Leg } from '../calls/leg/leg.ts'
import { FakeClock } from '../core/clock.ts'
import { Metrics } from '../core/metrics.ts'
import { Trust } from './admission/trust.ts'
import type { SipEdge } from './sip-edge.ts'
import { carrierSdp, type EdgeChanges, Heard, makeEdge, testApp, wish } from './testing/bench.ts'
import { TestEdge } from './testing/fake-edge.ts'
import { FakeDialog, FakeRequest, FakeResponse, FakeSrf, farResponse } from './testing/fake-srf.ts'

/** An edge whose ports open when the test says so. */
class SlowEdge extends TestEdge {
  readonly opening: (() => void)[] = []
  override async open(options: PortOptions): Promise<MediaPort> {
    await new Promise<void>((resolve) => this.opening.push(resolve))
    return super.open(options)
  }
}

let srf: FakeSrf
let clock: FakeClock
let edge: TestEdge
let arrivals: Arrival[]
let sip: SipEdge
const arrive = (arrival: Arrival) => arrivals.push(arrival) && arrival.leg.whenGone(() => arrival.onOver?.())
const start = async (
  changes: EdgeChanges & { readonly media?: { readonly edge: TestEdge } } = {},
  isEmbedded = true,
) => {
  srf = new FakeSrf()
  clock = new FakeClock()
  edge = new TestEdge()
  arrivals = []
  const app = testApp()
  sip = makeEdge(
    { host: '127.0.0.1', port: 1, secret: 's', isEmbedded },
    {
      directory: {
        domainApp: (host) => (host === app.domain ? app : undefined),
        endpointByName: () => undefined,
        resolve: () => undefined,
      },
      media: { edge },
      arrivals: { arrive },
      metrics: new Metrics(),
      log: pino({ level: 'silent' }),
      clock,
      srf,
      userAgent: '',
      ...changes,
    },
    () => arrivals.length,
  )
  await sip.start()
}
beforeEach(() => start())

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
const invite = (body = carrierSdp({ address: '192.0.2.9' }), headers = {}) => {
  const request = new FakeRequest('INVITE', 'sip:1@demo.example', body, headers)
  return { request, response: srf.invite(request) }
}
const arrived = async () => {
  const made = invite()
  await settled()
  const { leg } = arrivals.at(-1)!
  return { ...made, leg, heard: new Heard(leg) }
}
const dialled = async () => {
  const leg = sip.dial({ kind: 'sip', uri: 'sip:x@carrier.example' }, wish('sip:x@carrier.example'))
  const heard = new Heard(leg)
  await settled()
  return { leg, heard, uac: srf.invites.at(-1)! }
}
const fail = (): never => {
  throw new Error('broken')
}
const nothingLeft = () => {
  expect([sip.legs, edge.used, sip.busyDomains, clock.running]).toEqual([0, 0, 0, 0])
}
const lose = () => {
  srf.events.emit('close')
  clock.advance(3_000)
}

it.each([
  [{ contact: '' }, 400],
  [{ from: '<sip:a@b>, <sip:c@d>' }, 400],
  [{ to: '' }, 400],
  [{ 'call-id': '' }, 400],
  [{ 'content-type': 'multipart/mixed' }, 415],
  [{ require: 'precondition' }, 420],
])('an INVITE with %j is rejected before admission', async (headers, status) => {
  const { response } = invite(undefined, headers)
  await settled()
  expect(response.statuses).toEqual([status])
  expect(arrivals).toEqual([])
  nothingLeft()
})

it('a caller who gives up while the port opens causes an ended call', async () => {
  const slow = new SlowEdge()
  await start({ media: { edge: slow } })
  const { request, response } = invite()
  request.emit('cancel')
  slow.opening[0]?.()
  await settled()
  expect(arrivals.map(({ leg }) => leg.isEnded)).toEqual([true])
  expect([response.statuses.length, slow.used, sip.legs, sip.busyDomains]).toEqual([0, 0, 0, 0])
})

it('calls during set-up count towards the limit', async () => {
  const slow = new SlowEdge()
  await start({ media: { edge: slow }, maxCalls: 1 })
  const first = invite()
  const second = invite()
  expect([first.response.statuses, second.response.statuses]).toEqual([[], [503]])
  slow.opening[0]?.()
  await settled()
  expect(arrivals).toHaveLength(1)
})

it('a leg whose 200 is too late for a CANCEL ends', async () => {
  const { leg, heard } = await arrived()
  const answer = leg.answer()
  srf.answers[0]?.done('Response not sent due to unknown transaction')
  await answer
  expect(heard.events).toEqual(['ended canceled by far'])
  nothingLeft()
})

it('a known caller’s call continues without an ACK after two seconds', async () => {
  const domains = [{ allow: [new FakeRequest('INVITE', 'sip:x@y').source_address] }]
  await start({ trust: new Trust({ domains, carriers: [], sip: { registrar: { domains: [] } } }) })
  const { leg, heard } = await arrived()
  void leg.answer()
  const dialog = new FakeDialog()
  srf.answers[0]?.done(null, dialog)
  clock.advance(1_999)
  expect(heard.events).toEqual([])
  clock.advance(1)
  expect(heard.events).toEqual(['answered'])
  dialog.emit('destroy', {}, 'ACK timeout')
  expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'unreachable', detail: 'ACK timeout' } })
  nothingLeft()
})

it('a leg that ended between its 200 and its dialog is hung up', async () => {
  const { leg } = await arrived()
  void leg.answer()
  leg.end({ code: 'normal' })
  const dialog = new FakeDialog()
  srf.answers[0]?.done(null, dialog)
  expect(dialog.byes).toHaveLength(0)
  dialog.emit('ack', {})
  expect(dialog.byes).toHaveLength(1)
  dialog.byes[0]?.()
  nothingLeft()
})

it('a call without an ACK is hung up finally', async () => {
  const { leg } = await arrived()
  void leg.answer()
  const dialog = new FakeDialog()
  srf.answers[0]?.done(null, dialog)
  leg.end({ code: 'normal' })
  clock.advance(40_000)
  expect(dialog.byes).toHaveLength(1)
  dialog.byes[0]?.()
  nothingLeft()
})

it('a call is answered once, and only the first end counts', async () => {
  const { leg, response } = await arrived()
  const first = leg.answer()
  const second = leg.answer()
  const dialog = new FakeDialog()
  srf.answers[0]?.done(null, dialog)
  dialog.emit('ack', {})
  await Promise.all([first, second])
  dialog.emit('destroy', {}, 'normal release')
  leg.end({ code: 'normal' })
  expect([srf.answers.length, dialog.byes.length]).toEqual([1, 0])
  expect(response.statuses).toEqual([200])
  nothingLeft()
})

it('a call survives an unusable request inside the dialog', async () => {
  const { leg } = await arrived()
  void leg.answer()
  const dialog = new FakeDialog()
  srf.answers[0]?.done(null, dialog)
  const broken = Object.assign(new FakeResponse(), { send: fail })
  expect(() => dialog.emit('info', new FakeRequest('INFO', 'sip:x@y'), broken)).not.toThrow()
})

it.each(['new', 'answering', 'answered', 'hanging up'] as const)(
  'an inbound leg that is %s ends with the connection, even if no promise ever settles',
  async (state) => {
    const { leg } = await arrived()
    const answer = state === 'new' ? undefined : leg.answer()
    if (state === 'answered' || state === 'hanging up') {
      const dialog = new FakeDialog()
      srf.answers[0]?.done(null, dialog)
      dialog.emit('ack', {})
      if (state === 'hanging up') leg.end({ code: 'normal' })
    }
    lose()
    await answer
    expect(leg.isEnded).toBe(true)
    nothingLeft()
  },
)

it('an outbound leg whose INVITE never settles ends with the connection', async () => {
  const { heard } = await dialled()
  lose()
  expect(heard.events).toEqual(['ended control_lost by far'])
  nothingLeft()
})

it('the legs of a new connection stay when the old one is given up', async () => {
  const old = await dialled()
  srf.events.emit('close')
  srf.events.emit('connect', null, 'udp/127.0.0.1:5060')
  const fresh = await dialled()
  clock.advance(3_000)
  expect([old.leg.isEnded, fresh.leg.isEnded]).toEqual([true, false])
})

it('a CANCEL is sent as soon as the INVITE is known', async () => {
  const { leg, uac } = await dialled()
  leg.end({ code: 'no_answer' })
  const request = new FakeRequest('INVITE', 'sip:x@carrier.example')
  uac.progress.cbRequest(null, request)
  expect(request.canceled).toBe(1)
  uac.settle({ status: 487, reason: 'Terminated', res: farResponse(487) })
  nothingLeft()
})

it('an INVITE without an answer to its CANCEL is forgotten, and hung up if it is answered later', async () => {
  const { leg, uac } = await dialled()
  uac.progress.cbRequest(null, new FakeRequest('INVITE', 'sip:x@carrier.example'))
  leg.end({ code: 'no_answer' })
  clock.advance(40_000)
  nothingLeft()
  const dialog = new FakeDialog(carrierSdp())
  uac.settle(null, dialog)
  expect(dialog.byes).toHaveLength(1)
  dialog.byes[0]?.()
  nothingLeft()
})

it('dialing fails without a connection, or if drachtio-srf throws', async () => {
  srf.broken = new Error('AssertionError')
  const thrown = await dialled()
  expect(thrown.leg.state).toMatchObject({ kind: 'ended', cause: { code: 'unreachable' } })
  srf.events.emit('close')
  const without = await dialled()
  expect(without.heard.events).toEqual(['ended control_lost by far'])
  clock.advance(3_000)
  nothingLeft()
})

it('the port of a leg that ends while the port opens is closed', async () => {
  const slow = new SlowEdge()
  await start({ media: { edge: slow } })
  const { leg } = await dialled()
  leg.end({ code: 'canceled' })
  slow.opening[0]?.()
  await settled()
  expect([slow.used, sip.legs, srf.invites.length]).toEqual([0, 0, 0])
})

it('messages to a drachtio-server stay below its limit of size', async () => {
  await start({}, false)
  const headers = Array.from({ length: 4 }, (_each, at) => ({ name: `X-${at}`, value: 'y'.repeat(1_000) }))
  const uri = 'sip:x@carrier.example'
  const leg: Leg = sip.dial({ kind: 'sip', uri }, wish(uri, { headers }))
  await settled()
  expect(leg.state).toMatchObject({ kind: 'ended', cause: { code: 'bad_request' } })
  expect(srf.invites).toEqual([])
  nothingLeft()
})

it('a call can have the early media of one branch and the answer of another', async () => {
  const { heard, uac } = await dialled()
  uac.progress.cbProvisional(farResponse(183, carrierSdp({ address: '192.0.2.1' })))
  uac.progress.cbProvisional(farResponse(183, carrierSdp({ formats: '18' })))
  uac.settle(null, new FakeDialog(carrierSdp({ address: '192.0.2.2', formats: '8' })))
  expect(heard.events).toEqual(['early media', 'ringing', 'answered'])
  expect(edge.ports[0]?.farUpdates.map(({ far }) => far.address)).toEqual(['192.0.2.1', '192.0.2.2'])
})

it('the media address is learned from the signalling source if the SDP has a private address', async () => {
  const request = new FakeRequest('INVITE', 'sip:1@demo.example', carrierSdp({ address: '10.0.0.5' }))
  Object.assign(request, { source_address: '203.0.113.5' })
  srf.invite(request)
  await settled()
  expect(edge.ports[0]?.far?.learnFrom).toEqual(['203.0.113.5'])
})

it('a call that cannot be started ends', async () => {
  await start({ arrivals: { arrive: fail } })
  const { response } = invite()
  await settled()
  expect(response.statuses).toEqual([500])
  nothingLeft()
})

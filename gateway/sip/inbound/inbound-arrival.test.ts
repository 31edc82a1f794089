import pino from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Arrival, Arrivals } from '../../calls/call/arrival.ts'
import type { LegOwner } from '../../calls/leg/leg.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { AdmittedCall } from '../admission/call-counts.ts'
import { type Connection, capabilitiesOf } from '../agent-link.ts'
import { Transfers } from '../dialog/transfers.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { readOffer, SipAudio } from '../media/sip-audio.ts'
import { SipLegs } from '../sip-legs.ts'
import { establish, farSdp } from '../testing/dialog-rig.ts'
import { TestEdge } from '../testing/fake-edge.ts'
import { FakeDialog, FakeRequest, FakeResponse, FakeSrf } from '../testing/fake-srf.ts'
import { Inbound, type InviteTerms } from './inbound.ts'
import { InboundInvite } from './inbound-invite.ts'

const party = { uri: 'sip:a@b.example', user: 'a', name: '' }

let clock: FakeClock
let edge: TestEdge
let srf: FakeSrf
let released = 0
let left = 0
let over = 0
let refused: string[]
beforeEach(() => {
  clock = new FakeClock()
  edge = new TestEdge()
  srf = new FakeSrf()
  released = 0
  left = 0
  over = 0
  refused = []
})

const open = ({ arrivals = { arrive: () => {} }, onAdd = () => {} }: Changes = {}): Inbound => {
  const metrics = new Metrics()
  const log = pino({ level: 'silent' })
  const transfers = new Transfers(
    { addresses: { resolve: () => undefined }, isOwnHost: () => false, countReferral: () => () => {} },
    edge,
    clock,
    metrics,
  )
  const capabilities = capabilitiesOf({ isEmbedded: true })
  const link = { srf, connection: { isAlive: true }, capabilities }
  const legs = new SipLegs(clock)
  const { add } = legs
  legs.add = (leg) => {
    onAdd()
    add.call(legs, leg)
  }
  return new Inbound({
    context: { link, headers: new GatewayHeaders(), clock, log },
    legs,
    admission: { admit: () => expect.unreachable(), telTarget: () => undefined },
    refusals: {
      refuse: (_response, code, { err }, { detail } = {}) => refused.push(String(err ?? detail ?? code)),
    },
    audio: new SipAudio(edge, clock),
    arrivals,
    transfers,
  })
}

interface Changes {
  readonly arrivals?: Arrivals
  /** Called when a leg gets its SIP side. */
  readonly onAdd?: () => void
}

const setUp = (
  inbound: Inbound,
  admitted: Partial<AdmittedCall> = {},
  terms: Partial<InviteTerms> = {},
  connection: Connection = { isAlive: true },
): { readonly request: FakeRequest; readonly done: Promise<void> } => {
  const request = new FakeRequest('INVITE', 'sip:x@y', farSdp())
  const entry: AdmittedCall = {
    domain: 'y',
    projectId: 'p',
    rates: [],
    isUnconfirmed: false,
    onConfirmed: () => {},
    standing: 'known',
    release: () => released++,
    releaseLeg: () => left++,
    releaseCall: () => over++,
    plan: { kind: 'dial', to: '/public/x' },
    ...admitted,
  }
  const parties = { from: party, to: party, sipCallId: 'x' }
  const invite = new InboundInvite(request, new FakeResponse(), connection, entry, parties)
  const offer = readOffer(request, farSdp())
  return { request, done: inbound.setUp(invite, { offer, ...terms }) }
}

it.each([
  [{}, 0],
  [{ app: { encryption: 'required' } }, 1],
  [{ endpoint: { id: 'e1', encryption: 'required' } }, 1],
  // Neither the application nor the endpoint can weaken the requirement of the other.
  [{ app: { encryption: 'optional' }, endpoint: { id: 'e1', encryption: 'required' } }, 1],
  [{ app: { encryption: 'required' }, endpoint: { id: 'e1' } }, 1],
] as const)(
  'a call is accepted with plain RTP only if encryption is not required: %j',
  async (more, count) => {
    await setUp(open(), more as unknown as Partial<AdmittedCall>).done
    expect(refused).toHaveLength(count)
    for (const reason of refused) expect(reason).toContain('RTP/AVP')
  },
)

it('a call whose leg cannot be created leaves no media port and no counted call', async () => {
  const onAdd = () => {
    throw new Error('no room')
  }
  await setUp(open({ onAdd })).done
  expect([refused, released, edge.ports.length, edge.used]).toEqual([['Error: no room'], 1, 1, 0])
})

it('a leg that fails to replace another one ends', async () => {
  const old = establish()
  const owner = {
    legReplaced: () => {
      throw new Error('the media thread died')
    },
  } as Partial<LegOwner> as LegOwner
  old.leg.own(owner)
  await setUp(open(), {}, { replaces: old.leg }).done
  const dialog = new FakeDialog()
  srf.answers[0]?.done(null, dialog)
  dialog.emit('ack', { body: '' })
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  expect(dialog.byeHeaders[0]?.Reason).toMatch(/^Q\.850;cause=41;/)
  expect([left, over, released, edge.used, old.leg.isAnswered]).toEqual([1, 1, 0, 0, true])
})

it('a call counts until it ends, even after its caller has left', async () => {
  const arrived: Arrival[] = []
  await setUp(open({ arrivals: { arrive: (arrival) => arrived.push(arrival) } })).done
  arrived[0]!.leg.ended({ code: 'normal' })
  // The carrier's call slot, which the leg held, is free again.
  expect([left, over, released]).toEqual([1, 0, 0])
  arrived[0]!.onOver?.()
  expect([left, over, released]).toEqual([1, 1, 0])
})

it('a call that could not be started no longer counts', async () => {
  const arrive = () => {
    throw new Error('no room')
  }
  await setUp(open({ arrivals: { arrive } })).done
  expect([left, over, edge.used]).toEqual([1, 1, 0])
})

describe('a caller who leaves while the media port opens', () => {
  const gone = async (
    happens: (made: { request: FakeRequest; connection: { isAlive: boolean } }) => void,
    terms: Partial<InviteTerms> = {},
  ) => {
    const arrived: Arrival[] = []
    const onAdd = () => void arrived.splice(0)
    const connection = { isAlive: true }
    const inbound = open({ onAdd, arrivals: { arrive: (arrival) => arrived.push(arrival) } })
    const { request, done } = setUp(inbound, {}, terms, connection)
    happens({ request, connection })
    await done
    expect([released, edge.ports.length, edge.used, refused]).toEqual([1, 1, 0, []])
    return arrived
  }
  const cancel = ({ request }: { request: FakeRequest }) =>
    request.emit('cancel', new FakeRequest('CANCEL', 'sip:x@y', '', { reason: 'SIP;cause=200' }))

  it('makes an ended call with all known facts', async () => {
    const [arrival, ...more] = await gone(cancel)
    expect(more).toEqual([])
    expect(arrival).toMatchObject({
      projectId: 'p',
      plan: { to: '/public/x' },
      sip: { callId: 'x', domain: 'y' },
    })
    const cause = { code: 'canceled', detail: 'SIP;cause=200' }
    expect(arrival?.leg).toMatchObject({ from: party, to: party, state: { kind: 'ended', by: 'far', cause } })
  })

  it('makes an ended call also if the agent is lost', async () => {
    const [arrival] = await gone(({ connection }) => {
      connection.isAlive = false
    })
    expect(arrival?.leg.state).toMatchObject({ kind: 'ended', cause: { code: 'control_lost' } })
  })

  it('makes no leg of an INVITE with Replaces', async () => {
    expect(await gone(cancel, { replaces: establish().leg })).toEqual([])
  })
})

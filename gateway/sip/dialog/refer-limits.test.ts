import { beforeEach, expect, it } from 'vitest'
import type { Referral } from '../../calls/leg/referral.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Code } from '../../core/errors/catalogue.ts'
import { Metrics } from '../../core/metrics.ts'
import { rejected } from '../testing/bench.ts'
import { establish, ownerOf } from '../testing/dialog-rig.ts'
import { TestEdge } from '../testing/fake-edge.ts'
import type { DialogOrigin } from './known-dialogs.ts'
import { Transfers } from './transfers.ts'

let counted: string[]
let limit: Code | undefined
let metrics: Metrics
beforeEach(() => {
  counted = []
  limit = undefined
  metrics = new Metrics()
})

const desk = { id: 'endpoint-1', address: '/public/desk', mayDialOut: true }

/** An endpoint, or another party, that asks for a transfer of a call whose owner is `willing`. */
const refer = (willing: boolean, origin: Partial<DialogOrigin> = { endpoint: desk }) => {
  const transfers = new Transfers(
    {
      addresses: { resolve: (to) => ({ kind: 'subscriber', subscriberId: 's', address: to }) },
      isOwnHost: (host) => host === 'demo.example',
      countReferral: ({ id }) => {
        if (limit) return limit
        counted.push(`+${id}`)
        return () => counted.push(`-${id}`)
      },
    },
    new TestEdge(),
    new FakeClock(),
    metrics,
  )
  const bench = establish({
    parts: { transfers, origin: { projectId: 'p1', source: '192.0.2.9', ...origin } },
  })
  let referral: Referral | undefined
  const legReferred = (_leg: unknown, made: Referral) => {
    referral = made
    return willing
  }
  bench.leg.own({ ...ownerOf([]), legReferred })
  const { statuses } = bench.receive('REFER', '', { 'refer-to': '<sip:bob@demo.example>' })
  return { statuses, referral }
}

it('a transfer of an endpoint counts as a call of its own until the transfer target has left', () => {
  const { statuses, referral } = refer(true)
  expect([statuses, counted]).toEqual([[202], ['+endpoint-1']])
  referral?.over?.()
  expect(counted).toEqual(['+endpoint-1', '-endpoint-1'])
})

it.each(['over_call_limit', 'over_call_rate'] as const)(
  'a transfer that is %s gets 503, starts no call, and counts as a rejection',
  async (code) => {
    limit = code
    const { statuses, referral } = refer(true)
    expect([statuses, referral, await rejected(metrics, code)]).toEqual([[503], undefined, 1])
  },
)

it('more than five transfers of one dialog per second get 503 without parsing, and count as rejections', async () => {
  const transfers = new Transfers(
    {
      addresses: { resolve: () => undefined },
      isOwnHost: () => true,
      countReferral: () => () => {},
    },
    new TestEdge(),
    new FakeClock(),
    metrics,
  )
  const { clock, receive } = establish({
    parts: { transfers, origin: { projectId: 'p1', source: '192.0.2.9' } },
  })
  const statusOf = () => receive('REFER', '', { 'refer-to': `<${'sip:'.repeat(2_000)}>` }).statuses[0]
  expect(Array.from({ length: 7 }, statusOf)).toEqual([400, 400, 400, 400, 400, 503, 503])
  expect(await rejected(metrics, 'over_call_rate')).toBe(2)
  clock.advance(1_000)
  expect(statusOf()).toBe(400)
})

it('an impossible transfer does not count towards the limits', () => {
  expect([refer(false).statuses, counted]).toEqual([[603], ['+endpoint-1', '-endpoint-1']])
})

it('a party that is not an endpoint has no limit of transfers', () => {
  limit = 'over_call_limit'
  expect([refer(true, { carrier: 'main' }).statuses, refer(true, {}).statuses]).toEqual([[202], [202]])
})

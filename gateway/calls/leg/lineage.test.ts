import { beforeEach, describe, expect, it } from 'vitest'
import { setUp, turns, waits } from '../testing/addresses-fixture.ts'

let { t, at, results, connect, arrive, left } = setUp()

beforeEach(() => {
  ;({ t, at, results, connect, arrive, left } = setUp())
})

describe('the limits of calls to addresses', () => {
  const refusals = async (code: string) => {
    const { values } = await t.metrics.rejections.get()
    return values.find(({ labels }) => labels.code === code)?.value ?? 0
  }

  it('an address that connects to itself is rejected at the third hop', async () => {
    at['/public/self'] = (call) => connect(call, '/public/self')
    const a = await arrive((call) => connect(call, '/public/self'))
    expect(results.map((one) => one.kind === 'failed' && one.code)).toEqual(
      new Array(4).fill('too_many_hops'),
    )
    expect(a.far.requests).toEqual(['end too_many_hops'])
    expect(await refusals('too_many_hops')).toBe(1)
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('two addresses that connect to each other are rejected, too', async () => {
    at['/public/a'] = (call) => connect(call, '/public/b')
    at['/public/b'] = (call) => connect(call, '/public/a')
    await arrive((call) => connect(call, '/public/a'))
    expect(results.at(-1)).toMatchObject({ kind: 'failed', code: 'too_many_hops' })
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('a fan-out is rejected at the limit of calls in progress', async () => {
    let most = 0
    at['/public/wide'] = async (call) => {
      most = Math.max(most, t.calls.count)
      await connect(call, ['/public/wide', '/public/wide', '/public/wide'])
    }
    await arrive((call) => connect(call, ['/public/wide', '/public/wide', '/public/wide']))
    expect(most).toBeLessThanOrEqual(5)
    expect(await refusals('too_many_branches')).toBeGreaterThan(0)
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('a series of calls is rejected at the limit in total', async () => {
    let calls = 0
    at['/public/short'] = async (call) => {
      calls++
      await call.hangup('busy')
    }
    await arrive(async (call) => {
      for (let i = 0; i < 100; i++) await connect(call, '/public/short')
    })
    await turns()
    expect(calls).toBe(80)
    expect(await refusals('too_many_branches')).toBe(20)
    expect(t.warnings.filter(({ code }) => code === 'too_many_branches')).toHaveLength(1)
    expect(results.at(-1)).toMatchObject({ kind: 'failed', code: 'too_many_branches' })
  })

  it('SIP hops count, too', async () => {
    at['/public/menu'] = waits
    const go = Promise.withResolvers<void>()
    const a = await arrive(async (call) => {
      await go.promise
      await connect(call, '/public/menu')
    })
    a.leg.note({ maxForwards: 1 })
    go.resolve()
    await turns()
    expect(results).toMatchObject([{ kind: 'failed', code: 'too_many_hops' }])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('an address is one SIP hop', async () => {
    at['/public/menu'] = (call) => connect(call, 'sip:b@far.example')
    const go = Promise.withResolvers<void>()
    const a = await arrive(async (call) => {
      await go.promise
      await connect(call, '/public/menu')
    })
    a.leg.note({ maxForwards: 10 })
    go.resolve()
    await turns()
    expect(t.outbound.dialled[0]?.request.maxForwards).toBe(8)
  })

  it('calls to addresses count towards the limit of all calls', async () => {
    ;({ t, at, results, connect, arrive, left } = setUp(1))
    at['/public/menu'] = waits
    await arrive((call) => connect(call, '/public/menu'))
    expect(results).toMatchObject([{ kind: 'failed', code: 'over_call_limit' }])
  })

  it('a call in progress reaches addresses while the gateway drains, a new one does not', async () => {
    at['/public/menu'] = waits
    const go = Promise.withResolvers<void>()
    const a = await arrive(async (call) => {
      await go.promise
      await connect(call, '/public/menu')
    })
    const drained = t.calls.drain(60_000)
    go.resolve()
    await turns()
    expect(a.far.requests).toEqual(['answer'])
    expect((await arrive(waits)).far.requests).toEqual(['end draining'])
    t.clock.advance(60_000)
    await turns()
    t.clock.advance(10_000)
    await drained
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl, Destination } from '../../../handlers/verbs.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { settle, setUp as setUpCalls } from '../testing/calls-fixture.ts'
import type { OriginatedLeg, Origination } from './origination.ts'

const from = '+15550001111'

const setUp = () => {
  const fixture = setUpCalls()
  const { calls, outbound, clock } = fixture
  const results: unknown[] = []
  const made: { leg: OriginatedLeg; states: string[] }[] = []
  /** Calls these destinations; the handler waits until the call is hung up. */
  const originate = async (
    steps: readonly (readonly Partial<Destination>[])[],
    more: Partial<Origination> = {},
  ) => {
    const origination: Origination = {
      projectId: 'p',
      steps: steps.map((step) => step.map((destination) => ({ to: '', from, ...destination }))),
      onLeg: (leg) => {
        const states: string[] = []
        made.push({ leg, states })
        leg.onState((state) => states.push(state))
      },
      run: (call) => call.sleep(1_000_000),
      ...more,
    }
    calls.originate(origination).then(
      (id) => results.push(id),
      (error) => results.push(error instanceof TrunklineError ? error.code : error),
    )
    await settle()
    return outbound.dialled
  }
  const left = () => [calls.count, calls.legs, clock.running]
  return { ...fixture, results, made, originate, left }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

describe('a call that the gateway makes', () => {
  it('belongs to the callee who answers, runs its handler, and has a CDR', async () => {
    let control: CallControl | undefined
    const run = (call: CallControl) => {
      control = call
      return call.sleep(1_000_000)
    }
    const [b] = await t.originate([[{ to: 'sip:+15552222222@far.example', fromName: 'Desk' }]], { run })
    expect(t.left()).toEqual([1, 1, 1])
    expect(b!.request).toMatchObject({ from: { user: from, name: 'Desk' }, callId: t.made[0]!.leg.callId })
    b!.leg.note({ sipCallId: 'their-call' })
    b!.leg.early(true)
    t.clock.advance(3_000)
    expect(control).toBeUndefined()
    b!.leg.answered()
    await settle()
    const { callId } = t.made[0]!.leg
    expect([t.results, t.made[0]!.leg.type]).toEqual([[callId], 'sip'])
    expect(control?.info).toMatchObject({ callId, direction: 'outbound', type: 'sip', projectId: 'p' })
    expect(control?.info).toMatchObject({ from: b!.leg.from.uri, to: b!.leg.to.uri })
    expect(control?.info.sip).toEqual({ callId: 'their-call', domain: 'far.example' })
    expect(control?.isAnswered).toBe(true)
    t.clock.advance(5_000)
    b!.leg.ended({ code: 'normal' })
    await settle()
    expect(t.made[0]!.states).toEqual(['ringing', 'answered', 'ended'])
    expect(t.records).toMatchObject([
      {
        call: callId,
        direction: 'outbound',
        durationMs: 8_000,
        answeredMs: 5_000,
        code: 'normal',
        legs: [{ role: 'caller' }],
      },
    ])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('ends with its handler, and after its maximum duration', async () => {
    const ends: (() => void)[] = []
    const run = () => new Promise<void>((resolve) => ends.push(resolve))
    const [a] = await t.originate([[{ to: 'sip:a@y' }]], { run })
    a!.leg.answered()
    await settle()
    ends[0]!()
    await settle()
    expect(a!.far.requests).toEqual(['end normal'])
    const b = (await t.originate([[{ to: 'sip:b@y' }]], { maxDurationMs: 2_000 })).at(-1)!
    t.clock.advance(1_500)
    b.leg.answered()
    await settle()
    t.clock.advance(1_999)
    expect(b.leg.isEnded).toBe(false)
    t.clock.advance(1)
    expect(b.far.requests).toEqual(['end max_duration'])
    await settle()
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('tries its steps as connect does, and each leg has its own CDR', async () => {
    const [a, b] = await t.originate([[{ to: 'sip:a@y' }, { to: 'sip:b@y' }], [{ to: 'sip:c@y' }]], {
      timeoutMs: 5_000,
    })
    a!.leg.ended({ code: 'busy', sip: 486 })
    b!.leg.early(false)
    t.clock.advance(5_000)
    await settle()
    const c = t.outbound.dialled[2]!
    c.leg.answered()
    await settle()
    expect(t.results).toEqual([t.made[2]!.leg.callId])
    c.leg.ended({ code: 'normal' })
    await settle()
    expect(t.made.map(({ states }) => states)).toEqual([
      ['ended'],
      ['ringing', 'ended'],
      ['answered', 'ended'],
    ])
    expect(t.records.map(({ call, code }) => [call, code])).toEqual([
      [t.made[0]!.leg.callId, 'busy'],
      [t.made[1]!.leg.callId, 'no_answer'],
      [t.made[2]!.leg.callId, 'normal'],
    ])
  })

  it('is one call for an endpoint with two contacts', async () => {
    t.registered.push({ kind: 'sip', uri: 'sip:p@10.0.0.1' }, { kind: 'sip', uri: 'sip:p@10.0.0.2' })
    let to: string | undefined
    const run = (call: CallControl) => {
      to = call.info.to
      return call.sleep(1_000_000)
    }
    const [one, two] = await t.originate([[{ to: '/public/phone' }]], { run })
    two!.leg.answered()
    await settle()
    expect(to).toBe('/public/phone')
    expect(one!.far.requests).toEqual(['end answered_elsewhere'])
    two!.leg.ended({ code: 'normal' })
    await settle()
    expect([t.made.length, t.records.length, t.records[0]?.legs.length]).toEqual([1, 1, 2])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('sends the digits of its destination and runs its confirmation before the handler', async () => {
    const asked: CallControl[] = []
    const confirm = async (callee: CallControl) => void asked.push(callee)
    for (const more of [{}, { confirm }]) {
      const run = async (call: CallControl) => call.sendDigits('9')
      const b = (await t.originate([[{ to: 'sip:b@y', sendDigits: '12', ...more }]], { run })).at(-1)!
      b.leg.answered()
      await settle()
      expect(b.far.requests).toEqual(['digits 12', 'digits 9', 'end normal'])
    }
    expect(asked[0]?.info).toMatchObject({ callId: t.made[1]!.leg.callId, direction: 'outbound' })
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('fails with the best refusal', async () => {
    const [a, b] = await t.originate([[{ to: 'sip:a@y' }, { to: 'sip:b@y' }]])
    a!.leg.ended({ code: 'busy', sip: 486 })
    b!.leg.ended({ code: 'unreachable' })
    await settle()
    expect(t.results).toEqual(['busy'])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('can be canceled while it rings, not afterwards', async () => {
    const giveUp = new AbortController()
    const { signal } = giveUp
    const [a] = await t.originate([[{ to: 'sip:a@y' }], [{ to: 'sip:b@y' }]], { signal })
    giveUp.abort()
    await settle()
    expect([t.results, a!.far.requests, t.outbound.dialled.length]).toEqual([
      ['canceled'],
      ['end canceled'],
      1,
    ])
    await t.originate([[{ to: 'sip:c@y' }]], { signal })
    expect(t.results).toEqual(['canceled', 'canceled'])
    const late = new AbortController()
    const d = (await t.originate([[{ to: 'sip:d@y' }]], { signal: late.signal })).at(-1)!
    d.leg.answered()
    await settle()
    late.abort()
    await settle()
    expect(d.leg.isAnswered).toBe(true)
  })

  it.each<[string, (giveUp: AbortController) => unknown, string]>([
    ['is given up', (giveUp) => giveUp.abort(), 'canceled'],
    ['is hung up with all others', () => t.calls.endAll({ code: 'draining' }), 'draining'],
  ])('that %s while its digits are sent never starts', async (_, happens, code) => {
    const giveUp = new AbortController()
    const more = { signal: giveUp.signal }
    const [a] = await t.originate([[{ to: 'sip:a@y', sendDigits: '1' }]], more)
    const pressed = Promise.withResolvers<void>()
    a!.far.sendDigits = () => pressed.promise
    a!.leg.answered()
    await settle()
    happens(giveUp)
    pressed.resolve()
    await settle()
    expect([t.results, a!.far.requests]).toEqual([[code], [`end ${code}`]])
    expect([t.made[0]!.states, t.records.map((record) => record.code)]).toEqual([
      ['answered', 'ended'],
      [code],
    ])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('is rejected without a caller identity, and for a queue', async () => {
    await t.originate([[{ to: 'sip:a@y', from: undefined }]])
    await t.originate([[{ to: 'queue:support' }]])
    await t.originate([[{ to: 'sip:a@y', sendDigits: '1x' }]])
    expect(t.results).toEqual(['bad_request', 'bad_request', 'invalid_digits'])
    expect(t.outbound.dialled).toHaveLength(0)
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('counts towards the limit of calls, and is rejected while the gateway drains', async () => {
    await t.originate([[{ to: 'sip:a@y' }]])
    const [, b] = await t.originate([[{ to: 'sip:b@y' }]])
    await t.originate([[{ to: 'sip:c@y' }]])
    expect(t.results).toEqual(['over_call_limit'])
    b!.leg.answered()
    await settle()
    const drained = t.calls.drain(5_000)
    await t.originate([[{ to: 'sip:d@y' }]])
    expect(t.results.at(-1)).toBe('draining')
    t.clock.advance(5_000)
    await drained
    await settle()
    expect(t.results.at(-1)).toBe('draining')
    expect(t.outbound.dialled.map(({ far }) => far.requests)).toEqual([['end canceled'], ['end draining']])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('survives a listener that fails', async () => {
    const onLeg = () => {
      throw new Error('mine')
    }
    const [a] = await t.originate([[{ to: 'sip:a@y' }]], { onLeg })
    a!.leg.answered()
    await settle()
    expect(t.results).toHaveLength(1)
    a!.leg.ended({ code: 'normal' })
    await settle()
    expect(t.left()).toEqual([0, 0, 0])
  })
})

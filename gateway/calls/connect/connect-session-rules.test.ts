import { beforeEach, describe, expect, it } from 'vitest'
import type { Callee, ConnectedCallee } from '../../../handlers/verbs.ts'
import { settle } from '../testing/calls-fixture.ts'
import { setUp } from '../testing/connect-fixture.ts'

let t: Awaited<ReturnType<typeof setUp>>
beforeEach(async () => {
  t = await setUp()
})

describe('the states of a destination', () => {
  it('are reported in order, and the end once', async () => {
    const [a, b] = await t.fork([[t.to('sip:a@y'), t.to('sip:b@y')]])
    a!.leg.early(false)
    a!.leg.early(true)
    b!.leg.ended({ code: 'busy', sip: 486 })
    a!.leg.answered()
    await settle()
    t.clock.advance(4_000)
    a!.leg.ended({ code: 'normal' })
    await settle()
    expect(t.states).toEqual([
      'sip:a@y initiated',
      'sip:b@y initiated',
      'sip:a@y ringing',
      'sip:b@y ended busy busy 0',
      'sip:a@y answered',
      'sip:a@y ended completed normal 4000',
    ])
  })

  it('are reported for an unknown address, no answer, and an answer elsewhere', async () => {
    const steps = [
      [t.to('/public/nobody')],
      [t.to('sip:a@y', { timeoutMs: 5_000 })],
      [t.to('sip:b@y'), t.to('sip:c@y')],
    ]
    await t.fork(steps)
    t.clock.advance(5_000)
    await settle()
    t.outbound.dialled[1]!.leg.answered()
    await settle()
    expect(t.states).toEqual([
      '/public/nobody ended failed unknown_address 0',
      'sip:a@y initiated',
      'sip:a@y ended no-answer no_answer 0',
      'sip:b@y initiated',
      'sip:c@y initiated',
      'sip:b@y answered',
      'sip:c@y ended canceled answered_elsewhere 0',
    ])
  })

  it('are those of one branch for an endpoint with two contacts', async () => {
    t.registered.push({ kind: 'sip', uri: 'sip:p@10.0.0.1' }, { kind: 'sip', uri: 'sip:p@10.0.0.2' })
    const [one, two] = await t.fork([[t.to('/public/phone')]])
    one!.leg.early(false)
    two!.leg.early(false)
    one!.leg.ended({ code: 'busy' })
    two!.leg.ended({ code: 'unreachable' })
    await settle()
    expect(t.states).toEqual(['initiated', 'ringing', 'ended busy busy 0'].map((s) => `/public/phone ${s}`))
  })

  it('end with canceled when the caller hangs up, even if a listener fails', async () => {
    const failing = () => {
      throw new Error('mine')
    }
    await t.fork([[t.to('sip:a@y'), { to: 'sip:b@y', onState: failing }]])
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect(t.states).toEqual(['sip:a@y initiated', 'sip:a@y ended canceled canceled 0'])
    expect(t.outcomes).toMatchObject([{ name: 'CallEnded' }])
    expect(t.left()).toEqual([0, 0, 0])
  })

  it('have the facts of the leg', async () => {
    const seen: Callee[] = []
    const onState = ({ callee }: { callee?: Callee }) => void (callee && seen.push(callee))
    const [made] = await t.fork([[{ to: 'sip:a@y', onState }]])
    made!.leg.note({ sipCallId: 'c1', response: { status: 180, headers: [] } })
    made!.leg.early(false)
    const headers = [{ name: 'X-Why', value: 'lunch' }]
    made!.leg.note({ response: { status: 486, headers } })
    made!.leg.ended({ code: 'busy', sip: 486 })
    await settle()
    const callee = { to: 'sip:a@y', from: 'sip:caller@carrier.example', type: 'sip' }
    expect(seen).toMatchObject([
      callee,
      { ...callee, sip: { callId: 'c1', status: 180, headers: [] } },
      { ...callee, sip: { callId: 'c1', status: 486, headers } },
    ])
    expect(new Set(seen.map(({ callId }) => callId)).size).toBe(1)
    expect(t.outcomes).toMatchObject([{ result: { kind: 'failed', reason: 'busy', callee: seen[2] } }])
  })

  it('reach the callee by headers with the id of its own call', async () => {
    const seen: string[] = []
    const [made] = await t.fork([
      [
        {
          to: 'sip:a@y',
          headers: [{ name: 'X-A', value: '1' }],
          headersFor: (value) => [{ name: 'X-Id', value }],
          onState: ({ callee }) => void (callee && seen.push(callee.callId)),
        },
      ],
    ])
    expect(made?.request.destination.headers).toEqual([
      { name: 'X-A', value: '1' },
      { name: 'X-Id', value: seen[0] },
    ])
    expect(seen[0]).not.toBe(t.a.call.id)
  })
})

describe('a signal', () => {
  it('cancels ringing callees', async () => {
    const giveUp = new AbortController()
    const [a] = await t.fork([[t.to('sip:a@y')], [t.to('sip:b@y')]], { signal: giveUp.signal })
    giveUp.abort()
    await settle()
    expect(a!.far.requests).toEqual(['end canceled'])
    expect(t.outcomes).toEqual([{ result: { kind: 'failed', reason: 'canceled', code: 'canceled' } }])
    expect(t.outbound.dialled).toHaveLength(1)
    expect([t.a.leg.isAnswered, t.clock.running]).toEqual([true, 1])
  })

  it('that has fired already prevents every call', async () => {
    await t.fork([[t.to('sip:a@y')]], { signal: AbortSignal.abort() })
    expect(t.outcomes).toMatchObject([{ result: { reason: 'canceled' } }])
    expect(t.outbound.dialled).toHaveLength(0)
  })

  it('ends the leg of the callee, and the caller stays', async () => {
    const giveUp = new AbortController()
    const [a] = await t.fork([[t.to('sip:a@y')]], { signal: giveUp.signal })
    a!.leg.answered()
    await settle()
    t.clock.advance(1_000)
    giveUp.abort()
    await settle()
    expect(a!.far.requests).toEqual(['end normal'])
    expect(t.outcomes).toMatchObject([
      { result: { kind: 'connected', endedBy: 'stopped', durationMs: 1_000 } },
    ])
    expect(t.a.leg.isAnswered).toBe(true)
  })
})

describe('a connected pair', () => {
  const connected = async (more = {}) => {
    const reported: ConnectedCallee[] = []
    const [b] = await t.fork([[t.to('sip:b@y')]], {
      onConnected: (each: ConnectedCallee) => reported.push(each),
      ...more,
    })
    expect(reported).toEqual([])
    b!.leg.answered()
    await settle()
    return { b: b!, reported }
  }

  it('is reported when it is joined, and can be parted by the listener', async () => {
    const { b, reported } = await connected()
    expect(reported).toMatchObject([{ callee: { to: 'sip:b@y' } }])
    await reported[0]!.sendDigits('42')
    reported[0]!.hangup()
    await settle()
    expect(b.far.requests).toEqual(['digits 42', 'end normal'])
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'stopped' } }])
  })

  it('is never dialed with characters that are no keys', async () => {
    await t.fork([[t.to('sip:a@y')], [t.to('sip:b@y', { sendDigits: '1x' })]])
    expect(t.outcomes).toMatchObject([{ name: 'VerbFailed', code: 'invalid_digits' }])
    expect(t.outbound.dialled).toHaveLength(0)
    const { reported } = await connected()
    await expect(reported[0]!.sendDigits('?')).rejects.toMatchObject({ code: 'invalid_digits' })
  })

  it('is parted by the star, which the callee does not receive', async () => {
    const { b } = await connected({ hangupOnStar: true })
    t.a.leg.digit('5')
    t.a.leg.digit('*')
    await settle()
    expect(b.far.requests).toEqual(['digits 5', 'end normal'])
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'star' } }])
    expect(t.a.leg.isAnswered).toBe(true)
  })

  it('passes the star on like any other key by default', async () => {
    const { b } = await connected()
    t.a.leg.digit('*')
    expect(b.far.requests).toEqual(['digits *'])
  })

  it('is parted by the limit', async () => {
    const { b } = await connected({ maxDurationMs: 3_000 })
    t.clock.advance(3_000)
    await settle()
    expect(b.far.requests).toEqual(['end max_duration'])
    expect(t.outcomes).toMatchObject([{ result: { endedBy: 'limit', durationMs: 3_000 } }])
  })

  it('is joined after the digits are sent, unless the callee hangs up meanwhile', async () => {
    for (const gone of [false, true]) {
      const pressed = Promise.withResolvers<void>()
      const b = (await t.fork([[t.to('sip:b@y', { sendDigits: 'ww12' })]])).at(-1)!
      b.far.sendDigits = (digits) => {
        b.far.requests.push(`digits ${digits}`)
        return pressed.promise
      }
      b.leg.early(true)
      await settle()
      expect(t.bridges.count).toBe(1)
      b.leg.answered()
      await settle()
      expect([t.bridges.count, b.far.requests]).toEqual([0, ['digits ww12']])
      expect(t.a.port.playing).toBeDefined()
      if (gone) b.leg.ended({ code: 'normal' })
      else pressed.resolve()
      await settle()
      expect([t.bridges.count, t.a.port.playing]).toEqual([gone ? 0 : 1, undefined])
      b.leg.ended({ code: 'normal' })
      await settle()
    }
    expect(t.outcomes).toMatchObject([{ result: { kind: 'connected' } }, { result: { kind: 'connected' } }])
  })
})

describe('a step with several destinations', () => {
  it('goes on with the others if the first one cannot be dialed', async () => {
    const [b] = await t.fork([[t.to('/public/nobody'), t.to('sip:b@y')], [t.to('sip:c@y')]])
    expect([t.outbound.dialled.length, b!.leg.isEnded]).toEqual([1, false])
    b!.leg.answered()
    await settle()
    expect([t.bridges.count, t.outcomes]).toEqual([1, []])
  })
})

it('a caller is not transferred if the callee hangs up at the same time', async () => {
  const [b] = await t.fork([[t.to('sip:b@y')]])
  b!.leg.answered()
  await settle()
  b!.leg.ended({ code: 'normal' })
  expect(t.a.leg.referred({ to: 'sip:c@y', progress: () => {} })).toBe(false)
  await settle()
  expect(t.outcomes).toMatchObject([{ result: { kind: 'connected', endedBy: 'callee' } }])
  t.a.call.end({ code: 'normal' })
  expect(t.left()).toEqual([0, 0, 0])
})

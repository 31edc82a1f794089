import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl, ConnectResult } from '../../../handlers/verbs.ts'
import { type Cause, sipStatusOf } from '../../core/errors/catalogue.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'

describe('connect', () => {
  let t: ReturnType<typeof setUp>
  beforeEach(() => {
    t = setUp()
  })

  it('joins caller and callee, carries digits both ways, and goes on when the callee hangs up', async () => {
    let result: ConnectResult | undefined
    const { leg, far } = t.arrive(async (call) => {
      result = await call.connect({ steps: [[{ to: '/public/alice' }]] })
    })
    await settle()
    const callee = t.outbound.dialled[0]!
    callee.leg.answered()
    await settle()
    expect(t.bridges.count).toBe(1)
    leg.digit('1')
    callee.leg.digit('2')
    expect(callee.far.requests).toEqual(['digits 1'])
    expect(far.requests).toEqual(['answer', 'digits 2'])
    t.clock.advance(7_000)
    callee.leg.ended({ code: 'normal' })
    await settle()
    expect(result).toMatchObject({ kind: 'connected', endedBy: 'callee', durationMs: 7_000 })
    expect(t.bridges.count).toBe(0)
    expect(t.clock.running).toBe(0)
    expect(far.requests.at(-1)).toBe('end normal')
  })

  it.each(['caller', 'callee'] as const)(
    'ends both legs after a failure of the gateway in the leg of the %s',
    async (failing) => {
      const { leg, far } = t.arrive(async (call) => {
        await call.connect({ steps: [[{ to: '/public/alice' }]] })
      })
      await settle()
      const callee = t.outbound.dialled[0]!
      callee.leg.answered()
      await settle()
      const failed = failing === 'caller' ? leg : callee.leg
      failed.end({ code: 'internal', detail: 'the mediasoup process died' })
      await settle()
      expect([far.requests.at(-1), callee.far.requests.at(-1)]).toEqual(['end internal', 'end internal'])
      expect(t.bridges.count).toBe(0)
      expect(t.clock.running).toBe(0)
    },
  )

  it('rejects an unanswered caller with the status of the callee', async () => {
    const { far } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:x@y' }]], answerOnBridge: true })
    })
    await settle()
    t.outbound.dialled[0]?.leg.early(false)
    t.outbound.dialled[0]?.leg.ended({ code: 'busy', sip: 486 })
    await settle()
    expect(far.requests).toEqual(['ring', 'end busy'])
  })

  it.each<[Cause, number]>([
    [{ code: 'too_many_hops' }, 483],
    [{ code: 'far_refused', sip: 404 }, 404],
    [{ code: 'far_refused', sip: 503 }, 500],
  ])('rejects an unanswered caller at the end of its document for %j with %i', async (cause, status) => {
    const { leg } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:x@y' }]], answerOnBridge: true })
    })
    await settle()
    t.outbound.dialled[0]?.leg.ended(cause)
    await settle()
    const { state } = leg
    if (state.kind !== 'ended') expect.unreachable()
    expect([state.cause.code, sipStatusOf(state.cause)]).toEqual([cause.code, status])
  })

  it('hangs up an answered caller normally, whatever has failed', async () => {
    const { far } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:x@y' }]] })
    })
    await settle()
    t.outbound.dialled[0]?.leg.ended({ code: 'too_many_hops' })
    await settle()
    expect(far.requests.at(-1)).toBe('end normal')
  })

  it('stops ringing after the ring time, and cancels the callee when the caller hangs up', async () => {
    const connect = (call: CallControl) =>
      call.connect({ steps: [[{ to: 'sip:x@y', timeoutMs: 5_000 }]], answerOnBridge: true }).then(() => {})
    const first = t.arrive(connect)
    await settle()
    t.clock.advance(5_000)
    await settle()
    expect(t.outbound.dialled[0]?.far.requests).toEqual(['end no_answer'])
    expect(first.far.requests).toEqual(['end no_answer'])
    const second = t.arrive(connect)
    await settle()
    second.leg.ended({ code: 'canceled' })
    expect(t.outbound.dialled[1]?.far.requests).toEqual(['end canceled'])
    await settle()
    expect(t.clock.running).toBe(0)
    expect(t.calls.count).toBe(0)
  })

  it('rings several at once: the first answer wins, and the others are canceled', async () => {
    t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:a@y' }, { to: 'sip:b@y' }]] })
    })
    await settle()
    const [a, b] = t.outbound.dialled
    b?.leg.answered()
    await settle()
    expect(a?.far.requests).toEqual(['end answered_elsewhere'])
    expect(t.bridges.count).toBe(1)
  })

  it('tries the steps one after the other', async () => {
    let result: ConnectResult | undefined
    t.arrive(async (call) => {
      result = await call.connect({
        steps: [[{ to: 'sip:a@y' }], [{ to: '/public/nobody' }], [{ to: 'sip:c@y' }]],
      })
    })
    await settle()
    t.outbound.dialled[0]?.leg.ended({ code: 'far_refused', sip: 503 })
    await settle()
    expect(t.outbound.dialled).toHaveLength(2)
    t.outbound.dialled[1]?.leg.ended({ code: 'declined', sip: 603 })
    await settle()
    expect(result).toMatchObject({ kind: 'failed', reason: 'declined', sipStatus: 603, code: 'declined' })
  })

  it('passes early media on, and keeps the bridge at the answer', async () => {
    const { far } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:a@y' }]], answerOnBridge: true })
    })
    await settle()
    t.outbound.dialled[0]?.leg.early(true)
    await settle()
    expect(far.requests).toEqual(['progress'])
    expect(t.bridges.count).toBe(1)
    t.outbound.dialled[0]?.leg.answered()
    await settle()
    expect(far.requests).toEqual(['progress', 'answer'])
    expect(t.joined.filter((j) => j.startsWith('join'))).toHaveLength(1)
  })

  it('parts the pair while either party holds, and joins it again', async () => {
    const { leg } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: '/public/alice' }]] })
    })
    await settle()
    const callee = t.outbound.dialled[0]!.leg
    callee.answered()
    await settle()
    leg.hold(true)
    callee.hold(true)
    expect(t.bridges.count).toBe(0)
    leg.hold(false)
    expect(t.bridges.count).toBe(0)
    callee.hold(false)
    expect(t.bridges.count).toBe(1)
  })

  it('reports ringing to a browser caller, with a ringing tone', async () => {
    const { far, port } = t.arrive(async () => {}, { kind: 'browser', dial: 'sip:a@y?X-A=b' })
    await settle()
    expect(t.outbound.dialled[0]?.target).toMatchObject({ uri: 'sip:a@y' })
    expect(far.requests).toEqual([])
    t.outbound.dialled[0]?.leg.early(false)
    await settle()
    expect(far.requests).toEqual(['ring', 'progress'])
    expect(port.playing).toBeDefined()
    t.outbound.dialled[0]?.leg.answered()
    await settle()
    expect(port.playing).toBeUndefined()
    expect(far.requests).toEqual(['ring', 'progress', 'answer'])
  })

  it('passes the variables of a browser to the page that it dials, and to the handler', async () => {
    const userVariables = { order: 7 }
    t.arrive(async () => {}, { kind: 'browser', dial: '/public/alice', userVariables })
    await settle()
    expect(t.outbound.dialled[0]?.request.destination).toEqual({ to: '/public/alice', userVariables })
    let known: unknown
    const run = async (call: CallControl) => {
      known = call.info.userVariables
    }
    t.arrive(run, { kind: 'browser', dial: '/public/menu', userVariables })
    await settle()
    expect(known).toEqual(userVariables)
  })

  it('rejects a browser that dials an unknown address, and runs the handler of a known one', async () => {
    const unknown = t.arrive(async () => {}, { kind: 'browser', dial: '/public/nobody' })
    const menu = t.arrive(async (call) => call.answer(), { kind: 'browser', dial: '/public/menu' })
    await settle()
    expect(unknown.far.requests).toEqual(['end unknown_address'])
    expect(menu.far.requests).toEqual(['answer', 'end normal'])
  })

  it('runs a confirmation with the verbs of the callee, all of which end with it', async () => {
    let recorded: string | undefined
    t.arrive(async (call) => {
      const confirm = async (callee: CallControl) => {
        const { ended } = await callee.startRecording({})
        void ended.then(({ reason }) => {
          recorded = reason
        })
        await callee.startPlay({ sounds: [{ kind: 'ringtone' }], loop: 0 })
        await callee.collect({ maxDigits: 1 })
      }
      await call.connect({ steps: [[{ to: 'sip:a@y', confirm }]] })
    })
    await settle()
    const callee = t.outbound.dialled[0]!
    callee.leg.answered()
    await settle()
    expect([callee.port.playing !== undefined, t.bridges.count, recorded]).toEqual([true, 0, undefined])
    callee.leg.digit('1')
    await settle()
    await settle()
    expect([callee.port.playing, t.bridges.count, recorded]).toEqual([undefined, 1, 'hangup'])
  })
})

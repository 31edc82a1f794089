import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { DocumentInvalid, DocumentUnreachable, type Handler } from '../../handlers/handler.ts'
import type { CallControl, ConnectResult } from '../../handlers/verbs.ts'
import { FakeClock } from '../clock.ts'
import { Metrics } from '../metrics.ts'
import { Bridges } from './bridge.ts'
import { Calls } from './calls.ts'
import { type FakeLeg, FakeOutbound, fakeLeg } from './fakes.ts'
import { newCallId } from './ids.ts'
import { Player } from './player.ts'
import type { Arrival, Target } from './ports.ts'

const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

const prompt = { sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(160)) } as const

const setUp = () => {
  const made = { preparing: Promise.resolve(prompt) }
  const clock = new FakeClock()
  const metrics = new Metrics()
  const outbound = new FakeOutbound(clock)
  const joined: string[] = []
  const bridges = new Bridges({
    join: (a, b) => joined.push(`join ${a.id} ${b.id}`),
    part: (a) => joined.push(`part ${a.id}`),
  })
  const player = new Player(
    { prepare: () => made.preparing, close: async () => {} },
    { bytes: async () => ({ bytes: new Uint8Array() }) },
  )
  let script: (call: CallControl) => Promise<void> = async () => {}
  const handler: Handler = { run: (call) => script(call) }
  const resolve = (to: string): Target | undefined =>
    to.startsWith('sip:')
      ? { kind: 'sip', uri: to }
      : to === '/public/alice'
        ? { kind: 'subscriber', subscriberId: 'a', address: to }
        : to === '/public/menu'
          ? { kind: 'handler', address: to, handler: { kind: 'script', document: '{}', name: 'menu' } }
          : undefined
  const calls = new Calls({
    addresses: { resolve },
    sip: outbound,
    subscribers: outbound,
    bridges,
    player,
    clock,
    metrics,
    log: pino({ level: 'silent' }),
    ringMs: 60_000,
    callDurationMs: 14_400_000,
    maxCalls: 2,
    handlers: { script: handler, xml: handler },
    documents: { document: async () => Promise.reject(new Error('not used')) },
  })
  const plan: Arrival['plan'] = { kind: 'handler', handler: { kind: 'script', document: '{}', name: 'test' } }
  const arrive = (
    run: (call: CallControl) => Promise<void>,
    options: { kind?: 'sip' | 'browser'; dial?: string } = {},
  ): FakeLeg => {
    script = run
    const callId = newCallId()
    const made = fakeLeg(clock, callId, { kind: options.kind })
    const how: Arrival['plan'] = options.dial ? { kind: 'dial', to: options.dial } : plan
    calls.arrive({ leg: made.leg, callId, projectId: 'p', plan: how, headers: [] })
    return made
  }
  return Object.assign(made, { clock, metrics, outbound, bridges, calls, joined, arrive })
}

describe('a call', () => {
  let t: ReturnType<typeof setUp>
  beforeEach(() => {
    t = setUp()
  })

  const rejections = async (code: string) => {
    const { values } = await t.metrics.rejections.get()
    return values.find((v) => v.labels.code === code)?.value ?? 0
  }

  it('is hung up when its document is at its end', async () => {
    const { far } = t.arrive(async (call) => call.answer())
    await settle()
    expect(far.told).toEqual(['answer', 'end normal'])
    expect(t.calls.count).toBe(0)
    expect(t.clock.running).toBe(0)
  })

  it('answers before it plays, and goes on when the sound is at its end', async () => {
    const { far, port } = t.arrive(async (call) => {
      await call.play({ sounds: [{ kind: 'silence', ms: 10 }] })
      await call.hangup()
    })
    await settle()
    expect(far.told).toEqual(['answer'])
    port.playing?.finish('finished')
    await settle()
    expect(far.told).toEqual(['answer', 'end normal'])
  })

  it('has the first sound ready before it answers', async () => {
    const speech = Promise.withResolvers<typeof prompt>()
    t.preparing = speech.promise
    const { far, port } = t.arrive(async (call) => call.play({ sounds: [{ kind: 'speech', text: 'hello' }] }))
    await settle()
    expect(far.told).toEqual([])
    speech.resolve(prompt)
    await settle()
    expect(far.told).toEqual(['answer'])
    expect(port.playing).toBeDefined()
  })

  it('answers all the same when a sound cannot be had, and fails the verb alone', async () => {
    t.preparing = Promise.reject(new Error('no such voice'))
    let failure: unknown
    const { far } = t.arrive(async (call) => {
      await call.play({ sounds: [{ kind: 'speech', text: 'hello' }] }).catch((error) => {
        failure = error
      })
    })
    await settle()
    expect(failure).toMatchObject({ name: 'VerbFailed', message: 'no such voice' })
    expect(far.told).toEqual(['answer', 'end normal'])
  })

  it('plays early media without an answer when asked to', async () => {
    const { far, port } = t.arrive(async (call) =>
      call.play({ sounds: [{ kind: 'silence', ms: 10 }], autoAnswer: false }),
    )
    await settle()
    port.playing?.finish('finished')
    await settle()
    expect(far.told).toEqual(['progress', 'end normal'])
  })

  it('settles a pending verb when the caller hangs up, and leaves no timer', async () => {
    let thrown: unknown
    const { leg } = t.arrive(async (call) => {
      await call.answer()
      await call.sleep(60_000).catch((error) => {
        thrown = error
        throw error
      })
    })
    await settle()
    leg.ended({ code: 'normal' })
    await settle()
    expect(thrown).toMatchObject({ name: 'CallEnded' })
    expect(t.calls.count).toBe(0)
    expect(t.clock.running).toBe(0)
  })

  it('ends at its longest duration', async () => {
    const { far } = t.arrive(async (call) => {
      await call.answer({ maxDurationMs: 1_000 })
      await call.sleep(60_000)
    })
    await settle()
    t.clock.advance(1_000)
    await settle()
    expect(far.told).toEqual(['answer', 'end max_duration'])
  })

  it('is refused over the limit and while draining, and both are counted', async () => {
    const wait = (call: CallControl) => call.sleep(1_000_000)
    t.arrive(wait)
    t.arrive(wait)
    const third = t.arrive(wait)
    expect(third.far.told).toEqual(['end over_call_limit'])
    expect(await rejections('over_call_limit')).toBe(1)
    const drained = t.calls.drain(5_000)
    expect(t.arrive(wait).far.told).toEqual(['end draining'])
    t.clock.advance(5_000)
    await drained
    expect(t.calls.count).toBe(0)
  })

  it('may end by itself while draining, or is hurried', async () => {
    const first = t.arrive((call) => call.sleep(1_000_000))
    const second = t.arrive((call) => call.sleep(1_000_000))
    let drained = false
    const done = t.calls.drain(5_000).then(() => {
      drained = true
    })
    first.leg.ended({ code: 'normal' })
    await settle()
    expect([drained, second.far.told]).toEqual([false, []])
    t.calls.endAll({ code: 'draining' })
    await done
    expect([second.far.told, t.calls.legs]).toEqual([['end draining'], 0])
    await settle()
    expect(t.clock.running).toBe(0)
    await t.calls.drain(5_000)
  })

  it('ends with the media thread that had its port, and no other does', async () => {
    const lost = t.arrive((call) => call.sleep(1_000_000))
    const other = t.arrive((call) => call.sleep(1_000_000))
    t.calls.portsLost([lost.port.id])
    await settle()
    expect([lost.far.told, other.far.told]).toEqual([['end internal'], []])
    expect(t.calls.count).toBe(1)
  })

  it('is refused with the code of what is wrong with the document', async () => {
    const invalid = t.arrive(async () => {
      throw new DocumentInvalid([{ code: 'x', message: 'm', path: '/a' }])
    })
    const unreachable = t.arrive(async () => {
      throw new DocumentUnreachable('http://x/', 'timed out')
    })
    await settle()
    expect(invalid.far.told).toEqual(['end document_invalid'])
    expect(unreachable.far.told).toEqual(['end document_unreachable'])
    expect(await rejections('document_invalid')).toBe(1)
  })

  it('gathers digits: the first one stops the prompt, a terminator ends it', async () => {
    let result: unknown
    const { leg, port } = t.arrive(async (call) => {
      result = await call.collect({
        prompt: { sounds: [{ kind: 'silence', ms: 1 }] },
        maxDigits: 5,
        terminators: '#',
      })
    })
    await settle()
    expect(port.playing).toBeDefined()
    leg.digit('4')
    await settle()
    expect(port.playing).toBeUndefined()
    leg.digit('2')
    leg.digit('#')
    await settle()
    expect(result).toEqual({ reason: 'terminator', digits: '42', terminator: '#' })
  })

  it('waits for the first digit from the end of the prompt', async () => {
    let result: unknown
    const { port } = t.arrive(async (call) => {
      result = await call.collect({
        prompt: { sounds: [{ kind: 'silence', ms: 1 }] },
        initialTimeoutMs: 3_000,
      })
    })
    await settle()
    t.clock.advance(10_000)
    expect(result).toBeUndefined()
    port.playing?.finish('finished')
    await settle()
    t.clock.advance(3_000)
    await settle()
    expect(result).toEqual({ reason: 'no-input', digits: '' })
  })
})

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
    expect(callee.far.told).toEqual(['digits 1'])
    expect(far.told).toEqual(['answer', 'digits 2'])
    t.clock.advance(7_000)
    callee.leg.ended({ code: 'normal' })
    await settle()
    expect(result).toMatchObject({ kind: 'connected', endedBy: 'callee', durationMs: 7_000 })
    expect(t.bridges.count).toBe(0)
    expect(t.clock.running).toBe(0)
    expect(far.told.at(-1)).toBe('end normal')
  })

  it('refuses an unanswered caller with what the callee said', async () => {
    const { far } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:x@y' }]], answerOnBridge: true })
    })
    await settle()
    t.outbound.dialled[0]?.leg.early(false)
    t.outbound.dialled[0]?.leg.ended({ code: 'busy', sip: 486 })
    await settle()
    expect(far.told).toEqual(['ring', 'end busy'])
  })

  it('gives up ringing in time, and cancels the callee when the caller goes', async () => {
    const connect = (call: CallControl) =>
      call.connect({ steps: [[{ to: 'sip:x@y', timeoutMs: 5_000 }]], answerOnBridge: true }).then(() => {})
    const first = t.arrive(connect)
    await settle()
    t.clock.advance(5_000)
    await settle()
    expect(t.outbound.dialled[0]?.far.told).toEqual(['end no_answer'])
    expect(first.far.told).toEqual(['end no_answer'])
    const second = t.arrive(connect)
    await settle()
    second.leg.ended({ code: 'canceled' })
    expect(t.outbound.dialled[1]?.far.told).toEqual(['end canceled'])
    await settle()
    expect(t.clock.running).toBe(0)
    expect(t.calls.count).toBe(0)
  })

  it('rings several at once: the first answer wins and the others are told', async () => {
    t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:a@y' }, { to: 'sip:b@y' }]] })
    })
    await settle()
    const [a, b] = t.outbound.dialled
    b?.leg.answered()
    await settle()
    expect(a?.far.told).toEqual(['end answered_elsewhere'])
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
    expect(result).toEqual({ kind: 'failed', reason: 'declined', sipStatus: 603, code: 'declined' })
  })

  it('passes early media on, and keeps the bridge at the answer', async () => {
    const { far } = t.arrive(async (call) => {
      await call.connect({ steps: [[{ to: 'sip:a@y' }]], answerOnBridge: true })
    })
    await settle()
    t.outbound.dialled[0]?.leg.early(true)
    await settle()
    expect(far.told).toEqual(['progress'])
    expect(t.bridges.count).toBe(1)
    t.outbound.dialled[0]?.leg.answered()
    await settle()
    expect(far.told).toEqual(['progress', 'answer'])
    expect(t.joined.filter((j) => j.startsWith('join'))).toHaveLength(1)
  })

  it('parts the two while either holds, and joins them again', async () => {
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

  it('tells a browser caller that it rings, and plays it a ringing tone', async () => {
    const { far, port } = t.arrive(async () => {}, { kind: 'browser', dial: 'sip:a@y?X-A=b' })
    await settle()
    expect(t.outbound.dialled[0]?.target).toMatchObject({ uri: 'sip:a@y' })
    expect(far.told).toEqual([])
    t.outbound.dialled[0]?.leg.early(false)
    await settle()
    expect(far.told).toEqual(['ring', 'progress'])
    expect(port.playing).toBeDefined()
    t.outbound.dialled[0]?.leg.answered()
    await settle()
    expect(port.playing).toBeUndefined()
    expect(far.told).toEqual(['ring', 'progress', 'answer'])
  })

  it('tells a browser that nothing has the address it dialled, and runs a handler that has one', async () => {
    const unknown = t.arrive(async () => {}, { kind: 'browser', dial: '/public/nobody' })
    const menu = t.arrive(async (call) => call.answer(), { kind: 'browser', dial: '/public/menu' })
    await settle()
    expect(unknown.far.told).toEqual(['end unknown_address'])
    expect(menu.far.told).toEqual(['answer', 'end normal'])
  })
})

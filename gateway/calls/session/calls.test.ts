import { beforeEach, describe, expect, it } from 'vitest'
import { DocumentInvalid, DocumentUnreachable } from '../../../handlers/handler.ts'
import { type CallControl, CallEnded } from '../../../handlers/verbs.ts'
import { prompt, settle, setUp } from '../testing/calls-fixture.ts'

describe('a call', () => {
  let t: ReturnType<typeof setUp>
  beforeEach(() => {
    t = setUp()
  })

  const rejections = async (code: string) => {
    const { values } = await t.metrics.rejections.get()
    return values.find((v) => v.labels.code === code)?.value ?? 0
  }

  it('is hung up at the end of its document', async () => {
    const { far } = t.arrive(async (call) => call.answer())
    await settle()
    expect(far.requests).toEqual(['answer', 'end normal'])
    expect(t.calls.count).toBe(0)
    expect(t.clock.running).toBe(0)
  })

  it('is hung up even if its handler reports the end of the call', async () => {
    const { far } = t.arrive(async (call) => {
      await call.answer()
      throw new CallEnded()
    })
    await settle()
    expect([far.requests, t.calls.count, await rejections('handler_failed')]).toEqual([
      ['answer', 'end normal'],
      0,
      0,
    ])
  })

  it('answers before it plays, and goes on after the end of the sound', async () => {
    const { far, port } = t.arrive(async (call) => {
      await call.play({ sounds: [{ kind: 'silence', ms: 10 }] })
      await call.hangup()
    })
    await settle()
    expect(far.requests).toEqual(['answer'])
    port.playing?.finish('finished')
    await settle()
    expect(far.requests).toEqual(['answer', 'end normal'])
  })

  it('prepares the first sound before it answers', async () => {
    const speech = Promise.withResolvers<typeof prompt>()
    t.preparing = speech.promise
    const { far, port } = t.arrive(async (call) => call.play({ sounds: [{ kind: 'speech', text: 'hello' }] }))
    await settle()
    expect(far.requests).toEqual([])
    speech.resolve(prompt)
    await settle()
    expect(far.requests).toEqual(['answer'])
    expect(port.playing).toBeDefined()
  })

  it('answers even if a sound cannot be fetched, and fails the verb alone', async () => {
    t.preparing = Promise.reject(new Error('no such voice'))
    let failure: unknown
    const { far } = t.arrive(async (call) => {
      await call.play({ sounds: [{ kind: 'speech', text: 'hello' }] }).catch((error) => {
        failure = error
      })
    })
    await settle()
    expect(failure).toMatchObject({ name: 'VerbFailed', message: 'no such voice' })
    expect(far.requests).toEqual(['answer', 'end normal'])
  })

  it('plays early media without an answer if requested', async () => {
    const { far, port } = t.arrive(async (call) =>
      call.play({ sounds: [{ kind: 'silence', ms: 10 }], autoAnswer: false }),
    )
    await settle()
    port.playing?.finish('finished')
    await settle()
    expect(far.requests).toEqual(['progress', 'end normal'])
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

  it('ends at its maximum duration', async () => {
    const { far } = t.arrive(async (call) => {
      await call.answer({ maxDurationMs: 1_000 })
      await call.sleep(60_000)
    })
    await settle()
    t.clock.advance(1_000)
    await settle()
    expect(far.requests).toEqual(['answer', 'end max_duration'])
  })

  it('is rejected over the limit and while draining, and both are counted', async () => {
    const wait = (call: CallControl) => call.sleep(1_000_000)
    t.arrive(wait)
    t.arrive(wait)
    const third = t.arrive(wait)
    expect(third.far.requests).toEqual(['end over_call_limit'])
    expect(await rejections('over_call_limit')).toBe(1)
    const drained = t.calls.drain(5_000)
    expect(t.arrive(wait).far.requests).toEqual(['end draining'])
    t.clock.advance(5_000)
    await drained
    expect(t.calls.count).toBe(0)
  })

  it('may end by itself while draining, or is hung up after the grace time', async () => {
    const first = t.arrive((call) => call.sleep(1_000_000))
    const second = t.arrive((call) => call.sleep(1_000_000))
    let drained = false
    const done = t.calls.drain(5_000).then(() => {
      drained = true
    })
    first.leg.ended({ code: 'normal' })
    await settle()
    expect([drained, second.far.requests]).toEqual([false, []])
    t.calls.endAll({ code: 'draining' })
    await done
    expect([second.far.requests, t.calls.legs]).toEqual([['end draining'], 0])
    await settle()
    expect(t.clock.running).toBe(0)
    await t.calls.drain(5_000)
  })

  it('is drained when its handler has reported, but not forever', async () => {
    const said = Promise.withResolvers<void>()
    t.arrive(async (call) => {
      await call.sleep(1_000_000).catch(() => said.promise)
    })
    let drained = 0
    const wait = () => t.calls.drain(0).then(() => drained++)
    const first = wait()
    t.clock.advance(0)
    await settle()
    expect([t.calls.count, drained]).toEqual([0, 0])
    t.clock.advance(5_000)
    await first
    const second = wait()
    await settle()
    expect(drained).toBe(1)
    said.resolve()
    await second
    expect(t.clock.running).toBe(0)
  })

  it('ends with the media thread of its port, and no other call does', async () => {
    const lost = t.arrive((call) => call.sleep(1_000_000))
    const other = t.arrive((call) => call.sleep(1_000_000))
    t.calls.portsLost([lost.port.id])
    await settle()
    expect([lost.far.requests, other.far.requests]).toEqual([['end internal'], []])
    expect(t.calls.count).toBe(1)
  })

  it('is rejected with the code of the fault in the document', async () => {
    const invalid = t.arrive(async () => {
      throw new DocumentInvalid([{ code: 'x', message: 'm', path: '/a' }])
    })
    const unreachable = t.arrive(async () => {
      throw new DocumentUnreachable('http://x/', 'timed out')
    })
    await settle()
    expect(invalid.far.requests).toEqual(['end document_invalid'])
    expect(unreachable.far.requests).toEqual(['end document_unreachable'])
    expect(await rejections('document_invalid')).toBe(1)
  })

  it.each(['flow', 'realtime'] as const)('is rejected without a handler of the kind %s', async (kind) => {
    const handler = kind === 'flow' ? { kind, document: '{}', name: 'x' } : { kind, topic: 'office' }
    const { far } = t.arrive(async () => {}, { plan: { kind: 'handler', handler } })
    await settle()
    expect(far.requests).toEqual(['end no_handler'])
    expect(await rejections('no_handler')).toBe(1)
  })

  it('collects digits: the first one stops the prompt, a terminator ends it', async () => {
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

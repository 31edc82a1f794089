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

  it('is hung up when its document is at its end', async () => {
    const { far } = t.arrive(async (call) => call.answer())
    await settle()
    expect(far.told).toEqual(['answer', 'end normal'])
    expect(t.calls.count).toBe(0)
    expect(t.clock.running).toBe(0)
  })

  it('is hung up also when its handler takes it for ended', async () => {
    const { far } = t.arrive(async (call) => {
      await call.answer()
      throw new CallEnded()
    })
    await settle()
    expect([far.told, t.calls.count, await rejections('handler_failed')]).toEqual([
      ['answer', 'end normal'],
      0,
      0,
    ])
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

  it('is drained when its handler has told what became of it, but not for ever', async () => {
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

  it.each(['flow', 'realtime'] as const)('is refused where nobody handles the kind %s', async (kind) => {
    const handler = kind === 'flow' ? { kind, document: '{}', name: 'x' } : { kind, topic: 'office' }
    const { far } = t.arrive(async () => {}, { plan: { kind: 'handler', handler } })
    await settle()
    expect(far.told).toEqual(['end no_handler'])
    expect(await rejections('no_handler')).toBe(1)
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

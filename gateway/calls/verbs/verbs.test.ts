import { beforeEach, describe, expect, it } from 'vitest'
import {
  type CallControl,
  CallEnded,
  type Sound,
  type VerbEvent,
  VerbFailed,
} from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import type { FakeLeg } from '../testing/fake-legs.ts'

const hello: readonly Sound[] = [{ kind: 'speech', text: 'hello' }]

type Fixture = ReturnType<typeof setUp>
type Begin = (call: CallControl, signal?: AbortSignal) => Promise<unknown>

/** Starts a call whose handler waits, and records the events of its verbs. */
const begin = (t: Fixture, options: Parameters<Fixture['arrive']>[1] = {}) => {
  const ready = Promise.withResolvers<CallControl>()
  const done = Promise.withResolvers<void>()
  const events: VerbEvent[] = []
  const side: FakeLeg = t.arrive(async (call) => {
    call.onVerb((event) => events.push(event))
    ready.resolve(call)
    await done.promise
  }, options)
  return { ...side, ready: ready.promise, done: done.resolve, events }
}

const textsOf = (events: readonly VerbEvent[]) =>
  events.map(({ verb, state, code }) => [verb, state, ...(code ? [code] : [])].join(' '))

/** Verbs that take time, with their start. */
const lasting: readonly (readonly [name: string, begin: Begin])[] = [
  ['play', (call, signal) => call.play({ sounds: hello, ...(signal && { signal }) })],
  ['collect', (call, signal) => call.collect({ prompt: { sounds: hello }, ...(signal && { signal }) })],
  ['connect', (call, signal) => call.connect({ steps: [[{ to: 'sip:a@x' }]], ...(signal && { signal }) })],
  ['record', (call, signal) => call.record({ ...(signal && { signal }) })],
  ['refer', (call, signal) => call.refer({ to: 'sip:b@x', ...(signal && { signal }) })],
  ['sendDigits', (call, signal) => call.sendDigits('12', signal && { signal })],
  ['sleep', (call, signal) => call.sleep(60_000, signal && { signal })],
]

/** The verbs that resolve instead of rejecting. */
const resolving: Readonly<Record<string, { readonly canceled?: object; readonly hangup?: object }>> = {
  connect: { canceled: { kind: 'failed', reason: 'canceled' } },
  record: { canceled: { reason: 'stopped' }, hangup: { reason: 'hangup' } },
  refer: { hangup: { kind: 'canceled' } },
}

let t: Fixture
beforeEach(() => {
  t = setUp()
})

const counted = async (verb: string) => {
  const { values } = await t.metrics.verbs.get()
  return Object.fromEntries(
    values
      .filter(({ labels }) => labels.verb === verb)
      .map(({ labels, value }) => [labels.outcome, value] as const),
  )
}

/** Starts a call in which `verb` is running. */
const pending = async (verb: Begin, signal?: AbortSignal) => {
  const side = begin(t)
  const untilGone = () =>
    new Promise((resolve) => {
      side.leg.whenGone(() => resolve({ kind: 'canceled', status: 408 }))
    })
  Object.assign(side.far, { refer: untilGone, sendDigits: () => new Promise(() => {}) })
  const call = await side.ready
  const outcome = verb(call, signal).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
  await settle()
  expect(t.controllers.pending).toBe(1)
  return { ...side, call, outcome }
}

/** Expects that no verb has left anything on the call's audio. */
const quiet = ({ port }: FakeLeg) => {
  expect(port.playing).toBeUndefined()
  expect(port.taps.filter(({ closed }) => !closed)).toEqual([])
  expect(t.controllers.pending).toBe(0)
  expect(t.outbound.dialled.filter(({ leg }) => !leg.isEnded)).toEqual([])
}

describe('a canceled verb', () => {
  it.each(lasting)('%s: ends, and the call goes on as it was', async (name, verb) => {
    const abort = new AbortController()
    const side = await pending(verb, abort.signal)
    const reason = new Error('enough')
    abort.abort(reason)
    await settle()
    const expected = resolving[name]?.canceled
    if (expected) expect(await side.outcome).toMatchObject({ result: expected })
    else expect(await side.outcome).toEqual({ error: reason })
    quiet(side)
    expect(side.leg.isAnswered || name === 'connect' || name === 'sleep').toBe(true)
    expect(textsOf(side.events).at(-1)).toMatch(new RegExp(`^${name} (canceled|finished)$`))
    // The next verb works.
    const next = side.call.play({ sounds: hello })
    await settle()
    side.port.playing?.finish('finished')
    await next
    side.done()
    await settle()
    expect([t.calls.count, t.clock.running]).toEqual([0, 0])
  })

  // Without `connect`, which resolves with a result when it is aborted early.
  it.each(lasting.filter(([name]) => name !== 'connect'))(
    '%s: does not start if its signal has fired',
    async (_name, verb) => {
      const { far, ready, events } = begin(t)
      const reason = new Error('too late')
      await expect(verb(await ready, AbortSignal.abort(reason))).rejects.toBe(reason)
      expect([far.requests, events]).toEqual([[], []])
    },
  )
})

describe('a hang-up during a verb', () => {
  it.each(lasting)('%s: settles, and leaves nothing behind', async (name, verb) => {
    const side = await pending(verb)
    side.leg.ended({ code: 'normal' })
    await settle()
    const expected = resolving[name]?.hangup
    if (expected) expect(await side.outcome).toMatchObject({ result: expected })
    else expect(await side.outcome).toEqual({ error: expect.any(CallEnded) })
    quiet(side)
    side.done()
    await settle()
    expect([t.calls.count, t.clock.running]).toEqual([0, 0])
    expect(await counted(name)).toEqual({ [expected ? 'finished' : 'canceled']: 1 })
  })

  it('makes every later verb reject at once', async () => {
    const { leg, ready, events } = begin(t)
    const call = await ready
    leg.ended({ code: 'normal' })
    for (const [, verb] of lasting) await expect(verb(call)).rejects.toBeInstanceOf(CallEnded)
    await expect(call.hold()).rejects.toBeInstanceOf(CallEnded)
    expect(() => call.sendUserEvent({})).toThrow(CallEnded)
    expect(events).toEqual([])
  })
})

describe('a verb that fails', () => {
  const nothing = () => {}
  const failing: readonly (readonly [name: string, code: string, begin: Begin, prepare: () => void])[] = [
    ['play', 'sound_failed', (call) => call.play({ sounds: hello }), () => noSound()],
    ['collect', 'sound_failed', (call) => call.collect({ prompt: { sounds: hello } }), () => noSound()],
    ['sendDigits', 'invalid_digits', (call) => call.sendDigits('1x'), nothing],
    ['refer', 'refer_unsupported', (call) => call.refer({ to: 'sip:b@x' }), nothing],
    ['joinConference', 'verb_unavailable', (call) => call.joinConference({ name: 'a' }), nothing],
    ['enterQueue', 'verb_unavailable', (call) => call.enterQueue({ name: 'a' }), nothing],
    ['detect', 'verb_unavailable', (call) => call.detect({ digits: '1' }), nothing],
    [
      'record',
      'recording_no_space',
      (call) => call.record({}),
      () => {
        t.recordingStore.refusal = Object.assign(new Error('full'), { code: 'recording_no_space' })
      },
    ],
    [
      'stream',
      'bad_stream',
      (call) => call.startStream({ url: 'x' }),
      () => {
        t.streams.refusal = Object.assign(new Error('no URL'), { code: 'bad_stream' })
      },
    ],
  ]
  const noSound = () => {
    t.preparing = Promise.reject(new Error('no such voice'))
    t.preparing.catch(() => {})
  }

  it.each(failing)('%s: with %s, and the call goes on', async (name, code, verb, prepare) => {
    prepare()
    const side = begin(t)
    const call = await side.ready
    const error = await verb(call).catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(VerbFailed)
    expect(error).toMatchObject({ code })
    expect(textsOf(side.events)).toEqual([`${name} started`, `${name} failed ${code}`])
    quiet(side)
    expect(side.leg.isEnded).toBe(false)
    expect(await counted(name)).toEqual({ failed: 1 })
    const next = call.sleep(10)
    t.clock.advance(10)
    await next
  })

  it('an event that is too large', async () => {
    const { ready, events } = begin(t)
    const call = await ready
    expect(() => call.sendUserEvent({ text: 'x'.repeat(16_384) })).toThrow(VerbFailed)
    expect(textsOf(events)).toEqual(['userEvent started', 'userEvent failed user_event_too_large'])
  })
})

describe('events of verbs', () => {
  it('report each start and end, with one id, until the listener is removed', async () => {
    const { ready, port } = begin(t)
    const call = await ready
    const events: VerbEvent[] = []
    const stop = call.onVerb((event) => events.push(event))
    const playback = await call.startPlay({ sounds: hello })
    t.clock.advance(500)
    port.playing?.finish('finished')
    await settle()
    expect(events).toEqual([
      { verb: 'play', id: playback.id, state: 'started', at: t.clock.now() - 500 },
      { verb: 'play', id: playback.id, state: 'finished', at: t.clock.now() },
    ])
    stop()
    await call.answer()
    expect(events).toHaveLength(2)
  })

  it('survive a listener that throws', async () => {
    const { ready, events } = begin(t)
    const call = await ready
    call.onVerb(() => {
      throw new Error('mine')
    })
    call.onDigit(() => {
      throw new Error('mine too')
    })
    await call.answer()
    expect(textsOf(events)).toEqual(['answer started', 'answer finished'])
  })

  it('report the failure of a broken stream', async () => {
    const { ready, events } = begin(t)
    await (await ready).startStream({ url: 'ws://x' })
    t.streams.started[0]!.end({ kind: 'failed', reason: 'lost' })
    await settle()
    expect(textsOf(events)).toEqual(['stream started', 'stream failed stream_failed'])
    expect(t.controllers.pending).toBe(0)
  })
})

describe('keys', () => {
  it('are reported as they are pressed, until the listener is removed', async () => {
    const { leg, ready } = begin(t)
    const keys: string[] = []
    const stop = (await ready).onDigit((digit) => keys.push(digit))
    for (const digit of '1#') leg.digit(digit)
    stop()
    leg.digit('2')
    expect(keys).toEqual(['1', '#'])
  })

  it('are sent all together, or one by one if they can be canceled', async () => {
    const { far, ready } = begin(t)
    const call = await ready
    await call.sendDigits('1w2')
    expect(far.requests).toEqual(['answer', 'digits 1w2'])
    await call.sendDigits('34', { signal: new AbortController().signal })
    expect(far.requests.slice(2)).toEqual(['digits 3', 'digits 4'])
  })
})

describe('a verb that is canceled at its start', () => {
  const given: readonly (readonly [name: string, begin: Begin])[] = [
    ...lasting.filter(([name]) => name !== 'connect'),
    [
      'a recording in the background',
      async (call, signal) => call.startRecording({ ...(signal && { signal }) }),
    ],
  ]

  it.each(given)('%s: has no effect', async (_name, verb) => {
    const { far, port, ready, done } = begin(t)
    const asked: string[] = []
    const refer = async () => {
      asked.push('refer')
      return { kind: 'completed', status: 202 }
    }
    Object.assign(far, { refer, sendDigits: async (digits: string) => void asked.push(digits) })
    const call = await ready
    await call.answer()
    const abort = new AbortController()
    const outcome = verb(call, abort.signal)
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(outcome).rejects.toBe(reason)
    await settle()
    expect([asked, port.playing, port.recordings, t.controllers.pending]).toEqual([[], undefined, [], 0])
    expect(t.clock.running).toBe(1)
    done()
  })
})

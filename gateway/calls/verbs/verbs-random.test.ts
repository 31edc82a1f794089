import { expect, it } from 'vitest'
import type { CallControl, Sound } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

const sounds: readonly Sound[] = [{ kind: 'silence', ms: 10 }]
const prompt = { sounds }

/** Verbs that take time, with every way to abort them. */
const verbs: readonly ((call: CallControl, signal: AbortSignal) => Promise<unknown>)[] = [
  (call, signal) => call.play({ sounds, signal }),
  async (call, signal) => (await call.startPlay({ sounds, loop: 0, signal })).ended,
  (call, signal) => call.collect({ prompt, maxDigits: 2, terminators: '#', signal }),
  async (call, signal) => (await call.startCollect({ prompt, bargeIn: 'none', speech: {}, signal })).result,
  (call, signal) => call.collect({ holdTimers: true, signal }),
  (call, signal) => call.record({ terminators: '*', signal }),
  (call, signal) => call.connect({ steps: [[{ to: 'sip:a@x' }, { to: 'sip:b@x' }]], signal }),
  (call, signal) => call.connect({ steps: [[{ to: 'sip:a@x' }]], answerOnBridge: true, signal }),
  (call, signal) => call.sleep(5_000, { signal }),
  (call, signal) => call.sendDigits('12', { signal }),
  (call) => call.startStream({ url: 'ws://x', name: 'one' }),
  (call) => call.hold(),
  (call) => call.unhold(),
  (call) => call.answer(),
  (call) => call.ring(),
]

/** Starts a call with random verbs. */
const live = async (seed: number) => {
  const random = randomOf(seed)
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  const t = setUp()
  const side = await t.wait()
  const { call } = side
  const begun: Promise<unknown>[] = []
  const aborts: AbortController[] = []
  const begin = () => {
    const abort = new AbortController()
    aborts.push(abort)
    begun.push(pick(verbs)!(call, abort.signal).catch((error: unknown) => error))
    return abort
  }
  const happenings: readonly (() => unknown)[] = [
    begin,
    () => begin().abort(new Error('at once')),
    () => pick(aborts)?.abort(new Error('enough')),
    () => side.leg.digit(pick([...'12#*'])!),
    () => side.port.playing?.finish('finished'),
    () => t.clock.advance(pick([10, 1_000, 6_000])!),
    () => pick(t.outbound.dialled)?.leg.early(random() < 0.5),
    () => pick(t.outbound.dialled)?.leg.answered(),
    () => pick(t.outbound.dialled)?.leg.ended({ code: 'normal' }),
    () => side.leg.hold(random() < 0.5),
  ]
  for (let n = 0; n < 30; n++) {
    pick([begin, ...happenings])!()
    if (random() < 0.7) await settle()
  }
  /** Returns the counts of open resources. */
  const left = () => {
    const legs = t.outbound.dialled
    return {
      pending: t.controllers.pending,
      timers: t.clock.running,
      bridges: t.bridges.count,
      legs: legs.filter(({ leg }) => !leg.isEnded).length,
      playing: [side, ...legs].filter(({ port }) => port.playing).length,
      taps: side.port.taps.filter(({ closed }) => !closed).length,
      listening: t.recogniser.opened.filter(({ state }) => state !== 'closed').length,
    }
  }
  return { t, call, side, aborts, begun, left }
}

const nothing = { pending: 0, timers: 0, bridges: 0, legs: 0, playing: 0, taps: 0, listening: 0 }
const seeds = Array.from({ length: 300 }, (_, i) => i + 1)

it('a call leaves nothing behind after a hang-up during any verbs', async () => {
  for (const seed of seeds) {
    const { t, side, begun, left } = await live(seed)
    side.leg.ended({ code: 'normal' })
    await settle()
    await Promise.all(begun)
    await settle()
    expect({ seed, calls: t.calls.count, ...left() }).toEqual({ seed, calls: 0, ...nothing })
  }
})

it('canceled verbs leave nothing behind, and the next verb works', async () => {
  for (const seed of seeds) {
    const { call, side, aborts, begun, left } = await live(seed)
    for (const abort of aborts) abort.abort(new Error('enough'))
    // A verb without a signal may have just begun.
    await settle()
    call.stopStream('one')
    await call.unhold()
    await settle()
    await Promise.all(begun)
    // The handler's own sleep, with its timer, and the longest duration of the call.
    expect({ seed, ...left() }).toEqual({ seed, ...nothing, pending: 1, timers: 2 })
    const played = call.play({ sounds })
    await settle()
    side.port.playing?.finish('finished')
    await played
    expect(side.leg.isAnswered).toBe(true)
    side.leg.ended({ code: 'normal' })
  }
})

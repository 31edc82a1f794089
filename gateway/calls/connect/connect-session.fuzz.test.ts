import { expect, it } from 'vitest'
import type { ConnectOptions, Destination } from '../../../handlers/verbs.ts'
import type { Call } from '../call/call.ts'
import { settle } from '../testing/calls-fixture.ts'
import { setUp } from '../testing/connect-fixture.ts'
import { numbers } from '../testing/seeded-numbers.ts'

const happenings = [
  'early',
  'media',
  'answer',
  'answer',
  'busy',
  'hangUp',
  'callerHangsUp',
  'giveUp',
  'time',
  'time',
  'refer',
  'referByCaller',
  'confirm',
  'refuse',
  'queued',
  'queuedHangsUp',
  'nothing',
] as const

const play = async (seed: number) => {
  const next = numbers(seed)
  const chance = (of: number) => next() < of
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)]
  const t = await setUp()
  t.registered.push({ kind: 'sip', uri: 'sip:p@10.0.0.1' }, { kind: 'sip', uri: 'sip:p@10.0.0.2' })
  const asked: PromiseWithResolvers<void>[] = []
  const confirm = () => {
    asked.push(Promise.withResolvers())
    return asked.at(-1)!.promise
  }
  const destination = (): Destination =>
    t.to(pick(['/public/phone', '/public/nobody', 'sip:a@y', 'sip:b@y', 'queue:q'])!, {
      ...(chance(0.3) && { confirm }),
      ...(chance(0.3) && { sendDigits: '1' }),
      ...(chance(0.3) && { timeoutMs: 5_000 }),
    })
  const several = <T>(make: () => T) => Array.from({ length: 1 + Math.floor(next() * 3) }, make)
  const giveUp = new AbortController()
  const options: Partial<ConnectOptions> = {
    ...(chance(0.3) && { signal: giveUp.signal }),
    ...(chance(0.5) && { answerOnBridge: true }),
    ...(chance(0.3) && { maxDurationMs: 20_000 }),
    ...(chance(0.3) && { confirmTimeoutMs: 3_000 }),
  }
  await t.fork(
    several(() => several(destination)),
    options,
  )
  const queued: Call[] = []
  const refer = { to: 'sip:c@y', progress: () => {} }
  const happens: Record<(typeof happenings)[number], () => unknown> = {
    early: () => callee()?.early(false),
    media: () => callee()?.early(true),
    answer: () => callee()?.answered(),
    busy: () => callee()?.ended({ code: 'busy' }),
    hangUp: () => callee()?.ended({ code: 'normal' }),
    callerHangsUp: () => chance(0.3) && t.a.leg.ended({ code: 'normal' }),
    giveUp: () => chance(0.3) && giveUp.abort(),
    time: () => t.clock.advance(pick([1_000, 5_000, 60_000])!),
    refer: () => callee()?.referred(refer),
    referByCaller: () => t.a.leg.referred(refer),
    confirm: () => asked.shift()?.resolve(),
    refuse: () => asked.shift()?.reject(new Error('no')),
    queued: async () => {
      if (t.queuedCallers.requested.length <= queued.length) return
      const { call } = await t.caller()
      queued.push(call)
      t.queuedCallers.arrives(call)
    },
    queuedHangsUp: () => pick(queued)?.end({ code: 'normal' }),
    nothing: () => {},
  }
  const callee = () => pick(t.outbound.dialled.filter(({ leg }) => !leg.isEnded))?.leg
  for (let i = 0; i < 15; i++) {
    await happens[pick(happenings)!]()
    // Sometimes the next action comes before the effects of the last one have ended.
    if (chance(0.5)) await settle()
    else for (let ticks = Math.floor(next() * 6); ticks > 0; ticks--) await Promise.resolve()
  }
  await settle()
  for (const call of [t.a.call, ...queued]) call.end({ code: 'normal' })
  await settle()
  return t
}

it('a fork leaves nothing behind after any events in any order', async () => {
  for (let seed = 1; seed <= 1_500; seed++) {
    const t = await play(seed)
    const up = t.outbound.dialled.filter(({ leg }) => !leg.isEnded).length
    const failures = t.outcomes.filter((outcome) => outcome instanceof Error && outcome.name !== 'CallEnded')
    expect([t.left(), up, t.outcomes.length, failures, t.a.port.closed], `seed ${seed}`).toEqual([
      [0, 0, 0],
      0,
      1,
      [],
      true,
    ])
  }
})

import { beforeEach, expect, it } from 'vitest'
import { type CallControl, CallEnded } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import type { CallController } from './call-controller.ts'

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

const begin = async () => {
  const { call: verbs, ...side } = await t.wait()
  const whole = verbs as CallController
  const scope = new AbortController()
  return { ...side, whole, scope, call: whole.scoped(scope.signal) }
}

const pending: readonly (readonly [string, (call: CallControl) => Promise<unknown>])[] = [
  ['play', (call) => call.play({ sounds: [{ kind: 'silence', ms: 10 }] })],
  ['collect', (call) => call.collect({})],
  ['a collection in the background', async (call) => (await call.startCollect({})).result],
  ['connect', (call) => call.connect({ steps: [[{ to: 'sip:a@x' }]] })],
  ['sleep', (call) => call.sleep(60_000)],
]

it.each(pending)('%s is canceled at the end of the scope, as at the end of the call', async (_name, verb) => {
  const { call, scope, leg, port, whole } = await begin()
  const outcome = verb(call).catch((error: unknown) => error)
  await settle()
  scope.abort()
  expect(await outcome).toBeInstanceOf(CallEnded)
  await settle()
  expect([leg.isEnded, port.playing, t.controllers.pending]).toEqual([false, undefined, 1])
  await whole.play({ sounds: [] })
})

it('returns the recording up to the end of the scope', async () => {
  const { call, scope } = await begin()
  const recorded = call.record({})
  await settle()
  scope.abort()
  expect(await recorded).toMatchObject({ reason: 'stopped' })
  await expect(call.record({})).rejects.toBeInstanceOf(CallEnded)
})

it('waits for sent digits until the end of the scope, and sends them all at once', async () => {
  const { call, scope, far } = await begin()
  await call.answer()
  const pressed = Promise.withResolvers<void>()
  far.sendDigits = (digits) => {
    far.requests.push(`digits ${digits}`)
    return pressed.promise
  }
  const sent = call.sendDigits('1w2')
  await settle()
  expect(far.requests).toEqual(['answer', 'digits 1w2'])
  scope.abort()
  await expect(sent).rejects.toBeInstanceOf(CallEnded)
})

it('lets no verb start after its end', async () => {
  const { call, scope, far } = await begin()
  scope.abort()
  expect(call.signal.aborted).toBe(true)
  for (const [, verb] of pending) await expect(verb(call)).rejects.toBeInstanceOf(CallEnded)
  await expect(call.hangup()).rejects.toBeInstanceOf(CallEnded)
  expect(call.sendUserEvent({})).toBe(false)
  expect(far.requests).toEqual([])
})

it('respects the signal of a verb', async () => {
  const { call } = await begin()
  const abort = new AbortController()
  const sleep = call.sleep(60_000, { signal: abort.signal })
  const reason = new Error('enough')
  abort.abort(reason)
  await expect(sleep).rejects.toBe(reason)
})

it('ends streams with the scope, and reports nothing more', async () => {
  const { call, scope, leg } = await begin()
  const keys: string[] = []
  call.onDigit((digit) => keys.push(digit))
  const stream = await call.startStream({ url: 'ws://x' })
  leg.digit('1')
  scope.abort()
  leg.digit('2')
  expect(await stream.ended).toEqual({ kind: 'stopped' })
  expect(keys).toEqual(['1'])
})

it('stops a stream that starts while the scope ends', async () => {
  const { call, scope, whole } = await begin()
  await whole.answer()
  const stream = call.startStream({ url: 'ws://x', name: 'one' })
  scope.abort()
  await expect(stream).rejects.toBeInstanceOf(CallEnded)
  expect([whole.stopStream('one'), t.controllers.pending]).toEqual([false, 1])
})

it('reports nothing to listeners that are added after its end', async () => {
  const { call, scope, leg } = await begin()
  scope.abort()
  const keys: string[] = []
  call.onDigit((digit) => keys.push(digit))
  leg.digit('1')
  expect(keys).toEqual([])
})

it('can hang up, and ends with the call', async () => {
  const { call, far } = await begin()
  await call.answer()
  await call.hangup()
  expect([far.requests, call.signal.aborted]).toEqual([['answer', 'end normal'], true])
})

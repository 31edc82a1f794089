import { beforeEach, describe, expect, it } from 'vitest'
import type { CollectOptions, CollectResult, Sound } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'

const menu: readonly Sound[] = [{ kind: 'speech', text: 'press a key' }]
const prompt = { sounds: menu }

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

/** Starts an answered call. */
const begin = async () => {
  const side = await t.wait()
  await side.call.answer()
  const press = async (keys: string) => {
    for (const key of keys) side.leg.digit(key)
    await settle()
  }
  const playOut = async () => {
    await settle()
    side.port.playing?.finish('finished')
    await settle()
  }
  return { ...side, press, playOut }
}

/** The result, as soon as there is one. */
const watch = (result: Promise<CollectResult>) => {
  const seen: { result?: CollectResult; error?: unknown } = {}
  result.then(
    (value) => Object.assign(seen, { result: value }),
    (error) => Object.assign(seen, { error }),
  )
  return seen
}

describe('keys that are typed ahead', () => {
  it('are the first digits, and the prompt is not played', async () => {
    const { call, press, port } = await begin()
    await press('12')
    const result = await call.collect({ prompt, maxDigits: 2 })
    expect(result).toEqual({ reason: 'complete', digits: '12' })
    expect(port.playing).toBeUndefined()
  })

  it('count during a prompt that they do not stop', async () => {
    const { call, press, port, playOut } = await begin()
    await press('1')
    const seen = watch(call.collect({ prompt, bargeIn: 'speech' }))
    await settle()
    expect([port.playing === undefined, seen.result]).toEqual([false, undefined])
    await playOut()
    expect(seen.result).toEqual({ reason: 'complete', digits: '1' })
  })

  it('remain for the next collection if one does not take them', async () => {
    const { call, press } = await begin()
    await press('123')
    expect(await call.collect({ prompt })).toMatchObject({ digits: '1' })
    expect(await call.collect({ prompt, maxDigits: 2 })).toMatchObject({ digits: '23' })
  })

  it('do not include the terminator after the last digit', async () => {
    const { call, press } = await begin()
    const first = call.collect({ maxDigits: 2, terminators: '#' })
    await settle()
    await press('12#')
    expect(await first).toEqual({ reason: 'complete', digits: '12' })
    await press('3')
    expect(await call.collect({ terminators: '#' })).toEqual({ reason: 'complete', digits: '3' })
    await press('#45#6')
    expect(await call.collect({ maxDigits: 2, terminators: '#' })).toEqual({
      reason: 'complete',
      digits: '45',
    })
    expect(await call.collect({})).toEqual({ reason: 'complete', digits: '6' })
  })

  it('are the last 32', async () => {
    const { call, press } = await begin()
    await press(`99${'1234567890'.repeat(3)}12`)
    const collection = await call.startCollect({ maxDigits: 40 })
    collection.stop()
    expect(await collection.result).toEqual({
      reason: 'stopped',
      digits: `${'1234567890'.repeat(3)}12`,
    })
  })

  it.each<[string, CollectOptions]>([
    ['where they are not wanted', { typeAhead: false }],
    ['where keys mean nothing', { digits: false, speech: {} }],
  ])('are forgotten %s', async (_name, options) => {
    const { call, press } = await begin()
    await press('1')
    const first = await call.startCollect(options)
    first.stop()
    expect(await first.result).toEqual({ reason: 'stopped', digits: '' })
    const second = watch(call.collect({ initialTimeoutMs: 1_000 }))
    await settle()
    t.clock.advance(1_000)
    await settle()
    expect(second.result).toEqual({ reason: 'no-input', digits: '' })
  })

  it('are forgotten with the end of a sound outside a collection', async () => {
    const { call, press, port, playOut } = await begin()
    const played = call.play({ sounds: menu })
    await press('1')
    await playOut()
    await played
    const seen = watch(call.collect({ prompt }))
    await settle()
    expect([port.playing === undefined, seen.result]).toEqual([false, undefined])
    await press('2')
    expect(seen.result).toEqual({ reason: 'complete', digits: '2' })
  })

  it('are kept if the sound was stopped', async () => {
    const { call, press } = await begin()
    const playback = await call.startPlay({ sounds: menu })
    await press('1')
    playback.stop()
    await playback.ended
    expect(await call.collect({})).toMatchObject({ digits: '1' })
  })

  it('are neither those for a callee nor those during ringing', async () => {
    const { call, leg, press } = await begin()
    const talk = call.connect({ steps: [[{ to: 'sip:a@x' }]] })
    await settle()
    await press('3')
    const callee = t.outbound.dialled[0]!
    callee.leg.answered()
    await settle()
    await press('7')
    expect(callee.far.requests).toEqual(['digits 7'])
    callee.leg.ended({ code: 'normal' })
    await talk
    const seen = watch(call.collect({ initialTimeoutMs: 10 }))
    await settle()
    t.clock.advance(10)
    await settle()
    expect(seen.result).toEqual({ reason: 'no-input', digits: '' })
    expect(leg.isEnded).toBe(false)
  })

  it('do not include the key that ended a recording', async () => {
    const { call, press, port } = await begin()
    const recorded = call.record({ terminators: '#' })
    await settle()
    await press('#')
    expect(await recorded).toMatchObject({ reason: 'terminator', terminator: '#' })
    expect(port.recordings).toHaveLength(1)
    const seen = watch(call.collect({ terminators: '#' }))
    await settle()
    expect(seen.result).toBeUndefined()
  })
})

describe('barge-in', () => {
  it.each(['none', 'speech'] as const)(
    '%s: a key does not stop the prompt, and counts after it',
    async (bargeIn) => {
      const { call, press, port, playOut } = await begin()
      const seen = watch(call.collect({ prompt, bargeIn, maxDigits: 3, interDigitTimeoutMs: 2_000 }))
      await settle()
      await press('12')
      // No timer runs during the prompt.
      t.clock.advance(60_000)
      await settle()
      expect([port.playing === undefined, seen.result]).toEqual([false, undefined])
      await playOut()
      t.clock.advance(2_000)
      await settle()
      expect(seen.result).toEqual({ reason: 'inter-digit-timeout', digits: '12' })
    },
  )

  it('digits: speech does not stop the prompt, and counts after it', async () => {
    const { call, port, playOut } = await begin()
    const seen = watch(call.collect({ prompt, bargeIn: 'digits', speech: {} }))
    await settle()
    const heard = t.recogniser.opened[0]!
    heard.final('sales', 0.9)
    await settle()
    expect([port.playing === undefined, seen.result]).toEqual([false, undefined])
    await playOut()
    expect(seen.result).toMatchObject({ reason: 'speech', speech: { text: 'sales' } })
  })

  it('both: either stops it', async () => {
    const { call, port } = await begin()
    const seen = watch(call.collect({ prompt, speech: {} }))
    await settle()
    t.recogniser.opened[0]!.partial('sa')
    await settle()
    expect([port.playing, seen.result]).toEqual([undefined, undefined])
  })
})

describe('a collection in the background', () => {
  it('waits for the first input only after its timers were started', async () => {
    const { call } = await begin()
    const collection = await call.startCollect({ holdTimers: true, initialTimeoutMs: 3_000 })
    const seen = watch(collection.result)
    t.clock.advance(60_000)
    await settle()
    expect(seen.result).toBeUndefined()
    collection.startTimers()
    t.clock.advance(1_000)
    collection.startTimers()
    t.clock.advance(2_000)
    await settle()
    expect(seen.result).toEqual({ reason: 'no-input', digits: '' })
  })

  it('reports the first input once, and the digits so far', async () => {
    const { call, press } = await begin()
    const reported: string[] = []
    const collection = await call.startCollect({
      maxDigits: 3,
      speech: {},
      onInput: (by) => reported.push(by),
      onDigits: (digits) => reported.push(digits),
    })
    await press('123')
    expect(await collection.result).toEqual({ reason: 'complete', digits: '123' })
    expect(reported).toEqual(['digits', '1', '12', '123'])
  })

  it('goes on after a failure of its listener', async () => {
    const { call, press } = await begin()
    const fail = () => {
      throw new Error('mine')
    }
    const { result } = await call.startCollect({ maxDigits: 2, onInput: fail, onDigits: fail })
    await press('12')
    expect(await result).toEqual({ reason: 'complete', digits: '12' })
  })

  it('stops with the digits so far, and stops its prompt', async () => {
    const { call, press, port } = await begin()
    const collection = await call.startCollect({ prompt, bargeIn: 'none', maxDigits: 5 })
    expect(collection.prompt).toBeDefined()
    await press('12')
    collection.stop()
    expect(await collection.result).toEqual({ reason: 'stopped', digits: '12' })
    expect([port.playing, t.clock.running]).toEqual([undefined, 2])
    expect(await collection.prompt?.ended).toEqual({ kind: 'stopped' })
  })

  it('goes on beside a conversation: both receive the keys', async () => {
    const { call, press } = await begin()
    void call.connect({ steps: [[{ to: 'sip:a@x' }]] })
    await settle()
    const callee = t.outbound.dialled[0]!
    callee.leg.answered()
    await settle()
    const collected = call.collect({ maxDigits: 2 })
    await settle()
    await press('12')
    expect(await collected).toEqual({ reason: 'complete', digits: '12' })
    await press('3')
    expect(callee.far.requests).toEqual(['digits 1', 'digits 2', 'digits 3'])
  })

  it('ends when another one starts', async () => {
    const { call, press } = await begin()
    const first = await call.startCollect({ maxDigits: 5 })
    await press('1')
    const second = await call.startCollect({ maxDigits: 2 })
    expect(await first.result).toEqual({ reason: 'stopped', digits: '1' })
    await press('23')
    expect(await second.result).toEqual({ reason: 'complete', digits: '23' })
  })

  it('rejects with the end of the call, also without a listener', async () => {
    const { call, leg } = await begin()
    const { result } = await call.startCollect({})
    leg.ended({ code: 'normal' })
    await expect(result).rejects.toMatchObject({ name: 'CallEnded' })
    expect(t.controllers.pending).toBe(0)
  })
})

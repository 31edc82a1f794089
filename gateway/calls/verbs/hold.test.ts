import { beforeEach, expect, it } from 'vitest'
import { type CallControl, CallEnded, type Sound } from '../../../handlers/verbs.ts'
import { prompt, settle, setUp } from '../testing/calls-fixture.ts'

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

/** Connects the caller to a callee. */
const talking = async () => {
  const side = await t.wait()
  const talk = side.call.connect({ steps: [[{ to: 'sip:a@x' }]] })
  await settle()
  const callee = t.outbound.dialled[0]!
  callee.leg.answered()
  await settle()
  return { ...side, callee, talk }
}

it('answers, and plays music to the caller until its end', async () => {
  const { call, far, leg, port } = await t.wait()
  await call.hold()
  await settle()
  expect(far.requests).toEqual(['answer'])
  expect([leg.isHeld, port.playing?.request.loop]).toEqual([true, 0])
  await call.unhold()
  await call.unhold()
  await settle()
  expect([leg.isHeld, port.playing]).toEqual([false, undefined])
})

it('parts the caller from its partner, who hears music, too, and joins them again', async () => {
  const { call, leg, port, callee } = await talking()
  expect(t.bridges.count).toBe(1)
  await call.hold()
  await settle()
  expect([t.bridges.count, port.playing !== undefined, callee.port.playing !== undefined]).toEqual([
    0,
    true,
    true,
  ])
  // Digits are still received.
  leg.digit('5')
  expect(callee.far.requests).toEqual(['digits 5'])
  await call.unhold()
  await settle()
  expect([t.bridges.count, port.playing, callee.port.playing]).toEqual([1, undefined, undefined])
})

it('includes a partner who is connected later, and goes on for the caller alone', async () => {
  const { call, port } = await t.wait()
  await call.hold()
  const talk = call.connect({ steps: [[{ to: 'sip:a@x' }]] })
  await settle()
  const callee = t.outbound.dialled[0]!
  callee.leg.answered()
  await settle()
  expect([t.bridges.count, callee.port.playing !== undefined]).toEqual([0, true])
  callee.leg.ended({ code: 'normal' })
  await talk
  await settle()
  expect([callee.port.playing, port.playing !== undefined]).toEqual([undefined, true])
})

it('replaces the ringing tone, and goes on after one', async () => {
  const { call, port } = await t.wait()
  await call.answer()
  const ring = async () => {
    const talk = call.connect({ steps: [[{ to: 'sip:a@x' }]] })
    await settle()
    const callee = t.outbound.dialled.at(-1)!
    callee.leg.early(false)
    await settle()
    return { callee, talk }
  }
  const first = await ring()
  const tone = port.playing
  await call.hold()
  await settle()
  expect([port.playing === tone, port.playing?.request.loop]).toEqual([false, 0])
  first.callee.leg.ended({ code: 'busy' })
  await first.talk
  const second = await ring()
  second.callee.leg.answered()
  await settle()
  expect([port.playing?.request.loop, second.callee.port.playing?.request.loop]).toEqual([0, 0])
  await call.unhold()
  await settle()
  expect([port.playing, second.callee.port.playing, t.bridges.count]).toEqual([undefined, undefined, 1])
})

it('resumes the music after another sound', async () => {
  const { call, port } = await t.wait()
  await call.hold()
  await settle()
  const played = call.play({ sounds: [{ kind: 'silence', ms: 10 }] })
  await settle()
  expect(port.playing?.request.loop).toBe(1)
  port.playing?.finish('finished')
  await played
  await settle()
  expect(port.playing?.request.loop).toBe(0)
})

it('plays the given music, and the built-in music if that fails', async () => {
  const { call, port } = await t.wait()
  const music: readonly Sound[] = [{ kind: 'audio', url: 'https://x/a.mp3' }]
  const broken = Promise.reject(new Error('404'))
  broken.catch(() => {})
  const { preparing } = t
  t.preparing = broken
  await call.hold({ music })
  t.preparing = preparing
  await settle()
  expect(port.playing?.request.loop).toBe(0)
})

it('ends when another leg replaces the held caller', async () => {
  const { call, leg, port, callee } = await talking()
  await call.hold()
  await settle()
  const referral = { to: 'sip:b@x', progress: () => {} }
  expect(leg.referred(referral)).toBe(true)
  await settle()
  expect([leg.isHeld, callee.leg.isHeld, port.playing]).toEqual([false, false, undefined])
  const third = t.outbound.dialled[1]!
  third.leg.answered()
  await settle()
  expect(t.bridges.count).toBe(1)
})

it('leaves nothing behind when the caller hangs up', async () => {
  const { call, leg, callee } = await talking()
  await call.hold()
  await settle()
  leg.ended({ code: 'normal' })
  await settle()
  expect([callee.port.playing, t.calls.count, t.clock.running]).toEqual([undefined, 0, 0])
})

it('does not start for a caller who hangs up at that moment', async () => {
  const { call, leg, callee, port } = await talking()
  const held = call.hold()
  leg.ended({ code: 'normal' })
  await expect(held).rejects.toBeInstanceOf(CallEnded)
  await settle()
  expect([port.playing, callee.port.playing]).toEqual([undefined, undefined])
})

it('cancels the fetch of music when the caller hangs up', async () => {
  const { call, leg, port } = await t.wait()
  const music = Promise.withResolvers<typeof prompt>()
  t.preparing = music.promise
  await call.hold()
  leg.ended({ code: 'normal' })
  music.resolve(prompt)
  await settle()
  expect(port.playing).toBeUndefined()
})

it('ends with the confirmation in which the callee was held', async () => {
  const { call } = await t.wait()
  const held: boolean[] = []
  const confirm = async (callee: CallControl) => {
    await callee.hold()
    held.push(t.outbound.dialled[0]!.leg.isHeld)
  }
  void call.connect({ steps: [[{ to: 'sip:a@x', confirm }]] })
  await settle()
  const { leg } = t.outbound.dialled[0]!
  leg.answered()
  await settle()
  expect([held, leg.isHeld, t.bridges.count]).toEqual([[true], false, 1])
})

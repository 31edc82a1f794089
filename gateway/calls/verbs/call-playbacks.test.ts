import { beforeEach, expect, it } from 'vitest'
import type { Sound } from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'

const hello: readonly Sound[] = [{ kind: 'speech', text: 'hello' }]

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

it('a playback is paused, made louder, resumed and stopped', async () => {
  const { call, port, far } = await t.wait()
  const playback = await call.startPlay({ sounds: hello })
  await settle()
  playback.pause()
  playback.setVolume(99)
  expect(port.playing).toMatchObject({ paused: true, volumeDb: 40 })
  playback.resume()
  expect(port.playing).toMatchObject({ paused: false })
  playback.stop()
  expect(await playback.ended).toEqual({ kind: 'stopped' })
  playback.stop()
  playback.resume()
  expect(port.playing).toBeUndefined()
  // States that the page receives.
  expect(far.sounds).toEqual(['playing', 'paused', 'playing', 'finished'])
})

it('a playback reports its end', async () => {
  const { call, port } = await t.wait()
  const first = await call.startPlay({ sounds: hello })
  await settle()
  port.playing?.finish('finished')
  expect(await first.ended).toEqual({ kind: 'finished' })
  const second = await call.startPlay({ sounds: hello })
  const third = await call.startPlay({ sounds: hello })
  expect(await second.ended).toEqual({ kind: 'stopped' })
  third.stop()
  t.preparing = Promise.reject(new Error('404 for it'))
  const fourth = await call.startPlay({ sounds: hello })
  expect(await fourth.ended).toEqual({ kind: 'failed', code: 'sound_failed', reason: '404 for it' })
})

it('a playback is stopped by a signal, and by the end of the call', async () => {
  const { call, leg, port } = await t.wait()
  const abort = new AbortController()
  const first = await call.startPlay({ sounds: hello, signal: abort.signal })
  await settle()
  abort.abort()
  expect(await first.ended).toEqual({ kind: 'stopped' })
  expect(port.playing).toBeUndefined()
  const second = await call.startPlay({ sounds: hello })
  await settle()
  leg.ended({ code: 'normal' })
  expect(await second.ended).toEqual({ kind: 'stopped' })
  expect(t.controllers.pending).toBe(1)
  await settle()
  expect(t.controllers.pending).toBe(0)
})

it('a playback that is canceled before its start cancels the preparation', async () => {
  const { call, far } = await t.wait()
  t.preparing = new Promise(() => {})
  const abort = new AbortController()
  const playback = call.startPlay({ sounds: hello, signal: abort.signal })
  await settle()
  const reason = new Error('enough')
  abort.abort(reason)
  await expect(playback).rejects.toBe(reason)
  expect(far.requests).toEqual([])
})

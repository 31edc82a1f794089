import { expect, it } from 'vitest'
import type { Prompt, Sounds } from '../../media/types.ts'
import { ReplaceableSounds } from './replaceable-sounds.ts'

const silence = { kind: 'silence', ms: 20 } as const

/** Sounds that are ready when `finish` is called. */
const slow = () => {
  const ready = Promise.withResolvers<Prompt>()
  let closed = 0
  const sounds: Sounds = {
    prepare: () => ready.promise,
    close: async () => {
      closed++
    },
  }
  const finish = (sampleRate: 8000 | 16000) =>
    ready.resolve({ sampleRate, samples: new Int16Array(new SharedArrayBuffer(2)) })
  return { sounds, finish, closed: () => closed }
}

it('finishes what is being made, makes the next by the new settings, and closes the old ones then', async () => {
  const first = slow()
  const second = slow()
  const sounds = new ReplaceableSounds(first.sounds)
  const begun = sounds.prepare(silence)
  sounds.change(second.sounds)
  const next = sounds.prepare(silence)
  expect(first.closed()).toBe(0)
  second.finish(16_000)
  expect((await next).sampleRate).toBe(16_000)
  expect([first.closed(), second.closed()]).toEqual([0, 0])
  first.finish(8_000)
  expect((await begun).sampleRate).toBe(8_000)
  expect([first.closed(), second.closed()]).toEqual([1, 0])
  await sounds.close()
  expect([first.closed(), second.closed()]).toEqual([1, 1])
})

it('closes idle ones at once, and all at the end', async () => {
  const first = slow()
  const second = slow()
  const third = slow()
  const sounds = new ReplaceableSounds(first.sounds)
  sounds.change(second.sounds)
  expect(first.closed()).toBe(1)
  void sounds.prepare(silence)
  sounds.change(third.sounds)
  await sounds.close()
  expect([first.closed(), second.closed(), third.closed()]).toEqual([1, 1, 1])
})

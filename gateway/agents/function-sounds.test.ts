import { expect, it } from 'vitest'
import { FunctionSounds } from './function-sounds.ts'

/** Functions by name: `wait` starts after its filler, `plain` has no sound. */
const functions = ['a', 'b', 'wait', 'plain'].map((name) => ({
  name,
  description: '',
  parameters: {},
  ...(name !== 'plain' && { waitSound: { url: `https://x.example/${name}.wav`, loops: 2 } }),
  ...(name === 'wait' && { waitForFillers: true }),
}))

const make = (filler?: Promise<void>) => {
  const played: (string | undefined)[] = []
  const sounds = new FunctionSounds(
    { functionNamed: (name) => functions.find((each) => each.name === name) },
    { ofFunction: () => filler },
    { meanwhile: (of) => void played.push(of?.url.slice(18)) },
  )
  return { sounds, played }
}

const settle = () => new Promise(setImmediate)

it('play the sound of a function after its filler, until it ends', async () => {
  const said = Promise.withResolvers<void>()
  const { sounds, played } = make(said.promise)
  expect(sounds.began('1', 'a')).toBeUndefined()
  await settle()
  expect(played).toEqual([])
  said.resolve()
  await settle()
  expect(played).toEqual(['a.wav'])
  sounds.ended('1')
  sounds.ended('1')
  expect(played).toEqual(['a.wav', undefined])
})

it('let a function wait for its filler that wants to', () => {
  const said = Promise.resolve()
  expect(make(said).sounds.began('1', 'wait')).toBe(said)
  expect(make().sounds.began('1', 'wait')).toBeUndefined()
})

it('play nothing for a function that ends during its filler, has no sound, or is unknown', async () => {
  const said = Promise.withResolvers<void>()
  const { sounds, played } = make(said.promise)
  sounds.began('1', 'a')
  sounds.ended('1')
  sounds.began('2', 'plain')
  sounds.began('3', 'absent')
  said.resolve()
  await settle()
  sounds.ended('2')
  sounds.ended('3')
  expect(played).toEqual([])
})

it('play the sound of the latest function, and then that of the one before', async () => {
  const { sounds, played } = make()
  sounds.began('1', 'a')
  await settle()
  sounds.began('2', 'b')
  await settle()
  sounds.ended('2')
  sounds.ended('1')
  expect(played).toEqual(['a.wav', 'b.wav', 'a.wav', undefined])
})

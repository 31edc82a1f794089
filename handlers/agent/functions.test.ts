import { expect, it } from 'vitest'
import type { FunctionDefinition } from './document-types.ts'
import { FunctionSet } from './functions.ts'

const definition = (name: string, more: Partial<FunctionDefinition> = {}): FunctionDefinition => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: {} },
  active: true,
  waitForFillers: false,
  skipFillers: false,
  metaData: {},
  metaDataToken: 't',
  ...more,
})

const setOf = (...definitions: readonly FunctionDefinition[]) => {
  const set = new FunctionSet()
  set.add(definitions)
  return set
}

const names = (set: FunctionSet, allowed?: readonly string[]) => set.active(allowed).map(({ name }) => name)

it('shows the model the functions that are on and permitted', () => {
  const set = setOf(
    definition('a'),
    definition('b', { active: false }),
    definition('c', { active: 0 }),
    definition('d'),
  )
  expect(names(set)).toEqual(['a', 'd'])
  expect(names(set, ['d', 'b'])).toEqual(['d'])
  expect(names(set, [])).toEqual([])
  expect(set.isOff('b')).toBe(true)
  expect(set.isOff('x')).toBe(false)
})

it('hides hooks, and finds them by their occasion', () => {
  const set = setOf(
    definition('start_hook'),
    definition('hangup_hook', { active: false }),
    definition('stop_hook'),
    definition('check_for_input'),
    definition('summarize_conversation'),
  )
  expect(names(set)).toEqual([])
  expect(set.hook('start')?.name).toBe('start_hook')
  expect(set.hook('end')?.name).toBe('stop_hook')
  expect(set.hook('poll')?.name).toBe('check_for_input')
  expect(set.hook('summary')?.name).toBe('summarize_conversation')
  expect(setOf().hook('poll')).toBeUndefined()
})

it('leaves out names that are reserved or known', () => {
  const set = setOf(definition('a'))
  expect(
    set.add([definition('next_step'), definition('a', { description: 'New.' }), definition('b')]),
  ).toEqual(['next_step', 'a'])
  expect(set.get('a')?.description).toBe('Does a.')
})

it('counts uses, and hides a function without any left', () => {
  const set = setOf(definition('a', { active: 2 }), definition('b'))
  expect([set.use('a'), set.use('a'), set.use('a')]).toEqual([1, 0, 'off'])
  expect(names(set)).toEqual(['b'])
  expect(set.use('b')).toBeUndefined()
  expect(set.use('constructor')).toBe('off')
})

it('switches only functions of the same token', () => {
  const set = setOf(
    definition('a'),
    definition('b', { metaDataToken: 'other' }),
    definition('c', { active: false }),
  )
  expect(set.toggle('t', ['a', 'b', 'x'], false)).toEqual(['b', 'x'])
  expect(set.toggle('t', ['c'], 1)).toEqual([])
  expect(names(set)).toEqual(['b', 'c'])
})

it('shares data by token', () => {
  const set = setOf(definition('a', { metaData: { x: 1 } }), definition('b', { metaData: { y: 2 } }))
  set.setMetaData('t', { z: 3 })
  set.unsetMetaData('t', ['x'])
  expect(set.metaData('t')).toEqual({ y: 2, z: 3 })
  expect(set.metaData('other')).toEqual({})
})

it('passes on fillers and the sound of the wait', () => {
  const fillers = { default: ['One moment'] }
  const waitSound = { url: 'https://x.example/a.wav', loops: 1 }
  const [a, b] = setOf(
    definition('a', { fillers, waitSound, waitForFillers: true }),
    definition('b', { fillers, skipFillers: true }),
  ).active()
  expect(a).toMatchObject({ fillers, waitSound, waitForFillers: true })
  expect(b).not.toHaveProperty('fillers')
})

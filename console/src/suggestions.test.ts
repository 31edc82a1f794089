import type { Address } from '@trunkline/client'
import { expect, it } from 'vitest'
import { suggest } from './suggestions.ts'

const person = (name: string, display_name: string) =>
  ({ name, display_name, channels: { audio: `/public/${name}?channel=audio` } }) as unknown as Address
const people = [person('bob', 'Bob Brown'), person('alice', 'Alice'), person('carol', 'Carol')]
const recents = [
  { to: '+49 30 123', name: '+49 30 123', direction: 'outbound', at: 2 },
  { to: '/public/bob', name: 'Bob', direction: 'inbound', at: 1 },
] as const

const names = (typed: string) => suggest(typed, recents, people, '/public/alice').map(({ name }) => name)

it('people and past calls are suggested, each destination once, without the user', () => {
  expect(names('bo')).toEqual(['Bob Brown'])
  expect(names('ali')).toEqual([])
  expect(names('')).toEqual([])
  expect(names('C')).toEqual(['Carol'])
})

it('a number is found by its digits', () => {
  expect(suggest('030', [{ to: '+4930123', name: 'Office', direction: 'inbound', at: 1 }], [], '')).toEqual(
    [],
  )
  const [found] = suggest('30 12', [{ to: '+4930123', name: 'Office', direction: 'inbound', at: 1 }], [], '')
  expect(found).toMatchObject({ name: 'Office', number: '+4930123', from: 'history' })
})

import type { Address, PresenceState } from '@trunkline/client'
import { expect, it } from 'vitest'
import { offersOf } from './offers.ts'

const person = (name: string) =>
  ({
    id: name,
    name,
    display_name: name.toUpperCase(),
    channels: { audio: `/public/${name}?channel=audio` },
  }) as unknown as Address

const states: Record<string, PresenceState> = {
  bob: 'online',
  carol: 'in_call',
  dan: 'online',
  erin: 'offline',
}

const call = (to: string, name = to) => ({ to, name, direction: 'outbound' as const, at: 1 })

const names = (
  recents: readonly ReturnType<typeof call>[],
  without: readonly string[] = [],
  parties: readonly string[] = [],
) =>
  offersOf({
    people: ['alice', 'bob', 'carol', 'dan', 'erin'].map(person),
    recents,
    presence: (id) => states[id],
    without: ['/public/alice', ...without],
    parties,
  }).map(({ name }) => name)

it('offers people who are available first, and then the latest calls, each once', () => {
  expect(names([call('+4930123', 'Office'), call('/public/bob', 'Bob')])).toEqual(['BOB', 'DAN', 'Office'])
})

it('offers neither the parties of the call nor a person known to be busy or offline', () => {
  expect(
    names([call('/public/carol', 'Carol'), call('/public/erin', 'Erin')], ['/public/bob?channel=video']),
  ).toEqual(['DAN'])
})

it('leaves out telephones that were added to the call', () => {
  expect(names([call('+4930123', 'Office')], ['/public/bob'], ['Office'])).toEqual(['DAN'])
})

it('offers at most five', () => {
  expect(names(['1', '2', '3', '4', '5'].map((end) => call(`+493012${end}`)))).toHaveLength(5)
})

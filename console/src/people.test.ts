import { type Address, type AddressesOptions, ClientError, type Paged } from '@trunkline/client'
import { expect, it } from 'vitest'
import { dialled, People, type PeopleClient } from './people.ts'

const address = (name: string, display_name = name) => ({ id: name, name, display_name }) as Address

const setUp = () => {
  const asked: AddressesOptions[] = []
  const timers: (() => void)[] = []
  const rig = {
    asked,
    timers,
    /** Responses of the server, in the order of the requests; an error makes the request reject. */
    answers: [] as (Promise<Paged<Address>> | Error)[],
    named: undefined as Address | undefined,
  }
  const client = {
    address: {
      getAddresses: async (options: AddressesOptions) => {
        asked.push(options)
        const answer = rig.answers.shift()
        if (answer instanceof Error) throw answer
        return answer ?? page([])
      },
      getAddress: async () => {
        if (!rig.named) throw new ClientError('unknown_address', '')
        return rig.named
      },
    },
  } as unknown as PeopleClient
  const clock = {
    now: () => 0,
    after: (_ms: number, run: () => void) => {
      const at = timers.push(run) - 1
      return { cancel: () => void timers.splice(at, 1, () => {}) }
    },
  }
  return Object.assign(rig, { people: new People(client, clock, () => {}) })
}

const page = (names: readonly string[], next?: Paged<Address>): Paged<Address> =>
  ({
    data: names.map((name) => address(name)),
    hasNext: next !== undefined,
    nextPage: async () => next,
  }) as Paged<Address>

it('a search starts once the typing stops, and continues page by page', async () => {
  const { people, asked, timers, answers } = setUp()
  answers.push(Promise.resolve(page(['bob'], page(['bobby']))))
  people.search('b', undefined)
  people.search(' bo ', 'subscriber')
  for (const run of timers) run()
  await new Promise(setImmediate)
  expect(asked).toMatchObject([{ displayName: 'bo', type: 'subscriber', pageSize: 20 }])
  expect([people.list.map(({ name }) => name), people.hasMore]).toEqual([['bob'], true])
  await people.more()
  expect([people.list.map(({ name }) => name), people.hasMore]).toEqual([['bob', 'bobby'], false])
})

it('the result of an outdated search is not shown', async () => {
  const { people, answers } = setUp()
  const slow = Promise.withResolvers<Paged<Address>>()
  answers.push(slow.promise, Promise.resolve(page(['new'])))
  const first = people.load()
  await people.load()
  slow.resolve(page(['old']))
  await first
  expect(people.list.map(({ name }) => name)).toEqual(['new'])
})

it('a failure is reported, and the shown list stays', async () => {
  const { people, answers } = setUp()
  answers.push(Promise.resolve(page(['bob'])), new Error('away'))
  await people.load()
  await people.load()
  expect([people.list.length, people.hasFailed, people.isLoading]).toEqual([1, true, false])
})

it('a name finds the matching person', async () => {
  const rig = setUp()
  const list = { ...page([]), data: [address('bob', 'Bob Brown'), address('bob2', 'Bob Brownlow')] }
  rig.answers.push(Promise.resolve(list), Promise.resolve(page(['bob', 'bob'])))
  expect((await rig.people.find('bob brown'))?.name).toBe('bob')
  expect(await rig.people.find('bob')).toBeUndefined()
  rig.named = address('menu')
  expect((await rig.people.find('menu'))?.name).toBe('menu')
})

it('the wanted channel is dialled, or the only one', () => {
  const both = { channels: { audio: '/p/a?channel=audio', video: '/p/a?channel=video' } }
  expect([dialled(both, true), dialled(both, false)]).toEqual(['/p/a?channel=video', '/p/a?channel=audio'])
  expect(dialled({ channels: { audio: '/p/a' } }, true)).toBe('/p/a')
  expect(dialled({ channels: { messaging: '/p/a' } }, true)).toBeUndefined()
})

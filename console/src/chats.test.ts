import { ClientError, type Message, type Paged } from '@trunkline/client'
import { expect, it } from 'vitest'
import { type ChatClient, Chats } from './chats.ts'
import { fakeStore } from './testing/fakes.ts'

const paged = <T>(data: readonly T[], next?: Paged<T>): Paged<T> =>
  ({ data, hasNext: next !== undefined, nextPage: async () => next }) as Paged<T>

const message = (id: string, ts: number, from = 'bob'): Message =>
  ({
    id,
    ts,
    text: `text ${id}`,
    from_address_id: from,
    conversation_id: 'bob',
    group_id: 'g1',
    user_name: 'Bob',
    conversation_name: 'Bob',
  }) as Message

const talk = (last: number | null) => ({
  id: 'g1',
  group_id: 'g1',
  address_id: 'bob',
  name: 'Bob',
  created_at: 1,
  last_message_at: last,
})

const setUp = (store = fakeStore(), last: number | null = 500) => {
  let hear: (message: Message) => void = () => {}
  let miss = () => {}
  const rig = {
    /** Conversations that the user joined. */
    joined: [] as string[],
    /** Messages, the newest first, page by page. */
    pages: [] as Message[][],
    sending: undefined as ClientError | undefined,
    last,
    now: 1000,
  }
  const page = (at: number): Paged<Message> | undefined => {
    const data = rig.pages[at]
    return data && paged(data, page(at + 1))
  }
  const client = {
    address: { getAddress: async () => ({ id: 'me' }) },
    conversation: {
      getConversations: async () => paged([talk(rig.last)]),
      subscribe: (listener: (message: Message) => void) => {
        hear = listener
        return { unsubscribe: () => {} }
      },
      onMissed: (listener: () => void) => {
        miss = listener
        return { unsubscribe: () => {} }
      },
    },
    chat: {
      join: async ({ addressId }: { addressId: string }) => {
        rig.joined.push(addressId)
        if (rig.sending) throw rig.sending
      },
      getMessages: async () => page(0) ?? paged([]),
      sendMessage: async ({ text }: { text: string }) => {
        if (rig.sending) throw rig.sending
        return { ...message('sent', 9, 'me'), text }
      },
    },
  } as unknown as ChatClient
  const parts = { client, store, address: '/public/alice', now: () => rig.now, changed: () => {} }
  const chats = new Chats(parts)
  return Object.assign(rig, { chats, store, hear: (heard: Message) => hear(heard), miss: () => miss() })
}

const turn = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

it('messages before the first visit are read; later ones are unread until they are shown', async () => {
  const first = setUp()
  await first.chats.load()
  expect([first.chats.list[0]?.name, first.chats.unread]).toEqual(['Bob', 0])
  // The same browser, after another message was written.
  const later = setUp(first.store, 2000)
  later.now = 3000
  await later.chats.load()
  expect(later.chats.unread).toBe(1)
  later.chats.open('bob', 'Bob')
  expect(later.chats.unread).toBe(0)
  const again = setUp(first.store, 2000)
  await again.chats.load()
  expect(again.chats.unread).toBe(0)
})

it('a received message moves its conversation up and marks it, an own message does not', async () => {
  const { chats, hear } = setUp()
  await chats.load()
  hear(message('m1', 2, 'me'))
  expect([chats.unread, chats.list[0]?.text]).toEqual([0, 'text m1'])
  hear(message('m2', 3))
  expect([chats.unread, chats.list[0]?.text]).toEqual([1, 'text m2'])
  chats.open('bob', 'Bob')
  hear(message('m3', 4))
  chats.see()
  expect(chats.unread).toBe(0)
})

it('each message is shown once and in order, and earlier ones are fetched', async () => {
  const rig = setUp()
  const { chats } = rig
  rig.pages = [[message('m4', 4), message('m3', 3)], [message('m2', 2)]]
  await chats.load()
  chats.open('bob', 'Bob')
  await turn()
  rig.hear(message('m5', 5))
  rig.hear(message('m4', 4))
  await chats.thread?.older()
  expect(chats.thread?.messages.map(({ id }) => id)).toEqual(['m2', 'm3', 'm4', 'm5'])
  expect(chats.thread?.hasOlder).toBe(false)
})

it('a long time without connection leaves no gap', async () => {
  const rig = setUp()
  rig.pages = [[message('m1', 1)]]
  rig.chats.open('bob', 'Bob')
  await turn()
  rig.pages = [[message('m9', 9), message('m8', 8)], [message('m7', 7)]]
  await rig.chats.load()
  expect(rig.chats.thread?.messages.map(({ id }) => id)).toEqual(['m8', 'm9'])
  expect(rig.chats.thread?.hasOlder).toBe(true)
})

it('messages that were not delivered are fetched', async () => {
  const rig = setUp()
  rig.pages = [[message('m1', 1)]]
  await rig.chats.load()
  rig.chats.open('bob', 'Bob')
  await turn()
  rig.pages = [[message('m2', 2), message('m1', 1)]]
  rig.miss()
  await turn()
  expect(rig.chats.thread?.messages.map(({ id }) => id)).toEqual(['m1', 'm2'])
})

it('a failed message is reported, and a draft is kept while another conversation is open', async () => {
  const rig = setUp()
  rig.chats.open('bob', 'Bob')
  const thread = rig.chats.thread
  if (thread) thread.draft = 'half'
  rig.sending = new ClientError('http', '', { serverCode: '429' })
  await expect(thread?.send('x')).rejects.toThrow('Too many messages')
  rig.sending = new ClientError('disconnected', '')
  await expect(thread?.send('x')).rejects.toThrow('not sent')
  rig.chats.open('carol', 'Carol')
  rig.chats.open('bob', 'Bob')
  expect(rig.chats.thread?.draft).toBe('half')
})

it('the conversation of a room is opened after joining it, even if that fails', async () => {
  const rig = setUp()
  const { chats } = rig
  await chats.openRoom('lounge', 'Lounge')
  expect([rig.joined, chats.thread?.id, chats.thread?.name]).toEqual([['lounge'], 'lounge', 'Lounge'])
  rig.sending = new ClientError('http', 'no')
  await chats.openRoom('attic', 'Attic')
  expect(chats.thread?.id).toBe('attic')
})

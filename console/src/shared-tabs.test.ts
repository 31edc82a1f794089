import { expect, it } from 'vitest'
import { type Channel, FirstTab, SharedTabs } from './shared-tabs.ts'

const account = { token: 't', email: 'a@b.c', address: '/public/alice', name: 'Alice' }

/** Tabs of one browser, whose messages arrive at once. */
const browser = () => {
  const listeners: ((event: { data: unknown }) => void)[] = []
  const open = (own?: typeof account) => {
    const events: unknown[] = []
    let receive: (event: { data: unknown }) => void = () => {}
    const channel = {
      postMessage: (data: unknown) => {
        for (const other of listeners) if (other !== receive) other({ data })
      },
      addEventListener: (_: string, listener: typeof receive) => {
        receive = listener
        listeners.push(listener)
      },
      close: () => {},
    } as unknown as Channel
    const tabs = new SharedTabs(channel, {
      account: () => own && { account: own, online: true },
      signedIn: (found, online, fresh) => events.push([fresh ? 'new' : 'in', found.name, online]),
      signedOut: () => events.push('out'),
      online: (online) => events.push(['online', online]),
    })
    return { tabs, events }
  }
  return { open, send: (data: unknown) => listeners.forEach((listener) => void listener({ data })) }
}

it('a tab with an older token receives the account of a new sign-in', () => {
  const { open } = browser()
  const older = open(account)
  open().tabs.signedIn({ ...account, token: 'newer' }, true)
  expect(older.events).toEqual([['new', 'Alice', true]])
})

it('a new tab receives the account of a signed-in one', () => {
  const { open } = browser()
  open(account)
  const later = open()
  later.tabs.ask()
  expect(later.events).toEqual([['in', 'Alice', true]])
})

it('the sign-out and the presence reach all other tabs', () => {
  const { open } = browser()
  const first = open(account)
  const second = open(account)
  first.tabs.online(false)
  first.tabs.signedOut()
  expect(second.events).toEqual([['online', false], 'out'])
  expect(first.events).toEqual([])
})

it('a message without an account is ignored', () => {
  const { open, send } = browser()
  const tab = open()
  for (const data of [undefined, null, 3, { kind: 'account' }, { kind: 'account', account: { token: 1 } }])
    send(data)
  expect(tab.events).toEqual([])
})

/** Locks of one browser. */
const sharedLocks = (): LockManager => {
  const waiting: (() => Promise<unknown>)[] = []
  let held: Promise<unknown> | undefined
  const next = () => {
    const run = waiting.shift()
    held = run?.()
    void held?.then(next)
  }
  return {
    request: (_: string, run: () => Promise<unknown>) => {
      waiting.push(run)
      if (!held) next()
      return Promise.resolve()
    },
  } as unknown as LockManager
}

it('a tab that leaves before its turn does not become the first', async () => {
  const locks = sharedLocks()
  const changes: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map(
    (name) => new FirstTab(locks, () => changes.push(name)),
  )
  second!.release()
  first!.release()
  await new Promise(setImmediate)
  expect([second!.isFirst, third!.isFirst, changes]).toEqual([false, true, ['first', 'third']])
})

it('one tab is the first, and the next one follows', async () => {
  const locks = sharedLocks()
  const first = new FirstTab(locks, () => {})
  const second = new FirstTab(locks, () => {})
  expect([first.isFirst, second.isFirst]).toEqual([true, false])
  first.release()
  await new Promise(setImmediate)
  expect([first.isFirst, second.isFirst]).toEqual([false, true])
  expect(new FirstTab(undefined, () => {}).isFirst).toBe(true)
})

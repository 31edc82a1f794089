import { expect, it } from 'vitest'
import { BrowserPush, type BrowserPushDeps } from './browser-push.ts'
import type { Kept, KeptStore } from './kept.ts'

const account = { token: 't', email: 'a@b.c', address: '/public/alice', name: 'Alice' }

interface Situation {
  permission?: NotificationPermission
  answer?: NotificationPermission
  serverKey?: string
  subscribing?: 'fails'
  registering?: 'fails'
  kept?: Partial<Kept>
  running?: boolean
  /** Bytes of the key of the browser's subscription. */
  subscribed?: number[]
}

const setUp = (situation: Situation = {}) => {
  const { answer = 'granted', serverKey = 'BP4z' } = situation
  const permission = 'permission' in situation ? situation.permission : 'granted'
  const kept: Partial<Kept> = { ...situation.kept }
  const did: unknown[] = []
  const store: KeptStore = {
    get: async (name) => kept[name],
    set: async (name, value) => void Object.assign(kept, { [name]: value }),
    remove: async (name) => void Reflect.deleteProperty(kept, name),
  }
  const pushManager = {
    subscribe: async ({ applicationServerKey }: { applicationServerKey: string }) => {
      if (situation.subscribing) throw new Error('no push service')
      did.push(`subscribe ${applicationServerKey}`)
      return { toJSON: () => ({ endpoint: 'e' }) }
    },
    getSubscription: async () => ({
      options: { applicationServerKey: Uint8Array.from(situation.subscribed ?? [4, 254, 51]).buffer },
      unsubscribe: async () => did.push('unsubscribe'),
    }),
  }
  const worker = { pushManager: pushManager as unknown as PushManager }
  const deps: BrowserPushDeps = {
    account,
    kept: store,
    serverKey: serverKey || undefined,
    changed: () => {},
    browser: {
      permission,
      ask: async () => answer,
      worker: async () => worker,
      started: async () => (situation.running ? worker : undefined),
    },
    client: {
      registerDevice: async ({ deviceToken }) => {
        if (situation.registering) throw new Error('no gateway')
        did.push(`register ${deviceToken}`)
        return { id: 'd1', push_notification_key: 'k1' } as never
      },
      unregisterDevice: async ({ id }) => {
        did.push(`unregister ${id}`)
        return {}
      },
    },
  }
  return { push: new BrowserPush(deps), kept, did }
}

it('a browser is registered and unregistered', async () => {
  const { push, kept, did } = setUp({ running: true })
  await push.enable()
  expect([push.state, kept.registration]).toEqual(['always', { account, deviceId: 'd1', key: 'k1' }])
  await push.disable()
  expect([push.state, kept.registration]).toEqual(['off', undefined])
  expect(did).toEqual(['subscribe BP4z', 'register {"endpoint":"e"}', 'unregister d1', 'unsubscribe'])
})

it.each<[string, Situation, string, RegExp | undefined]>([
  ['has no push service', { subscribing: 'fails' }, 'open', /only while this page is open/],
  ['has a gateway without push', { serverKey: '' }, 'open', undefined],
  ['is not taken by the gateway', { registering: 'fails' }, 'off', /could not be set up/],
  ['is refused by the person', { answer: 'denied' }, 'blocked', undefined],
  ['is not allowed yet', { answer: 'default' }, 'off', undefined],
])('a browser that %s', async (_what, situation, state, fault) => {
  const { push, kept } = setUp(situation)
  await push.enable()
  expect(push.state).toBe(state)
  expect(push.fault ?? '').toMatch(fault ?? /^$/)
  expect(kept.registration).toBeUndefined()
})

it.each<[Situation, string]>([
  [{ permission: undefined }, 'unsupported'],
  [{ permission: 'denied' }, 'blocked'],
  [{ permission: 'default' }, 'off'],
  [{}, 'off'],
  [{ running: true }, 'open'],
  [{ running: true, kept: { registration: { account, deviceId: 'd', key: 'k' } } }, 'always'],
])('the situation %j is read as %s', async (situation, state) => {
  const { push } = setUp(situation)
  await push.load()
  expect(push.state).toBe(state)
})

it('the latest token is stored for the service worker', async () => {
  const old = { account: { ...account, token: 'old' }, deviceId: 'd', key: 'k' }
  const { push, kept } = setUp({ running: true, kept: { registration: old } })
  await push.load()
  expect(kept.registration).toEqual({ account, deviceId: 'd', key: 'k' })
})

const registration = { account, deviceId: 'd', key: 'k' }

it('the browser subscribes again if the gateway has another key', async () => {
  const { push, kept, did } = setUp({ running: true, subscribed: [4, 1, 2], kept: { registration } })
  await push.load()
  expect([push.state, kept.registration?.deviceId]).toEqual(['always', 'd1'])
  expect(did).toEqual(['unsubscribe', 'subscribe BP4z', 'register {"endpoint":"e"}'])
})

it('a failed renewal of the subscription is reported', async () => {
  const { push } = setUp({
    running: true,
    subscribed: [4, 1, 2],
    kept: { registration },
    registering: 'fails',
  })
  await push.load()
  expect([push.state, push.fault]).toEqual(['off', expect.stringMatching(/could not be set up/)])
})

it('a subscription with the key of the gateway, or an unknown one, is kept', async () => {
  for (const serverKey of ['BP4z', '']) {
    const { push, kept, did } = setUp({ running: true, serverKey, kept: { registration } })
    await push.load()
    expect([push.state, kept.registration, did]).toEqual(['always', registration, []])
  }
})

it('the device of another subscriber in this browser is removed', async () => {
  const other = { account: { ...account, address: '/public/bob' }, deviceId: 'd', key: 'k' }
  const { push, kept, did } = setUp({ running: true, kept: { registration: other } })
  await push.load()
  expect([push.state, kept.registration, did]).toEqual(['off', undefined, ['unsubscribe']])
})

import type { DecryptedPush, PushPayload } from '@trunkline/client'
import { expect, it } from 'vitest'
import { alertTexts, type Language } from '../texts/alerts.ts'
import type { Kept, KeptStore } from './kept.ts'
import type { AlertOptions } from './notifier.ts'
import { Notifier } from './notifier.ts'

const invite = { params: { params: { callID: 'c1' } } }
const payload = (type: string): PushPayload => ({
  type,
  notification_uuid: 'n1',
  encryption_type: 'none',
  invite: '',
  iv: '',
  tag: '',
  version: '1.0',
  with_video: 'false',
  incoming_caller_name: 'Bob',
  incoming_caller_id: '+1555',
  title: '',
})

const memoryStore = (): KeptStore & { readonly kept: Partial<Kept> } => {
  const kept: Partial<Kept> = {}
  return {
    kept,
    get: async (name) => kept[name],
    set: async (name, value) => void Object.assign(kept, { [name]: value }),
    remove: async (name) => void Reflect.deleteProperty(kept, name),
  }
}

const setUp = ({ decrypted = invite as object, registered = true, language = 'en' as Language } = {}) => {
  const store = memoryStore()
  const account = { token: 't', email: '', address: '/public/alice', name: 'Alice' }
  if (registered) store.kept.registration = { account, deviceId: 'd', key: 'k' }
  const shown: { title: string; options: AlertOptions }[] = []
  const did: unknown[] = []
  const notifier = new Notifier({
    kept: store,
    words: async () => alertTexts[language],
    now: () => 5,
    decrypt: async (read, key) => {
      if (key !== 'k') throw new Error('another key')
      return { ...read, decrypted } as DecryptedPush
    },
    show: async (title, options) => void shown.push({ title, options }),
    shown: async (tag) =>
      shown
        .filter(({ options }) => options.tag === tag)
        .map(({ options }) => ({ data: options.data, close: () => void did.push(`close ${tag}`) })),
    tellPages: async ({ kind, id }) => void did.push(`${kind} ${id}`),
    openPage: async () => void did.push('open'),
    decline: async (_push, token) => void did.push(`decline with ${token}`),
  })
  const alert = () => ({ data: shown[0]?.options.data, close: () => void did.push('close') })
  return { notifier, store, shown, did, alert }
}

it('a call shows a notification, and informs the pages', async () => {
  const { notifier, shown, did } = setUp()
  await notifier.pushed(payload('call_invite'))
  expect(shown).toMatchObject([{ title: 'Incoming call', options: { tag: 'n1', body: 'Bob\n+1555' } }])
  expect(did).toEqual(['ring c1'])
})

it('a notification is in the language of the page', async () => {
  const { notifier, shown } = setUp({ language: 'de' })
  await notifier.pushed(payload('call_invite'))
  expect(shown).toMatchObject([
    { title: 'Eingehender Anruf', options: { actions: [{ title: 'Annehmen' }, { title: 'Ablehnen' }] } },
  ])
})

it('a call that cannot be attached to shows a notification too', async () => {
  const { notifier, shown, did } = setUp({ registered: false })
  await notifier.pushed({ ...payload('call_invite'), with_video: 'true' })
  expect(shown).toMatchObject([{ title: 'Incoming video call' }])
  expect(did).toEqual([])
})

it('the call is stored for the page that opens to answer', async () => {
  const { notifier, store, did, alert } = setUp()
  await notifier.pushed(payload('call_invite'))
  await notifier.clicked(alert(), 'answer')
  expect(store.kept.pending).toMatchObject({ answer: true, at: 5, push: { decrypted: invite } })
  expect(did).toEqual(['ring c1', 'close', 'open', 'answer c1'])
})

it('a decline needs no page, and stops the ringing of pages', async () => {
  const { notifier, store, did, alert } = setUp()
  await notifier.pushed(payload('call_invite'))
  await notifier.clicked(alert(), 'decline')
  expect(did).toEqual(['ring c1', 'close', 'decline c1', 'decline with t'])
  expect(store.kept.pending).toBeUndefined()
})

it('a call that a page shows is left to the page', async () => {
  const { notifier, store, did } = setUp()
  await notifier.clicked({ data: { id: 'c7' }, close: () => {} }, 'decline')
  await notifier.clicked({ data: { id: 'c7' }, close: () => {} }, '')
  expect(did).toEqual(['decline c7', 'open', 'answer c7'])
  expect(store.kept.pending).toBeUndefined()
})

it.each([
  ['ORIGINATOR_CANCEL', ['Missed call']],
  ['NO_ANSWER', ['Missed call']],
  ['LOSE_RACE', []],
  ['CALL_REJECTED', []],
])('the notification disappears when the call ends by %s', async (cause, titles) => {
  const { notifier, shown, did } = setUp({ decrypted: { params: { params: { callID: 'c1', cause } } } })
  await notifier.pushed(payload('call_invite'))
  await notifier.pushed(payload('cancel'))
  expect(did).toEqual(['ring c1', 'close n1'])
  expect(shown.slice(1).map(({ title }) => title)).toEqual(titles)
})

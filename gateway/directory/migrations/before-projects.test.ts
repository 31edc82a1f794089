import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { CallbackRows } from '../callbacks.ts'
import { pathOf } from '../index/entry.ts'
import { Passwords } from '../passwords.ts'
import { config, everythingOf, phone, script, TestStore } from '../testing/directories.ts'

const testStore = new TestStore()
const p = 'project-1'

/** Stored hashes are of the full cost. */
const stored = { passwords: new Passwords() }

/** A store that the release before projects has written, of the {@link declared} file. */
const before = readFileSync(new URL('testing-before-projects.sql', import.meta.url), 'utf8')

const declared = config({
  domains: [
    { domain: 'Demo.Example', allow: ['127.0.0.0/8'], handler: script, maxCalls: 5 },
    {
      domain: 'open.example',
      handler: { kind: 'realtime', topic: 'desk' } as const,
      callsPerSecond: 3,
      callsPerSecondOfSource: 2,
      maxCallsOfSource: 4,
      codecs: ['PCMA'] as const,
      challenge: { username: 'carrier', password: 'Tele-fon-9' },
    },
  ],
  endpoints: [
    phone,
    {
      username: 'desk2',
      password: 'Tele-fon-2',
      name: 'door',
      context: 'private',
      mayDialOut: true,
      callerId: '+4930',
      displayName: 'Door',
      handler: script,
      maxCalls: 1,
      callsPerSecond: 1,
      codecs: ['PCMU'],
    },
  ],
  resources: [
    { address: '/public/help', displayName: 'Help', handler: script },
    { address: '/public/menu', handler: { kind: 'xml', document: '<Response/>', name: 'menu.xml' } },
    {
      address: '/public/web',
      handler: {
        kind: 'xml',
        url: 'https://a.example/x',
        fallbackUrl: 'https://b.example/x',
        method: 'GET',
        name: 'web',
      },
    },
    { address: '/private/bot', handler: { kind: 'script', url: 'https://a.example/s', name: 'bot' } },
    { address: '/public/flow', handler: { kind: 'flow', document: '{"nodes":{}}', name: 'flow.yaml' } },
    { address: '/public/app', handler: { kind: 'realtime', topic: 'sales' } },
  ],
})

const write = (...texts: readonly string[]): void => {
  const database = new DatabaseSync(testStore.file)
  for (const text of texts) database.exec(text)
  database.close()
}

const kinds = {
  '/private/bot': 'swml_webhook',
  '/private/bob': 'subscriber',
  '/private/door': 'sip_endpoint',
  '/public/alice': 'subscriber',
  '/public/app': 'relay_application',
  '/public/flow': 'call_flow',
  '/public/help': 'swml_script',
  '/public/menu': 'cxml_script',
  '/public/phone': 'sip_endpoint',
  '/public/web': 'cxml_webhook',
}

it('keeps everything of the release before, with its ids, passwords and handlers, under the same file', async () => {
  write(before)
  const ids = testStore.query<{ id: string; resource_id: string }>('select id, resource_id from address')
  const hashes = testStore.query('select email, password_hash from subscriber order by email')
  const directory = await testStore.open(declared, undefined, stored)
  const all = everythingOf(directory)
  const shown = all.map(({ type, address }) => [pathOf(address), type] as const)
  expect(Object.fromEntries(shown)).toEqual(kinds)
  expect(all.map(({ id, address }) => `${address.id} ${id}`).sort()).toEqual(
    ids.map((row) => `${row.id} ${row.resource_id}`).sort(),
  )
  expect(testStore.query('select email, password_hash from subscriber order by email')).toEqual(hashes)
  expect(await directory.signIn(p, 'bob@example.test', 'builder')).toMatchObject({ firstName: 'Bob' })
  // No token becomes invalid: no password has changed.
  expect(directory.subscriberByEmail(p, 'alice@example.test')?.tokensAfter).toBe(0)
  expect(directory.domainApp('open.example')).toMatchObject({
    allow: undefined,
    handler: { kind: 'realtime', topic: 'desk' },
    codecs: ['PCMA'],
    callsPerSecond: 3,
    callsPerSecondOfSource: 2,
    maxCallsOfSource: 4,
    challenge: { username: 'carrier', realm: 'open.example' },
  })
  await directory.close()
  expect(testStore.query('pragma foreign_key_check')).toEqual([])
})

it('understands what the release before has left without the help of the file', async () => {
  // What the file has not made is read as the migration has written it.
  write(before, 'update resource set managed_by_file = 0; update domain_app set managed_by_file = 0')
  const directory = await testStore.open(
    config({ domains: [], endpoints: [], subscribers: [], resources: [] }),
    undefined,
    stored,
  )
  const { resources } = directory
  const at = (context: string, name: string) => resources.findByAddress(p, context, name)?.details
  expect(everythingOf(directory).map(({ type, address }) => [pathOf(address), type])).toEqual(
    expect.arrayContaining(Object.entries(kinds)),
  )
  expect(at('public', 'web')).toEqual({
    url: 'https://a.example/x',
    method: 'GET',
    fallbackUrl: 'https://b.example/x',
  })
  expect(at('public', 'menu')).toEqual({ document: '<Response/>', declaredAt: 'menu.xml' })
  expect(at('public', 'flow')).toEqual({ flow: '{"nodes":{}}', declaredAt: 'flow.yaml', version: 1 })
  expect(at('public', 'app')).toEqual({ topic: 'sales' })
  expect(at('private', 'bob')).toEqual({
    email: 'bob@example.test',
    firstName: 'Bob',
    lastName: 'B',
    mayDialOut: false,
  })
  expect(await directory.signIn(p, 'bob@example.test', 'builder')).toBeDefined()
  expect(directory.endpointByName('desk1')).toMatchObject({
    callerId: 'desk1',
    mayDialOut: false,
    maxCalls: 10,
    callsPerSecond: 2,
    codecs: ['PCMA', 'opus'],
  })
  expect(directory.endpointByName('desk2')).toMatchObject({ callerId: '+4930', handler: script })
  expect([...directory.endpointByName('desk2')!.secrets.keys()]).toEqual(['phones.example', 'sip.example'])
  expect(directory.domainApp('demo.example')).toMatchObject({
    allow: ['127.0.0.0/8'],
    handler: script,
    maxCalls: 5,
  })
})

it('hands recordings and callbacks that were left to the gateway that takes the store over', async () => {
  write(before)
  const { recordings, store } = await testStore.open(declared)
  await recordings.adopt('n1')
  expect(await recordings.totalBytes('n1')).toBe(80_044)
  const callbacks = new CallbackRows(store, 'n1')
  await callbacks.adopt()
  expect(await callbacks.next('https://x.example', 1)).toMatchObject([
    { id: 'e1', tries: 2, body: '{"a":"it\'s"}', node_id: 'n1' },
  ])
})

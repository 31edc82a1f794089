import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { directoryOptions } from '../directory/opening/directory-options.ts'
import { StoreVersionDiffers } from '../directory/opening/directory-snapshot.ts'
import { describeEngines } from '../directory/testing/engines.ts'
import { storedObjects } from './route-objects.ts'
import { type RouteQuery, testRoute } from './route-test.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-objects-'))
  mkdirSync(join(folder, 'data'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const load = (text: string): Config => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, `dataDir: data\nproject: p1\n${text}`)
  return loadConfig(file, {})
}

const handler = 'handler: { kind: xml, url: "https://app.example/call" }'
const text = (store = '') => `${store}
sip: { registrar: { domains: [pbx.example] }, domainSuffix: dapp.example }
domains: [{ domain: file.example, allow: [192.0.2.0/24], ${handler} }]
subscribers: [{ email: ann@x.example, password: looking-glass }]
`
const call = (uri: string, more: Partial<RouteQuery> = {}): RouteQuery => ({
  source: '192.0.2.1',
  transport: 'udp',
  method: 'INVITE',
  uri,
  ...more,
})

describeEngines('a route', (engine) => {
  const storeText = () => (engine.place.url === undefined ? '' : `store: { url: "${engine.place.url}" }`)
  const open = (config: Config) =>
    engine.open({ ...directoryOptions(config), log: { info: () => {}, error: () => {} } })

  it('has the objects of the API as in the running gateway, and changes none of them', async () => {
    const config = load(text(storeText()))
    const directory = await open(config)
    await directory.domainApps.create('p1', {
      name: 'Made',
      identifier: 'made',
      ipAuthEnabled: true,
      ipAuth: ['198.51.100.0/24'],
      encryption: 'optional',
      handler: { kind: 'document', document: 'xml', url: 'https://app.example/made' },
    } as never)
    await directory.carriers.create('p1', {
      name: 'acme',
      targets: ['sip:gw.acme.example'],
      default: true,
      numbers: { refuse: ['+49900'] },
    } as never)
    await directory.resources.create({
      projectId: 'p1',
      type: 'sip_endpoint',
      displayName: 'Desk',
      details: { username: 'desk', mayDialOut: true, maxCalls: 1, callsPerSecond: 1, codecs: ['PCMU'] },
      password: 'a-password',
    } as never)
    const before = await directory.store.selectFrom('resource').selectAll().execute()
    const stored = await storedObjects(config)
    const test = (query: RouteQuery) => testRoute(config, query, stored!.objects)
    const { domain } = directory.domainApps.list('p1', { number: 0, size: 9, name: 'Made' }).items[0]!
    expect(test(call(`sip:1@${domain}`, { source: '198.51.100.9' }))).toMatchObject({ admitted: true })
    expect(testRoute(config, call(`sip:1@${domain}`, { source: '198.51.100.9' }))).toMatchObject({
      admitted: false,
    })
    expect(test(call('sip:1@file.example'))).toMatchObject({ admitted: true })
    const dialled = (number: string) => test(call(`sip:${number}@pbx.example`, { user: 'desk' }))
    expect(dialled('+4930123').steps.at(-1)).toMatchObject({ check: 'number', passed: true })
    expect(dialled('+49900123')).toMatchObject({ admitted: false, code: 'number_not_allowed' })
    expect(stored!.objects.directory.resolve('/public/ann', 'p1')).toMatchObject({ kind: 'subscriber' })
    await stored!.close()
    expect(await directory.store.selectFrom('resource').selectAll().execute()).toEqual(before)
  })

  it('has what the file declares now, not what it declared at the last start', async () => {
    const directory = await open(load(text(storeText())))
    await directory.close()
    const config = load(text(storeText()).replaceAll('file.example', 'renamed.example'))
    const stored = await storedObjects(config)
    const test = (uri: string) => testRoute(config, call(uri), stored!.objects)
    expect(test('sip:1@renamed.example')).toMatchObject({ admitted: true })
    expect(test('sip:1@file.example')).toMatchObject({ admitted: false })
    await stored!.close()
  })
})

it('has no objects of a store that does not exist, and creates none', async () => {
  expect(await storedObjects(load(text()))).toBeUndefined()
  expect(readdirSync(join(folder, 'data'))).toEqual([])
})

it('has no objects of a store of another version', async () => {
  const database = new DatabaseSync(join(folder, 'data', 'trunkline.db'))
  database.exec('create table schema_version (version integer primary key, name text, applied_at integer)')
  database.exec("insert into schema_version values (999, 'later', 0)")
  database.close()
  await expect(storedObjects(load(text()))).rejects.toThrow(StoreVersionDiffers)
})

it('says that a store cannot be read', async () => {
  writeFileSync(join(folder, 'data', 'trunkline.db'), 'this is no database, but a text of some length')
  await expect(storedObjects(load(text()))).rejects.toThrow(/not a database/)
})

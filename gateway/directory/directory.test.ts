import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Target } from '../calls/ports.ts'
import { FakeClock } from '../clock.ts'
import type { DirectoryConfig } from './declared.ts'
import { createDirectory } from './directory.ts'
import type { Directory } from './types.ts'

const script = { kind: 'script', document: '{}', name: 'trunkline.yaml: resources[0].handler' } as const

const phone = {
  username: 'desk1',
  password: 'Tele-fon-1',
  name: 'phone',
  context: 'public',
  mayDialOut: false,
}

const config = (changes: Partial<DirectoryConfig> = {}): DirectoryConfig => ({
  project: 'project-1',
  sip: { registrar: { domains: ['Phones.Example', 'sip.example'] } },
  domains: [{ domain: 'Demo.Example', allow: ['127.0.0.0/8'], handler: script, maxCalls: 5 }],
  endpoints: [],
  subscribers: [
    { email: 'Alice@example.test', password: 'wonder', name: 'alice', context: 'public', mayDialOut: true },
    {
      email: 'bob@example.test',
      password: 'builder',
      name: 'bob',
      context: 'private',
      firstName: 'Bob',
      lastName: 'B',
      mayDialOut: false,
    },
  ],
  resources: [{ address: '/public/help', displayName: 'Help', handler: script }],
  ...changes,
})

/** A store as the first release left it. */
const firstRelease = `
  create table schema_version (version integer primary key, name text not null, applied_at bigint not null);
  create table domain_app (id text primary key, project_id text not null, domain text not null unique, allow_json text,
    handler_json text, max_calls integer, managed_by_file integer not null, created_at bigint not null);
  create table resource (id text primary key, project_id text not null,
    type text not null check (type in ('subscriber', 'app')), display_name text not null, handler_json text,
    managed_by_file integer not null, created_at bigint not null);
  create table subscriber (resource_id text primary key references resource (id) on delete cascade,
    email text not null unique, password_hash text not null, password_mark text not null, first_name text not null,
    last_name text not null, may_dial_out integer not null);
  create table address (id text primary key,
    resource_id text not null unique references resource (id) on delete cascade, context text not null,
    name text not null, created_at bigint not null, constraint address_context_name unique (context, name));
  insert into schema_version values (1, 'first', 1);
  insert into domain_app values ('d1', 'project-1', 'demo.example', null, null, null, 1, 1);
  insert into resource values ('r1', 'project-1', 'subscriber', 'alice', null, 1, 1);
  insert into resource values ('r2', 'project-1', 'app', 'mine', null, 0, 1);
  insert into subscriber values ('r1', 'alice@example.test', 'hash', 'mark', '', '', 1);
  insert into address values ('a1', 'r1', 'public', 'alice', 1);
  insert into address values ('a2', 'r2', 'public', 'mine', 1);`

let folder: string
let file: string
const opened: Directory[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-directory-'))
  file = join(folder, 'directory.sqlite')
})
afterEach(() => {
  for (const directory of opened.splice(0)) directory.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = async (
  declared = config(),
  where = file,
  numberTarget?: (number: string) => Target,
): Promise<Directory> => {
  const secret = new Uint8Array(32).fill(3)
  const directory = await createDirectory({
    file: where,
    config: declared,
    secret,
    clock: new FakeClock(),
    log: { info: () => {} },
    numberTarget,
  })
  opened.push(directory)
  return directory
}

const query = <T>(sql: string): T[] => {
  const database = new DatabaseSync(file)
  const rows = database.prepare(sql).all() as T[]
  database.close()
  return rows
}

describe('the directory', () => {
  it('knows what the file declares', async () => {
    const directory = await open(config(), ':memory:')
    expect(directory.domainApp('DEMO.example')).toMatchObject({
      domain: 'demo.example',
      allow: ['127.0.0.0/8'],
      handler: script,
      maxCalls: 5,
      projectId: 'project-1',
    })
    expect(directory.domainApp('other.example')).toBeUndefined()
    const alice = directory.subscriberByEmail('ALICE@example.test')
    expect(alice).toMatchObject({
      email: 'alice@example.test',
      address: '/public/alice',
      displayName: 'alice',
    })
    expect(directory.subscriber(alice!.id)).toBe(alice)
    expect(directory.subscriberByEmail('bob@example.test')).toMatchObject({
      displayName: 'Bob B',
      mayDialOut: false,
    })
    expect(directory.addresses().map((a) => `/${a.context}/${a.name} ${a.type} ${a.displayName}`)).toEqual([
      '/private/bob subscriber Bob B',
      '/public/alice subscriber alice',
      '/public/help app Help',
    ])
  })

  it('resolves SIP URIs and addresses, and nothing else', async () => {
    const directory = await open()
    const alice = directory.subscriberByEmail('alice@example.test')!
    const subscriber = { kind: 'subscriber', subscriberId: alice.id, address: '/public/alice' }
    expect(directory.resolve('sip:1@carrier.example;transport=tcp')).toEqual({
      kind: 'sip',
      uri: 'sip:1@carrier.example;transport=tcp',
    })
    expect(directory.resolve('SIPS:carrier.example')).toMatchObject({ kind: 'sip' })
    expect(directory.resolve('/public/alice')).toEqual(subscriber)
    expect(directory.resolve('/public/alice?channel=audio')).toEqual(subscriber)
    expect(directory.resolve('/public/help')).toEqual({
      kind: 'handler',
      handler: script,
      address: '/public/help',
    })
    for (const other of [
      '/public/carol',
      '/public',
      'alice',
      '+15551230001',
      'sip:',
      'sip:a b@c',
      '',
      '/a/b/c',
    ])
      expect(directory.resolve(other), other).toBeUndefined()
  })

  it('asks for what a number stands for', async () => {
    const numberTarget = (number: string) => ({ kind: 'sip', uri: `sip:${number}@carrier.example` }) as const
    const directory = await open(config(), ':memory:', numberTarget)
    expect(directory.resolve(' +4930123 ')).toEqual({ kind: 'sip', uri: 'sip:+4930123@carrier.example' })
    expect(directory.resolve('030123')).toMatchObject({ uri: 'sip:030123@carrier.example' })
    for (const other of ['+', '+49 30', '1'.repeat(40), 'alice'])
      expect(directory.resolve(other), other).toBeUndefined()
  })

  it('keeps rates and the challenge of a domain, not its password', async () => {
    const [demo] = config().domains
    const challenge = { username: 'trunk', password: 'Trunk-Secret' }
    const rates = { callsPerSecond: 7, callsPerSecondOfSource: 3 }
    const directory = await open(config({ domains: [{ ...demo!, ...rates, challenge }] }))
    const md5 = createHash('md5').update('trunk:demo.example:Trunk-Secret').digest('hex')
    expect(directory.domainApp('demo.example')).toMatchObject({
      ...rates,
      challenge: { username: 'trunk', realm: 'demo.example', md5 },
    })
    expect(JSON.stringify(query('select * from domain_app'))).not.toContain(challenge.password)
  })

  it('signs in with the right password only', async () => {
    const directory = await open()
    expect(await directory.signIn('alice@EXAMPLE.test', 'wonder')).toMatchObject({ address: '/public/alice' })
    expect(await directory.signIn('alice@example.test', 'builder')).toBeUndefined()
    expect(await directory.signIn('nobody@example.test', 'nobody')).toBeUndefined()
  })

  it('keeps ids and hashes over restarts, and a file that only its owner reads', async () => {
    const before = await open()
    const hashes = query('select email, password_hash from subscriber order by email')
    const addresses = before.addresses()
    const id = before.domainApp('demo.example')?.id
    before.close()
    const after = await open()
    expect(after.addresses()).toEqual(addresses)
    expect(after.domainApp('demo.example')?.id).toBe(id)
    expect(query('select email, password_hash from subscriber order by email')).toEqual(hashes)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('takes over what changed in the file: password, name, address, handler', async () => {
    const first = await open()
    const id = first.subscriberByEmail('alice@example.test')!.id
    first.close()
    const [alice, bob] = config().subscribers as [never, never]
    const second = await open(
      config({
        subscribers: [
          { ...(alice as object), password: 'changed', name: 'bob', context: 'private' } as never,
          { ...(bob as object), name: 'alice', context: 'public' } as never,
        ],
        domains: [{ domain: 'demo.example' }],
      }),
    )
    expect(second.resolve('/private/bob')).toMatchObject({ subscriberId: id })
    expect(await second.signIn('alice@example.test', 'wonder')).toBeUndefined()
    expect(await second.signIn('alice@example.test', 'changed')).toMatchObject({ id })
    expect(second.domainApp('demo.example')).toMatchObject({ allow: undefined, handler: undefined })
  })

  it('removes what the file declares no longer, and leaves alone what did not come from it', async () => {
    const first = await open()
    first.close()
    query(`insert into resource values ('r9', 'project-1', 'app', 'Mine', '${JSON.stringify(script)}', 0, 1)`)
    query("insert into address values ('a9', 'r9', 'public', 'mine', 1)")
    const second = await open(config({ domains: [], subscribers: [], resources: [] }))
    expect(second.addresses().map((a) => a.name)).toEqual(['mine'])
    expect(second.domainApp('demo.example')).toBeUndefined()
    expect(query('select count(*) as n from subscriber')).toEqual([{ n: 0 }])
    second.close()
    const clash = { address: '/public/mine', handler: script }
    const third = await open(config({ resources: [clash] }))
    expect(third.addresses().find((a) => a.name === 'mine')?.id).toBe('a9')
  })

  it('refuses a subscriber whose address belongs to something that did not come from the file', async () => {
    ;(await open()).close()
    query(`insert into resource values ('r9', 'project-1', 'app', 'Mine', null, 0, 1)`)
    query("insert into address values ('a9', 'r9', 'public', 'carol', 1)")
    const carol = {
      email: 'carol@example.test',
      password: 'x',
      name: 'carol',
      context: 'public',
      mayDialOut: true,
    }
    await expect(open(config({ subscribers: [carol] }))).rejects.toThrow(
      /\/public\/carol .* another resource/,
    )
    // Nothing of the failed attempt stays.
    expect((await open()).addresses()).toHaveLength(4)
  })

  it('refuses what is declared twice or is no address', async () => {
    const resource = { address: '/public/alice', handler: script }
    await expect(open(config({ resources: [resource] }))).rejects.toThrow(
      'The address /public/alice is declared twice.',
    )
    await expect(open(config({ domains: [{ domain: 'a.b' }, { domain: 'A.B' }] }))).rejects.toThrow(
      /a\.b is declared twice/,
    )
    await expect(open(config({ resources: [{ address: 'help', handler: script }] }))).rejects.toThrow(
      /"help" is no address/,
    )
  })
})

describe('SIP endpoints', () => {
  it('are known by user name, id and address, with a secret for each realm and never the password', async () => {
    const directory = await open(config({ endpoints: [{ ...phone, callerId: '+4930', handler: script }] }))
    const endpoint = directory.endpointByName('desk1')!
    expect(endpoint).toMatchObject({
      ...{ projectId: 'project-1', username: 'desk1', address: '/public/phone', displayName: 'phone' },
      ...{ callerId: '+4930', mayDialOut: false, handler: script },
    })
    expect(directory.endpoint(endpoint.id)).toBe(endpoint)
    expect(directory.endpointByName('DESK1')).toBeUndefined()
    expect([...endpoint.secrets.keys()]).toEqual(['phones.example', 'sip.example'])
    const sha256 = createHash('sha256').update('desk1:sip.example:Tele-fon-1').digest('hex')
    expect(endpoint.secrets.get('sip.example')).toMatchObject({ username: 'desk1', sha256 })
    expect(directory.resolve('/public/phone')).toEqual({
      ...{ kind: 'endpoint', endpointId: endpoint.id, address: '/public/phone' },
    })
    expect(directory.addresses().find((a) => a.name === 'phone')).toMatchObject({ type: 'endpoint' })
    expect(JSON.stringify(query('select * from endpoint'))).not.toContain(phone.password)
  })

  it('keep their id when the address moves, and go when the file has them no longer', async () => {
    const first = await open(config({ endpoints: [phone] }))
    const { id } = first.endpointByName('desk1')!
    first.close()
    const moved = await open(config({ endpoints: [{ ...phone, name: 'desk', password: 'Tele-fon-2' }] }))
    expect(moved.endpointByName('desk1')).toMatchObject({ id, address: '/public/desk', callerId: 'desk1' })
    expect(moved.endpointByName('desk1')?.secrets).not.toEqual(first.endpointByName('desk1')?.secrets)
    moved.close()
    const third = await open()
    expect(third.endpointByName('desk1')).toBeUndefined()
    expect(query('select count(*) as n from endpoint')).toEqual([{ n: 0 }])
  })

  it('have an address of their own, and a user name of their own', async () => {
    await expect(open(config({ endpoints: [{ ...phone, name: 'alice' }] }))).rejects.toThrow(
      'The address /public/alice is declared twice.',
    )
    await expect(open(config({ endpoints: [phone, { ...phone, name: 'other' }] }))).rejects.toThrow(
      'The endpoint desk1 is declared twice.',
    )
  })
})

describe('the store', () => {
  it('records the migrations that ran and runs none of them twice', async () => {
    ;(await open()).close()
    ;(await open()).close()
    expect(query('select version from schema_version')).toEqual([{ version: 1 }, { version: 2 }])
  })

  it('takes over a store of the first release, with its ids, passwords and references', async () => {
    const before = new DatabaseSync(file)
    before.exec(firstRelease)
    before.close()
    const directory = await open()
    expect(directory.addresses().map((a) => `${a.id} ${a.resourceId} ${a.name}`)).toEqual(
      expect.arrayContaining(['a1 r1 alice', 'a2 r2 mine']),
    )
    expect(directory.domainApp('demo.example')).toMatchObject({ id: 'd1', challenge: undefined })
    expect(query("select resource_id from subscriber where email = 'alice@example.test'")).toEqual([
      { resource_id: 'r1' },
    ])
    directory.close()
    const after = new DatabaseSync(file)
    after.exec('pragma foreign_keys = on')
    expect(after.prepare('pragma foreign_key_check').all()).toEqual([])
    after.exec("delete from resource where id = 'r1'")
    expect(after.prepare("select * from address where id = 'a1'").all()).toEqual([])
    expect(after.prepare("select * from subscriber where resource_id = 'r1'").all()).toEqual([])
    expect(() => after.exec("insert into resource values ('r3', 'p', 'robot', 'x', null, 0, 1)")).toThrow(
      /CHECK/,
    )
    after.close()
  })

  it('refuses a store of a later release', async () => {
    ;(await open()).close()
    query("insert into schema_version values (99, 'later', 1)")
    await expect(open()).rejects.toThrow(/has version 99/)
  })

  it('says which file cannot be opened', async () => {
    await expect(open(config(), join(folder, 'none', 'x.sqlite'))).rejects.toThrow(
      /none\/x\.sqlite cannot be opened/,
    )
  })

  it('closes more than once without harm', async () => {
    const directory = await open()
    directory.close()
    directory.close()
  })
})

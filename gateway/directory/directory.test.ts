import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pathOf } from './model/address-path.ts'
import { DeviceRows } from './tables/devices.ts'
import { config, everythingOf, script, TestStore } from './testing/directories.ts'
import { quickPasswords } from './testing/passwords.ts'

const testStore = new TestStore()
const { open, query } = testStore

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
    const alice = directory.subscriberByEmail('project-1', 'ALICE@example.test')
    expect(alice).toMatchObject({
      email: 'alice@example.test',
      address: '/public/alice',
      displayName: 'alice',
    })
    expect(directory.subscriber(alice!.id)).toBe(alice)
    expect(directory.subscriberByEmail('project-1', 'bob@example.test')).toMatchObject({
      displayName: 'Bob B',
      mayDialOut: false,
    })
    expect(
      everythingOf(directory).map(
        ({ address, type, displayName }) => `${pathOf(address)} ${type} ${displayName}`,
      ),
    ).toEqual([
      '/public/alice subscriber alice',
      '/private/bob subscriber Bob B',
      '/public/help swml_script Help',
    ])
  })

  it('resolves SIP URIs and addresses, and nothing else', async () => {
    const directory = await open()
    const alice = directory.subscriberByEmail('project-1', 'alice@example.test')!
    const subscriber = { kind: 'subscriber', subscriberId: alice.id, address: '/public/alice' }
    expect(directory.resolve('sip:1@carrier.example;transport=tcp', 'project-1')).toEqual({
      kind: 'sip',
      uri: 'sip:1@carrier.example;transport=tcp',
    })
    expect(directory.resolve('SIPS:carrier.example', 'project-1')).toMatchObject({ kind: 'sip' })
    expect(directory.resolve('/public/alice', 'project-1')).toEqual(subscriber)
    expect(directory.resolve('/public/alice?channel=audio', 'project-1')).toEqual(subscriber)
    expect(directory.resolve('/public/help', 'project-1')).toEqual({
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
      expect(directory.resolve(other, 'project-1'), other).toBeUndefined()
  })

  it('asks for what a number stands for', async () => {
    const numberTarget = (number: string) => ({ kind: 'sip', uri: `sip:${number}@carrier.example` }) as const
    const directory = await open(config(), ':memory:', { numberTarget })
    expect(directory.resolve(' +4930123 ', 'project-1')).toEqual({
      kind: 'sip',
      uri: 'sip:+4930123@carrier.example',
    })
    expect(directory.resolve('030123', 'project-1')).toMatchObject({ uri: 'sip:030123@carrier.example' })
    for (const other of ['+', '+49 30', '1'.repeat(40), 'alice'])
      expect(directory.resolve(other, 'project-1'), other).toBeUndefined()
  })

  it('keeps rates, codecs and the challenge of a domain, not its password', async () => {
    const [demo] = config().domains
    const challenge = { username: 'trunk', password: 'Trunk-Secret' }
    const rates = { callsPerSecond: 7, callsPerSecondOfSource: 3, maxCallsOfSource: 2 }
    const directory = await open(
      config({ domains: [{ ...demo!, ...rates, challenge, codecs: ['G722', 'PCMA'] }] }),
    )
    const md5 = createHash('md5').update('trunk:demo.example:Trunk-Secret').digest('hex')
    expect(directory.domainApp('demo.example')).toMatchObject({
      ...rates,
      codecs: ['G722', 'PCMA'],
      challenge: { username: 'trunk', realm: 'demo.example', md5 },
    })
    expect(JSON.stringify(query('select * from domain_app'))).not.toContain(challenge.password)
  })

  it('signs in with the right password only', async () => {
    const directory = await open()
    expect(await directory.signIn('project-1', 'alice@EXAMPLE.test', 'wonder')).toMatchObject({
      address: '/public/alice',
    })
    expect(await directory.signIn('project-1', 'alice@example.test', 'builder')).toBeUndefined()
    expect(await directory.signIn('project-1', 'unknown@example.test', 'unknown')).toBeUndefined()
  })

  it('signs in with the password of a hash that the file declares', async () => {
    const hash = await quickPasswords().hash('looking-glass')
    const [alice] = config().subscribers
    const directory = await open(config({ subscribers: [{ ...alice!, password: hash }] }))
    expect(await directory.signIn('project-1', 'alice@example.test', 'looking-glass')).toBeDefined()
    expect(await directory.signIn('project-1', 'alice@example.test', hash)).toBeUndefined()
    expect(query('select password_hash from subscriber')).toEqual([{ password_hash: hash }])
  })

  it('keeps ids and hashes over restarts, and a file that only its owner reads', async () => {
    const before = await open()
    const hashes = query('select email, password_hash from subscriber order by email')
    const resources = everythingOf(before)
    const id = before.domainApp('demo.example')?.id
    before.close()
    const after = await open()
    expect(everythingOf(after)).toEqual(resources)
    expect(after.domainApp('demo.example')?.id).toBe(id)
    expect(query('select email, password_hash from subscriber order by email')).toEqual(hashes)
    expect(statSync(testStore.file).mode & 0o777).toBe(0o600)
  })

  it('takes over what changed in the file: password, name, address, handler', async () => {
    const first = await open()
    const id = first.subscriberByEmail('project-1', 'alice@example.test')!.id
    const unchanged = first.subscriberByEmail('project-1', 'bob@example.test')!.id
    for (const subscriber_id of [id, unchanged]) {
      const row = { id: subscriber_id, subscriber_id, project_id: 'project-1', token: subscriber_id }
      await new DeviceRows(first.store).add({ ...row, type: 'iOS', created_at: 0 }, 5)
    }
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
    // Devices registered with the old password get no calls.
    expect(query('select subscriber_id from device')).toEqual([{ subscriber_id: unchanged }])
    expect(second.resolve('/private/bob', 'project-1')).toMatchObject({ subscriberId: id })
    expect(await second.signIn('project-1', 'alice@example.test', 'wonder')).toBeUndefined()
    expect(await second.signIn('project-1', 'alice@example.test', 'changed')).toMatchObject({ id })
    expect(second.domainApp('demo.example')).toMatchObject({ allow: undefined, handler: undefined })
  })

  it('removes what the file declares no longer, and leaves alone what did not come from it', async () => {
    const first = await open()
    first.close()
    query(
      `insert into resource values ('r9', 'project-1', 'swml_script', 'Mine', '{"document":"{}"}', 0, 1, 1)`,
    )
    query("insert into address values ('a9', 'r9', 'project-1', 'public', 'mine', 1)")
    const second = await open(config({ domains: [], subscribers: [], resources: [] }))
    expect(everythingOf(second).map(({ address }) => address.name)).toEqual(['mine'])
    expect(second.domainApp('demo.example')).toBeUndefined()
    expect(query('select count(*) as n from subscriber')).toEqual([{ n: 0 }])
    second.close()
    const clash = { address: '/public/mine', handler: script }
    const third = await open(config({ resources: [clash] }))
    expect(third.resources.findByAddress('project-1', 'public', 'mine')?.address.id).toBe('a9')
  })

  it('refuses a subscriber whose address belongs to something that did not come from the file', async () => {
    ;(await open()).close()
    query(
      `insert into resource values ('r9', 'project-1', 'swml_script', 'Mine', '{"document":"{}"}', 0, 1, 1)`,
    )
    query("insert into address values ('a9', 'r9', 'project-1', 'public', 'carol', 1)")
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
    expect(everythingOf(await open())).toHaveLength(4)
  })

  it('has the rooms that the file declares, with their settings', async () => {
    const room = {
      address: '/public/lounge',
      displayName: 'The lounge',
      maxMembers: 5,
      layout: '3x3',
      recordOnStart: false,
      recordMembers: false,
      tones: false,
      videoOff: true,
      handsFirst: true,
      names: true,
      streams: [],
    } as const
    const first = await open(config({ rooms: [room] }))
    const { resource } = first.room('/public/lounge', 'project-1')
    expect(resource).toMatchObject({
      type: 'room',
      displayName: 'The lounge',
      managedByFile: true,
      details: { maxMembers: 5, layout: '3x3', toneOnEntryAndExit: false, userJoinVideoOff: true },
    })
    first.close()
    const second = await open(config({ rooms: [{ ...room, maxMembers: 6 }] }))
    expect(second.room('/public/lounge', 'project-1').resource).toMatchObject({
      id: resource?.id,
      details: { maxMembers: 6, prioritizeHandraise: true, names: true, recordOnStart: false },
    })
    second.close()
    expect((await open()).room('/public/lounge', 'project-1').resource).toBeUndefined()
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

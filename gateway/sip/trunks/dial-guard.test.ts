import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { describe, expect, it } from 'vitest'
import { parseSipUri } from '../../core/sip-uri.ts'
import { DialGuard } from './dial-guard.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['198.41.0.4', '2001:500:2::c'],
  'other.example': ['198.41.0.9', '198.41.0.4'],
  'elsewhere.example': ['198.41.0.8'],
  'half.example': ['198.41.0.4', '10.1.2.3'],
  'private.example': ['fd00::1'],
}
const open = (networks: string[] = [], judgedAgain = false) => {
  const asked: [string, boolean][] = []
  const guard = new DialGuard({
    addresses: new AddressGuard(networks),
    isRecheckedByAgent: judgedAgain,
    find: async (host, located) => {
      asked.push([host, located])
      if (host === 'failing.example') throw new Error('queryA ETIMEOUT failing.example')
      return names[host] ?? []
    },
  })
  const objection = (uri: string, ...closed: string[]) =>
    guard.objection(parseSipUri(uri)!, {
      places: closed.map((each) => parseSipUri(each)!),
      networks: ['203.1.113.0/24'],
    })
  return { asked, objection }
}

describe('a URI that a document dials', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[::]',
  ])('must not be %s', async (host) => {
    expect(await open().objection(`sip:1@${host}:5060`)).toMatch(/is in no network that may be dialled$/)
  })

  it.each(['198.41.0.4', '[2001:500:2::c]', 'public.example', 'unknown.example'])(
    'can be %s',
    async (host) => {
      expect(await open().objection(`sip:1@${host}`)).toBeUndefined()
    },
  )

  it('is rejected if any address of its name is private', async () => {
    const { objection } = open()
    expect(await objection('sip:1@half.example')).toBe('10.1.2.3 is in no network that may be dialled')
    expect(await objection('sip:1@private.example')).toBeDefined()
  })

  it.each(['maddr', 'MADDR'])('reaches only its own host: %s is rejected', async (name) => {
    expect(await open().objection(`sip:1@198.41.0.4;${name}=10.0.0.1`)).toContain('maddr')
    expect(await open().objection(`sip:1@198.41.0.4;${name}=198.41.0.5;${name}=10.0.0.1`)).toContain('maddr')
  })

  it('can be private if the configuration allows the network', async () => {
    const { objection } = open(['10.0.0.0/8', '::1/128'])
    expect(await objection('sip:1@half.example')).toBeUndefined()
    expect(await objection('sip:1@[::1]')).toBeUndefined()
    expect(await objection('sip:1@192.168.0.1')).toBeDefined()
  })

  it.each(['198.41.0.4', '[::ffff:198.41.0.4]', '[2001:500:2:0::C]', 'other.example'])(
    'cannot reach another project’s host by another name: %s',
    async (host) => {
      const { objection } = open()
      expect(await objection(`sip:1@${host}`)).toBeUndefined()
      expect(await objection(`sip:1@${host}`, 'sip:public.example')).toMatch(
        / is that of a carrier, and closed/,
      )
      expect(await objection(`sip:1@${host}`, 'sip:elsewhere.example')).toBeUndefined()
    },
  )

  it('cannot be in a network from which other carriers call', async () => {
    expect(await open().objection('sip:1@203.1.113.9')).toMatch(/ is that of a carrier, and closed/)
    expect(await open().objection('sip:1@203.1.114.9')).toBeUndefined()
  })

  it('is rejected without a DNS answer, unless the agent checks addresses itself', async () => {
    const { objection } = open()
    const why = 'its addresses could not be looked up: queryA ETIMEOUT failing.example'
    expect(await objection('sip:1@failing.example')).toBe(why)
    expect(await objection('sip:1@public.example', 'sip:failing.example')).toBe(why)
    expect(await open([], true).objection('sip:1@failing.example')).toBeUndefined()
  })

  it('is looked up like the agent does: by SRV without a port (RFC 3263 section 4.2)', async () => {
    const { objection, asked } = open()
    await objection('sip:1@public.example')
    await objection('sip:1@public.example:5070')
    await objection('sip:1@198.41.0.4')
    expect(asked).toEqual([
      ['public.example', true],
      ['public.example', false],
    ])
  })

  it('is looked up by the system’s resolver', async () => {
    const guard = new DialGuard({ addresses: new AddressGuard([]) })
    expect(await guard.objection(parseSipUri('sip:localhost:5060')!)).toBeDefined()
    expect(await guard.objection(parseSipUri('sip:nowhere.invalid:5060')!)).toBeUndefined()
  })
})

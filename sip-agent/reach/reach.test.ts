import { describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { srv, type Zone } from '../testing/dns.ts'
import { reachCarrier, reachOn } from '../testing/reach.ts'
import type { FarEnd } from './far-end.ts'
import type { Destination } from './reach.ts'
import type { SipReach } from './reach-settings.ts'

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
const place = (address: string, port = 5060): Destination => ({ address, port })
const demo: FarEnd = { kind: 'project', id: 'demo' }
const other: FarEnd = { kind: 'project', id: 'other' }
const carrier = (name: string): FarEnd => ({ kind: 'carrier', name })
const home = '45.33.1.66'

const setUp = (settings: Partial<SipReach> = {}, zone: Zone = {}) => {
  const clock = new FakeClock()
  const made = reachOn(clock, { networks: [], carriers: [reachCarrier()], ...settings }, zone)
  const { reach } = made
  /** Addresses of these that a dialog which began at `home` may reach. */
  const within = async (addresses: readonly string[], farEnd?: FarEnd, from = home) => {
    let found: readonly Destination[] | undefined
    const places = addresses.map((each) => place(each))
    reach.within(farEnd, from, places, (permitted) => {
      found = permitted
    })
    await settle()
    return found?.map(({ address }) => address)
  }
  /** Reason why a request outside dialogs may not go to these places. */
  const outside = async (farEnd: FarEnd | undefined, ...places: readonly Destination[]) => {
    let outcome: string | undefined = 'no outcome'
    reach.outside(farEnd, places, (objection) => {
      outcome = objection
    })
    await settle()
    return outcome
  }
  return { ...made, clock, within, outside }
}

describe('a dialog of an untrusted peer', () => {
  it.each([
    '62.1.2.3',
    '::ffff:62.1.2.3',
    '::ffff:3e01:203',
    '64:ff9b::3e01:203',
    '10.9.9.9',
    '127.0.0.1',
    '0.0.0.0',
    '::1',
    '::',
    '169.254.169.254',
    '::ffff:10.9.9.9',
    'fd00::1',
  ])('does not reach %s', async (address) => {
    expect(await setUp().within([address])).toEqual([])
  })

  it('reaches its own address, and public addresses that belong to no carrier', async () => {
    const { within } = setUp()
    expect(await within([home, '45.33.1.99', '62.1.2.3', '2a00::1'])).toEqual([home, '45.33.1.99', '2a00::1'])
    expect(await within(['10.1.1.1', '10.1.1.2'], undefined, '10.1.1.1')).toEqual(['10.1.1.1'])
    expect(await within(['::ffff:45.33.1.66'])).toEqual(['::ffff:45.33.1.66'])
  })

  it('reaches private networks that the settings allow, except carriers in them', async () => {
    const carriers = [reachCarrier({ targets: ['sip:10.0.0.5'] })]
    const { within } = setUp({ networks: ['10.0.0.0/8'], carriers })
    expect(await within(['10.0.0.4', '10.0.0.5'])).toEqual(['10.0.0.4'])
  })

  it('does not reach networks from which carriers call, unless they cover half the internet', async () => {
    const carriers = [
      reachCarrier({ targets: [], networks: ['62.1.0.0/16', '2a00:1::/32', '63.0.0.0/8', '0.0.0.0/0'] }),
      reachCarrier({ name: 'api', isGuarded: true, targets: [], networks: ['64.1.1.0/24', '65.1.0.0/16'] }),
    ]
    const { within } = setUp({ carriers })
    expect(await within(['62.1.9.9', '2a00:1::9', '64.1.1.9'])).toEqual([])
    expect(await within(['63.1.1.1', '65.1.1.1'])).toEqual(['63.1.1.1', '65.1.1.1'])
  })

  it('that began at a site of the operator stays within the site, without carriers', async () => {
    const sites = [['10.1.0.0/16', '62.1.2.0/24'], ['192.168.0.0/16']]
    const { within } = setUp({ sites })
    const asked = ['10.1.0.2', '192.168.1.1', '62.1.2.3']
    expect(await within(asked, undefined, '10.1.0.1')).toEqual(['10.1.0.2'])
    expect(await within(asked, undefined, '10.2.0.1')).toEqual([])
  })

  it('with the name of a removed carrier has no additional reach', async () => {
    expect(await setUp().within(['62.1.2.3', '10.9.9.9'], carrier('gone'))).toEqual([])
  })

  it('reaches any address without settings', async () => {
    const { reach } = setUp()
    const { within } = setUp({ carriers: [] })
    expect(await within(['62.1.2.3'])).toEqual(['62.1.2.3'])
    reach.close()
  })
})

describe('a dialog of a carrier', () => {
  const carriers = [
    reachCarrier({ networks: ['62.1.2.0/24', '10.0.0.0/8'] }),
    reachCarrier({ name: 'rival', project: 'other', targets: ['sip:62.9.9.9'] }),
  ]

  it.each([
    ['the application says so', carrier('acme'), home],
    ['it began at its target', undefined, '62.1.2.3'],
    ['it began in its networks', undefined, '62.1.2.77'],
  ])('reaches its targets and networks if %s', async (_name, farEnd, from) => {
    const { within } = setUp({ carriers })
    expect(await within(['62.1.2.3', '62.1.2.4', '10.7.7.7', '45.33.1.99'], farEnd, from)).toHaveLength(4)
    expect(await within(['62.9.9.9', '192.168.1.1'], farEnd, from)).toEqual([])
  })

  it('that a customer created reaches its own addresses, but not other carriers in its networks', async () => {
    const api = reachCarrier({
      name: 'other/api',
      project: 'other',
      isGuarded: true,
      targets: ['sip:64.1.1.1', 'sip:62.9.9.9'],
      networks: ['64.1.2.0/24', '62.1.2.3/32', '10.0.0.0/24'],
    })
    const third = reachCarrier({
      name: 'third/api',
      project: 'third',
      isGuarded: true,
      targets: ['sip:64.1.1.1', 'sip:64.1.2.2'],
    })
    const { within } = setUp({ carriers: [...carriers, api, third] })
    const farEnd = carrier('other/api')
    expect(await within(['64.1.1.1', '64.1.2.1'], farEnd)).toEqual(['64.1.1.1', '64.1.2.1'])
    expect(await within(['62.1.2.3', '62.9.9.9', '10.0.0.1', '64.1.2.2'], farEnd)).toEqual([])
    // An address alone makes no dialog that of a customer's carrier: its list may hold anything.
    expect(await within(['64.1.1.1'], undefined, '64.1.2.1')).toEqual([])
  })
})

describe('a request outside dialogs', () => {
  it('reaches any address if it is the gateway’s own or of a configured carrier', async () => {
    const { outside } = setUp()
    expect(await outside(undefined, place('10.9.9.9'))).toBeUndefined()
    expect(await outside(carrier('acme'), place('10.9.9.9'))).toBeUndefined()
  })

  it('of a customer reaches public addresses that belong to no carrier, at each of its hops', async () => {
    const { outside } = setUp()
    expect(await outside(other, place('45.33.1.99'))).toBeUndefined()
    expect(await outside(other, place('45.33.1.99'), place('10.9.9.9'))).toMatch(/^10.9.9.9 is in no network/)
    expect(await outside(other, place('45.33.1.99'), place('62.1.2.3', 9))).toMatch(
      /carrier of another project$/,
    )
    expect(await outside(other, place('64:ff9b::3e01:203'))).toMatch(/carrier of another project$/)
  })

  it('cannot bypass the limits of the project’s own carrier', async () => {
    const { outside } = setUp()
    expect(await outside(demo, place('62.1.2.3', 5080))).toMatch(
      /that of carrier acme, and calls to it go by/,
    )
    const inside = setUp({
      networks: ['10.0.0.0/8'],
      carriers: [reachCarrier({ targets: ['sip:10.0.0.5:5070'] })],
    })
    expect(await inside.outside(demo, place('10.0.0.5', 5070))).toBeDefined()
    expect(await inside.outside(demo, place('10.0.0.5', 5060))).toBeUndefined()
    const listed = setUp({ carriers: [reachCarrier({ isByAddress: false, hasNumberLists: true })] })
    expect(await listed.outside(demo, place('62.1.2.3'))).toMatch(/calls to it go by the carrier alone/)
    const signed = setUp({ carriers: [reachCarrier({ isByAddress: false })] })
    expect(await signed.outside(demo, place('62.1.2.3'))).toBeUndefined()
    expect(await signed.outside(other, place('62.1.2.3'))).toBeDefined()
  })

  it('reaches a customer’s carrier without credentials only from the same project or from its own carriers', async () => {
    const api = (project: string, byAddress = true) =>
      reachCarrier({
        name: `${project}/api`,
        project,
        isGuarded: true,
        isByAddress: byAddress,
        targets: ['sip:62.5.5.5'],
        networks: ['62.5.6.0/24'],
      })
    const { outside } = setUp({ carriers: [api('demo'), api('third')] })
    expect(await outside(other, place('62.5.5.5'))).toBeDefined()
    expect(await outside(other, place('62.5.6.7'))).toBeDefined()
    expect(await outside(carrier('third/api'), place('62.5.5.5'))).toBeUndefined()
    const signed = setUp({ carriers: [api('demo', false)] })
    expect(await signed.outside(other, place('62.5.5.5'))).toBeUndefined()
  })

  it('of a customer’s carrier reaches no private address and no configured carrier', async () => {
    const api = reachCarrier({
      name: 'other/api',
      project: 'other',
      isGuarded: true,
      targets: ['sip:62.5.5.5'],
    })
    const { outside } = setUp({ carriers: [reachCarrier(), api] })
    expect(await outside(carrier('other/api'), place('62.5.5.5'))).toBeUndefined()
    expect(await outside(carrier('other/api'), place('10.9.9.9'))).toBeDefined()
    expect(await outside(carrier('other/api'), place('62.1.2.3'))).toBeDefined()
  })
})

describe('carriers with names', () => {
  const named = { carriers: [reachCarrier({ targets: ['sip:gw.acme.example'] })] }
  const zone: Zone = {
    srv: { '_sip._udp.gw.acme.example': [srv('sbc.acme.example', 5060)] },
    a: { 'gw.acme.example': ['62.1.2.3'], 'sbc.acme.example': ['62.1.2.4'] },
    aaaa: { 'sbc.acme.example': ['2a00:1::4'] },
  }

  it('are protected at every address of their DNS records', async () => {
    const { within } = setUp(named, zone)
    expect(await within(['62.1.2.3', '62.1.2.4', '2a00:1::4', '62.1.2.5'])).toEqual(['62.1.2.5'])
  })

  it('are looked up again, and their former addresses stay protected for a while', async () => {
    const { within, dns, clock } = setUp(named, zone)
    await settle()
    dns.zone = { a: { 'gw.acme.example': ['62.1.2.5'] } }
    clock.advance(310_000)
    expect(await within(['62.1.2.3', '62.1.2.5'])).toEqual([])
    clock.advance(3_700_000)
    expect(await within(['62.1.2.3', '62.1.2.5'])).toEqual(['62.1.2.3'])
  })

  it('block everything except the peer itself while no name server answers', async () => {
    const { within, outside, dns } = setUp(named)
    await settle()
    dns.code = 'ESERVFAIL'
    const failing = setUp(named)
    failing.dns.code = 'ESERVFAIL'
    await settle()
    expect(await within(['45.33.1.99'])).toEqual(['45.33.1.99'])
    expect(await outside(other, place('45.33.1.99'))).toBeUndefined()
    failing.clock.advance(310_000)
    expect(await failing.within(['45.33.1.99', home])).toEqual([home])
    expect(await failing.outside(other, place('45.33.1.99'))).toMatch(/cannot be looked up$/)
  })

  it('delay decisions for at most four seconds in total', async () => {
    const { reach, dns, clock, outside } = setUp({ carriers: [] })
    dns.addresses = () => new Promise(() => {})
    reach.change({
      networks: [],
      carriers: [reachCarrier({ isGuarded: true, targets: ['sip:slow.example'] })],
    })
    expect(await outside(other, place('45.33.1.99'))).toBe('no outcome')
    clock.advance(4_000)
    expect(await outside(other, place('45.33.1.99'))).toBeUndefined()
    expect(clock.running).toBe(0)
  })

  it('do not delay a decision for ever', async () => {
    const { reach, dns, clock } = setUp({ carriers: [] })
    dns.addresses = () => new Promise(() => {})
    reach.change({ networks: [], ...named })
    let outcome: string | undefined
    reach.outside(other, [place('45.33.1.99')], (objection) => {
      outcome = objection
    })
    await settle()
    expect(outcome).toBeUndefined()
    clock.advance(4_000)
    expect(outcome).toMatch(/cannot be looked up$/)
    expect(clock.running).toBe(0)
  })
})

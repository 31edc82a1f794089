/** The published SDK in the versions that are out there: each does the whole list, over TLS with the two host names. */
import { get } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import { CutLine } from '../support/cut-line.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { type SdkVersion, sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'
import { application, scripted } from './applications.ts'
import { emailOf, peopleOf, tokenOf, withToken } from './sdk-people.ts'

const tone = 1200
const hosts = ['gw.localhost', 'fabric.localhost'] as const
const domainOf = ({ person }: SdkVersion): string => `${person}.test`

let certificates: CertificateFolder
let gateway: Gateway
let browser: Browser

beforeAll(async () => {
  certificates = await CertificateFolder.open()
  gateway = await Gateway.start({
    certificate: await certificates.issue(...hosts),
    ...withToken,
    domains: sdkVersions.map((sdk) =>
      application(
        domainOf(sdk),
        scripted({ connect: { to: `/public/${sdk.person}`, answer_on_bridge: true } }),
      ),
    ),
    subscribers: sdkVersions.flatMap(peopleOf),
  })
  browser = await Browser.start(tone)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  certificates?.remove()
})

/** Like a browser that nobody told to ignore anything. */
const reaches = (servername: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: gateway.tlsPort, servername, ca: certificates.pem }
    const request = get({ ...options, path: '/readyz' }, (answer) => resolve(answer.resume().statusCode))
    request.on('error', reject)
  })

it('one certificate is good for both names', async () => {
  expect(await Promise.all(hosts.map(reaches))).toEqual([200, 200])
})

describe.each(sdkVersions)('the published SDK $version', (sdk) => {
  let line: CutLine
  let page: SdkPage

  beforeAll(async () => {
    line = await CutLine.open(gateway.tlsPort)
    page = await SdkPage.open(browser, gateway, await tokenOf(gateway, sdk.person), {
      folder: sdk.folder,
      port: line.port,
    })
  })

  afterAll(async () => {
    await page?.close()
    line?.close()
  })

  const rings = async (count: number): Promise<void> => {
    await until(
      'the invite',
      () => page.invites(),
      (now) => now === count,
    )
  }

  const talk = async (carrier: Carrier): Promise<void> => {
    await hears(page.page, 440)
    await carrier.hears(tone)
  }

  it('connects to one name, goes online there, and asks the other over HTTPS', async () => {
    expect(page.wire.sockets).toHaveLength(sdk.connectsAtOnce ? 1 : 0)
    if (!sdk.connectsAtOnce) await page.ask('connect')
    await page.online()
    expect(page.wire.sockets).toEqual([`wss://gw.localhost:${line.port}/`])
    const [connect] = page.wire.asked('signalwire.connect')
    expect(connect?.params.agent).toBe(`@signalwire/js/browser/${sdk.version}`)
    const info = await page.ask('getSubscriberInfo')
    expect(info).toMatchObject({
      ...{ email: emailOf(sdk.person), display_name: `The ${sdk.person}` },
      fabric_addresses: [{ name: sdk.person, type: 'subscriber' }],
    })
    expect(page.wire.requests).toHaveLength(1)
    expect(page.wire.requests[0]).toMatchObject({
      ...{ method: 'GET', token: connect?.params.authentication.jwt_token },
      url: `https://fabric.localhost:${line.port}/api/fabric/subscriber/info`,
    })
  })

  it('lists addresses page by page, finds one, and is told what there is not', async () => {
    const options = { type: 'subscriber', pageSize: 2, sortBy: 'name', sortOrder: 'asc' }
    const names = await page.page.evaluate(namesOfPages, options)
    const everybody = sdkVersions.flatMap(({ person, friend }) => [person, friend]).sort()
    expect(names).toEqual([everybody.slice(0, 2), everybody.slice(2, 4), everybody.slice(0, 2)])
    const found = (await page.ask('address.getAddresses', { displayName: `The ${sdk.friend}` })) as Listed
    expect(found.data.map(({ name }) => name)).toEqual([sdk.friend])
    const [address] = found.data
    expect(address?.channels.audio).toBe(`/public/${sdk.friend}?channel=audio`)
    expect(await page.ask('address.getAddress', { id: address?.id })).toEqual(address)
    if (sdk.findsByName) expect(await page.ask('address.getAddress', { name: sdk.friend })).toEqual(address)
    const none = await page.fate('client.address.getAddress', { id: 'nobody' })
    expect(none.rejected).toMatchObject({ name: 'HttpError', code: 404 })
    expect(JSON.parse(none.rejected?.message ?? '')).toMatchObject([{ code: expect.any(String) }])
    expect(await page.fate('client.address.getAddress', { name: 'nobody' })).toHaveProperty('rejected')
  })

  it('registers a device and takes it back', async () => {
    const wanted = { deviceType: 'Desktop', deviceToken: 'of-the-application' }
    const device = (await page.ask('registerDevice', wanted)) as { id: string }
    expect(device).toMatchObject({
      ...{ device_type: 'Desktop', device_token: 'of-the-application', device_name: null },
      push_notification_key: expect.any(String),
    })
    await page.ask('unregisterDevice', device)
    const again = await page.fate('client.unregisterDevice', device)
    expect(again.rejected).toMatchObject({ name: 'HttpError', code: 404 })
  })

  it('is called, takes the call, mutes, presses keys, holds, and goes on with a new token and a new connection', async () => {
    const rung = await page.invites()
    const carrier = await Carrier.calls(gateway, { domain: domainOf(sdk), scenario: 'caller-released' })
    await rings(rung + 1)
    expect(await page.details()).toMatchObject({
      ...{ caller_id_name: 'Carrier', caller_id_number: '+15551230001', display_direction: 'outbound' },
      ...{ callee_id_name: `The ${sdk.person}`, callee_id_number: `/public/${sdk.person}` },
    })
    await page.accept()
    await carrier.talks('answered', 440)
    await talk(carrier)
    expect(await page.events()).toContain('active')

    await page.do('audioMute')
    await carrier.hearsNothing()
    await hears(page.page, 440)
    await page.do('audioUnmute')
    await talk(carrier)
    await page.sendDigits('26#')
    await carrier.receivesDigits('26#')

    if (sdk.holds) {
      await page.do('hold')
      await carrier.hearsNothing()
      await page.do('unhold')
      await talk(carrier)
    }

    const token = await tokenOf(gateway, sdk.person)
    // That of 3.27 goes on until the page is closed.
    const updated = page.fate('client.updateToken', token).catch(() => undefined)
    await until(
      'the token is taken',
      () => page.wire.answers('signalwire.reauthenticate'),
      ([answer]) => answer !== undefined,
    )
    expect(page.wire.answers('signalwire.reauthenticate')).toMatchObject([
      { result: { authorization: { jti: expect.any(String) } } },
    ])
    if (sdk.tellsOfToken) expect(await updated).toEqual({ resolved: undefined })

    line.cut()
    await talk(carrier)
    await until(
      'the page is back',
      () => page.wire.answers('signalwire.connect').length,
      (count) => count === 2,
    )
    const [first, second] = page.wire.asked('signalwire.connect')
    expect(second?.params).toMatchObject({
      ...{ protocol: page.wire.answers('signalwire.connect')[0]?.result.protocol },
      ...{ authorization_state: expect.any(String), authentication: { jwt_token: expect.any(String) } },
    })
    expect(first?.params).not.toHaveProperty('protocol')
    const updates = page.wire.events('member.updated').length
    await page.do('audioMute')
    expect(await page.wire.event('member.updated', updates)).toMatchObject({
      member: { audio_muted: true, updated: ['audio_muted'] },
    })
    await page.do('audioUnmute')
    await talk(carrier)
    await page.hangUp()
    await carrier.done()
    await gateway.settled()
  })

  it('is still called after that, and turns the call away', async () => {
    const rung = await page.invites()
    const carrier = await Carrier.calls(gateway, {
      ...{ domain: domainOf(sdk), scenario: 'call-refused', values: { status: 486 } },
    })
    await rings(rung + 1)
    await page.reject()
    await carrier.done()
    await gateway.settled()
  })

  it('dials, hears early media, asks what a member can ask, comes back after a reload, and is hung up on', async () => {
    const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'told' })
    await page.begin('dial', carrier.uri)
    await carrier.talks('invited', 440)
    await hears(page.page, 440)
    expect(await page.events()).not.toContain('call.joined')
    await carrier.goesOn()
    expect(await page.started()).toEqual({ resolved: undefined })
    await talk(carrier)
    if (sdk.reattaches) {
      await page.reload()
      const events = page.wire.events('call.joined').length
      await page.begin('reattach', carrier.uri)
      expect(await page.started()).toEqual({ resolved: undefined })
      expect((await page.wire.event('call.joined', events)).room_session_id).toBe(
        page.wire.events('call.joined').at(-2)?.room_session_id,
      )
      await talk(carrier)
    }
    await page.hangUp()
    await carrier.done()
    await gateway.settled()
  })
})

interface Listed {
  readonly data: readonly {
    readonly id: string
    readonly name: string
    readonly channels: Readonly<Record<string, string>>
  }[]
}

interface Paged extends Listed {
  readonly hasNext: boolean
  nextPage(): Promise<Paged>
  prevPage(): Promise<Paged>
}

/** The names on the first page, on the second, and on the one before that. */
const namesOfPages = async (options: object): Promise<string[][]> => {
  const { client } = globalThis as unknown as {
    client: { address: { getAddresses(options: object): Promise<Paged> } }
  }
  const first = await client.address.getAddresses(options)
  const second = await first.nextPage()
  const again = await second.prevPage()
  return [first, second, again].map(({ data }) => data.map(({ name }) => name))
}

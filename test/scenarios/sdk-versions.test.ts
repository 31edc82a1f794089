/** Published SDK in all versions in use: each version runs all tests over TLS with two host names. */
import { get } from 'node:https'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import { CutLine } from '../support/cut-line.ts'
import { Gateway } from '../support/gateway.ts'
import { heardIn, hears } from '../support/page-audio.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { emailOf, peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { type SdkVersion, sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'

const tone = 1200
const hosts = ['gw.localhost', 'fabric.localhost'] as const
const domainOf = ({ person }: SdkVersion): string => `${person}.test`

let certificates: CertificateFolder
let gateway: Gateway
let browser: Browser
/** Port of a callee that rings and does not answer. */
let silentPort: number

beforeAll(async () => {
  silentPort = await freePort()
  certificates = await CertificateFolder.open()
  gateway = await Gateway.start({
    certificate: await certificates.issue(...hosts),
    ...withToken,
    resources: [
      {
        address: '/public/shop',
        handler: scripted(
          'answer',
          { user_event: { event: { order: '%{vars.userVariables.order}' } } },
          { sleep: -1 },
        ),
      },
      {
        address: '/public/silent',
        handler: scripted({
          connect: { to: `sip:desk@127.0.0.1:${silentPort}`, timeout: 1, answer_on_bridge: true },
        }),
      },
    ],
    domains: [
      ...sdkVersions.map((sdk) =>
        application(
          domainOf(sdk),
          scripted({ connect: { to: `/public/${sdk.person}`, answer_on_bridge: true } }),
        ),
      ),
    ],
    subscribers: sdkVersions.flatMap(peopleOf),
  })
  browser = await Browser.start(tone)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  certificates?.remove()
})

/** Requests `/readyz` with full verification of the certificate. */
const reaches = (servername: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: gateway.tlsPort, servername, ca: certificates.pem }
    const request = get({ ...options, path: '/readyz' }, (answer) => resolve(answer.resume().statusCode))
    request.on('error', reject)
  })

it('one certificate is valid for both host names', async () => {
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

  // A call that a failed test left must not fail later tests.
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await page.fate('call.hangup').catch(() => undefined)
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

  it('connects its WebSocket to one host name, and sends HTTPS requests to the other', async () => {
    expect(page.wire.sockets).toHaveLength(sdk.connectsAtOnce ? 1 : 0)
    if (!sdk.connectsAtOnce) await page.ask('connect')
    await page.online()
    expect(page.wire.sockets).toEqual([`wss://gw.localhost:${line.port}/`])
    const [connect] = page.wire.asked('signalwire.connect')
    expect(connect?.params.agent).toBe(`@signalwire/js/browser/${sdk.version}`)
    expect(await page.ask('getSubscriberInfo')).toMatchObject({
      email: emailOf(sdk.person),
      display_name: `The ${sdk.person}`,
      fabric_addresses: [{ name: sdk.person, type: 'subscriber' }],
    })
    const url = `https://fabric.localhost:${line.port}/api/fabric/subscriber/info`
    const token = connect?.params.authentication.jwt_token
    // Frames that the page has seen may reach the test later, here and below.
    await expect.poll(() => page.wire.requests).toMatchObject([{ method: 'GET', token, url }])
  })

  it('lists addresses page by page, finds one by id, and gets a 404 for an unknown address', async () => {
    const options = { type: 'subscriber', pageSize: 2, sortBy: 'name', sortOrder: 'asc' }
    const names = await page.page.evaluate(namesOfPages, options)
    const allNames = sdkVersions.flatMap(({ person, friend }) => [person, friend]).sort()
    expect(names).toEqual([allNames.slice(0, 2), allNames.slice(2, 4), allNames.slice(0, 2)])
    const found = (await page.ask('address.getAddresses', { displayName: `The ${sdk.friend}` })) as Listed
    expect(found.data.map(({ name }) => name)).toEqual([sdk.friend])
    const [address] = found.data
    expect(address?.channels.audio).toBe(`/public/${sdk.friend}?channel=audio`)
    expect(await page.ask('address.getAddress', { id: address?.id })).toEqual(address)
    if (sdk.findsByName) expect(await page.ask('address.getAddress', { name: sdk.friend })).toEqual(address)
    const none = await page.fate('client.address.getAddress', { id: 'unknown' })
    expect(none.rejected).toMatchObject({ name: 'HttpError', code: 404 })
    expect(JSON.parse(none.rejected?.message ?? '')).toMatchObject([{ code: expect.any(String) }])
    expect(await page.fate('client.address.getAddress', { name: 'unknown' })).toHaveProperty('rejected')
  })

  it('registers and unregisters a device', async () => {
    const wanted = { deviceType: 'Desktop', deviceToken: 'of-the-application' }
    const device = (await page.ask('registerDevice', wanted)) as { id: string }
    expect(device).toMatchObject({
      device_type: 'Desktop',
      device_token: 'of-the-application',
      device_name: null,
      push_notification_key: expect.any(String),
    })
    await page.ask('unregisterDevice', device)
    const again = await page.fate('client.unregisterDevice', device)
    expect(again.rejected).toMatchObject({ name: 'HttpError', code: 404 })
  })

  it('answers a call, mutes, sends digits and holds; the call continues after a new token and a new connection', async () => {
    const rung = await page.invites()
    const carrier = await Carrier.calls(gateway, { domain: domainOf(sdk), scenario: 'caller-released' })
    await rings(rung + 1)
    expect(await page.details()).toMatchObject({
      caller_id_name: 'Carrier',
      caller_id_number: '+15551230001',
      display_direction: 'outbound',
      callee_id_name: `The ${sdk.person}`,
      callee_id_number: `/public/${sdk.person}`,
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
    // The promise of version 3.27 settles only when the page is closed.
    const updated = page.fate('client.updateToken', token).catch(() => undefined)
    await until(
      'the token is accepted',
      () => page.wire.answers('signalwire.reauthenticate'),
      ([answer]) => answer !== undefined,
    )
    expect(page.wire.answers('signalwire.reauthenticate')).toMatchObject([
      { result: { authorization: { jti: expect.any(String) } } },
    ])
    if (sdk.tellsOfToken) expect(await updated).toEqual({ resolved: undefined })

    // HTTP requests still use the first token.
    await page.ask('getSubscriberInfo')
    const [connect] = page.wire.asked('signalwire.connect')
    expect(page.wire.requests.at(-1)?.token).toBe(connect?.params.authentication.jwt_token)

    line.cut()
    await talk(carrier)
    await until(
      'the page is back',
      () => page.wire.answers('signalwire.connect').length,
      (count) => count === 2,
    )
    const [first, second] = page.wire.asked('signalwire.connect')
    expect(second?.params).toMatchObject({
      protocol: page.wire.answers('signalwire.connect')[0]?.result.protocol,
      authorization_state: expect.any(String),
      authentication: { jwt_token: expect.any(String) },
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

  it('receives and rejects another call after it has reconnected', async () => {
    const rung = await page.invites()
    const values = { status: 486 }
    const carrier = await Carrier.calls(gateway, { domain: domainOf(sdk), scenario: 'call-refused', values })
    await rings(rung + 1)
    await page.reject()
    await carrier.done()
    await gateway.settled()
  })

  it('dials, hears early media and the answer, and can call all methods of a member', async () => {
    const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
    const before = page.wire.received.length
    // Without a call to reattach to, `reattach` places a new call.
    await page.begin(sdk.reattaches ? 'reattach' : 'dial', carrier.uri)
    await carrier.talks('invited', 440)
    await hears(page.page, 440)
    expect(await page.events()).not.toContain('call.joined')
    await carrier.goesOn()
    expect(await page.started()).toEqual({ resolved: undefined })
    await talk(carrier)

    const asked = sdk.isOld ? firstRequests : [...firstRequests, ...laterRequests]
    for (const [method, options] of asked) await page.do(method, ...(options ? [options] : []))
    const { members } = (await page.do('getMembers')) as { members: { member_id: string }[] }
    expect(members).toMatchObject([{ input_volume: 10, output_volume: -10, input_sensitivity: 30 }, {}])
    await page.do('deaf')
    await until(
      'the page hears nothing',
      () => heardIn(page.page),
      (heard) => heard === 0,
    )
    await page.do('undeaf')
    await talk(carrier)
    // After one event without `updated`, the SDK ignores all further events of the call.
    const updates = page.wire.events('member.updated')
    expect(updates.every(({ member }) => Array.isArray(member.updated))).toBe(true)
    const heard = (await page.events()).filter((name) => name === 'member.updated').length
    expect(heard).toBeGreaterThanOrEqual(page.wire.events('member.updated', before).length)

    if (sdk.reattaches) {
      const [{ room_session_id: room } = {}] = page.wire.events('call.joined', before)
      await page.reload()
      const again = page.wire.received.length
      await page.begin('reattach', carrier.uri)
      expect(await page.started()).toEqual({ resolved: undefined })
      const joined = () => page.wire.events('call.joined', again)
      await expect.poll(joined).toMatchObject([{ room_session_id: room }])
      await talk(carrier)
    }
    await page.do(sdk.ends ? 'end' : 'hangup')
    await carrier.done()
    await gateway.settled()
  })

  it('sends user variables to the called handler, and gets the reason when they are rejected', async () => {
    const before = page.wire.events('user_event').length
    await page.dial('/public/shop', { userVariables: { order: { id: 7 }, text: '<Say>%{call.to}' } })
    expect(await page.wire.event('user_event', before)).toMatchObject({ event: { order: { id: 7 } } })
    await page.hangUp()
    await gateway.settled()
    await page.begin('dial', '/public/shop', { userVariables: { text: 'x'.repeat(3000) } })
    expect((await page.started()).rejected?.message).toContain(
      'dialogParams.userVariables: expected at most 2048 characters of JSON',
    )
    await gateway.settled()
  })

  it('exchanges user variables with the called page', async () => {
    const friend = await SdkPage.open(browser, gateway, await tokenOf(gateway, sdk.friend), {
      folder: sdk.folder,
    })
    onTestFinished(() => friend.close())
    await friend.online()
    const before = page.wire.received.length
    await page.begin('dial', `/public/${sdk.friend}`, { userVariables: { order: 7 } })
    await until(
      'the invite',
      () => friend.invites(),
      (now) => now === 1,
    )
    expect(await friend.details()).toMatchObject({ userVariables: { order: 7 } })
    await friend.accept({ userVariables: { agent: 'Ann' } })
    expect(await page.started()).toEqual({ resolved: undefined })
    const metas = () =>
      [
        ...page.wire.events('call.joined', before).flatMap(({ room_session: { members } }) => members),
        ...page.wire.events('member.joined', before).map(({ member }) => member),
      ].map(({ meta }) => meta)
    await expect.poll(metas).toContainEqual({ agent: 'Ann' })
    await page.hangUp()
    await gateway.settled()
    // The gateway waits for a page that is closed without going offline.
    await friend.offline()
  })

  // Versions without the feature have no test instead of a skipped one.
  if (sdk.hearsEvents)
    it('delivers every event of the gateway to the page', async () => {
      // The last events of an earlier call may still be under way.
      await page.handledEvents()
      await page.page.evaluate(listen, eventTypes)
      const before = page.wire.received.length
      await page.dial('/public/shop')
      const count = (type: string) => page.wire.events(type, before).length
      await until(
        "the handler's event",
        () => count('user_event'),
        (events) => events > 0,
      )
      await page.hangUp()
      await gateway.settled()
      await page.handledEvents()
      const all = eventTypes.map((type) => [type, count(type)] as const)
      expect(all.filter(([, times]) => times === 0)).toEqual([])
      expect(await page.page.evaluate('heard')).toEqual(Object.fromEntries(all))
    })

  it('rejects a call with the cause for an unknown, an absent and a busy callee', async () => {
    await page.begin('dial', '/public/nobody-at-all')
    expect((await page.started()).rejected).toMatchObject({ code: '1', message: 'UNALLOCATED_NUMBER' })
    await page.begin('dial', `/public/${sdk.friend}`)
    expect((await page.started()).rejected).toMatchObject({ code: '20', message: 'SUBSCRIBER_ABSENT' })
    const carrier = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
    await page.begin('dial', carrier.uri)
    expect((await page.started()).rejected).toMatchObject({ code: '17', message: 'USER_BUSY' })
    await carrier.done()
    await gateway.settled()
  })

  it.each([
    { what: 'declining', status: 603, rejected: { code: '21', message: 'CALL_REJECTED' } },
    { what: 'busy', status: 486, rejected: { code: '17', message: 'USER_BUSY' } },
  ])('reports the cause when a ringing callee is $what', async ({ status, rejected }) => {
    const carrier = await Carrier.listens({ scenario: 'callee-rings-declines', values: { status } })
    await page.begin('dial', carrier.uri)
    expect((await page.started()).rejected).toMatchObject(rejected)
    expect(await page.events()).toContain('destroy')
    await carrier.done()
    await gateway.settled()
  })

  it('reports NO_ANSWER when a callee rings without answering', async () => {
    const carrier = await Carrier.listens({ scenario: 'callee-silent', port: silentPort })
    await page.begin('dial', '/public/silent')
    expect((await page.started()).rejected).toMatchObject({ code: '19', message: 'NO_ANSWER' })
    await carrier.done()
    await gateway.settled()
  })
})

/** Methods of a member in every version. */
const firstRequests: readonly (readonly [method: string, options?: object])[] = [
  ['setInputVolume', { volume: 10 }],
  ['setOutputVolume', { volume: -10 }],
  ['setInputSensitivity', { value: 30 }],
  ['getLayouts'],
  ['setLayout', { name: 'full-screen' }],
]

const laterRequests: typeof firstRequests = [
  ['setRaisedHand', { raised: true }],
  ['setRaisedHand', { raised: false }],
  ['setAudioFlags', { echoCancellation: false, autoGain: false, noiseSuppression: false }],
  ['setPositions', { positions: { self: 'auto' } }],
  ['lock'],
  ['unlock'],
]

const eventTypes = ['webrtc.message', 'call.state', 'call.joined', 'call.left', 'user_event']

/** Runs in the page: counts events. */
const listen = (types: readonly string[]): void => {
  const window = globalThis as unknown as {
    client: { on(type: string, listener: () => void): void }
    heard: Record<string, number>
  }
  window.heard = Object.fromEntries(types.map((type) => [type, 0]))
  for (const type of types)
    window.client.on(type, () => {
      window.heard[type] = (window.heard[type] ?? 0) + 1
    })
}

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

/** Runs in the page: returns the names on the first page, on the second, and on the first again. */
const namesOfPages = async (options: object): Promise<string[][]> => {
  const { client } = globalThis as unknown as {
    client: { address: { getAddresses(options: object): Promise<Paged> } }
  }
  const first = await client.address.getAddresses(options)
  const second = await first.nextPage()
  const again = await second.prevPage()
  return [first, second, again].map(({ data }) => data.map(({ name }) => name))
}

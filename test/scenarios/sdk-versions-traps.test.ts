/** Surprising behaviour of the published SDK: each trap, in the versions that have it. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { rest } from '../support/rest.ts'
import { SdkPage, type SdkPageOptions } from '../support/sdk-page.ts'
import { emailOf, peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { type SdkVersion, sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'

const domainOf = ({ person }: SdkVersion): string => `${person}.test`
const newest = sdkVersions.at(-1)!

let gateway: Gateway
let browser: Browser

beforeAll(async () => {
  gateway = await Gateway.start({
    ...withToken,
    domains: sdkVersions.map((sdk) =>
      application(
        domainOf(sdk),
        scripted({ connect: { to: `/public/${sdk.person}`, answer_on_bridge: true } }),
      ),
    ),
    subscribers: sdkVersions.flatMap(peopleOf),
  })
  browser = await Browser.start(1200)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

const open = async (sdk: SdkVersion, person: string, options: SdkPageOptions = {}): Promise<SdkPage> => {
  const token = await tokenOf(gateway, person)
  const page = await SdkPage.open(browser, gateway, token, { folder: sdk.folder, ...options })
  onTestFinished(() => page.close())
  return page
}

const rings = async (page: SdkPage, count: number): Promise<void> => {
  await until(
    'the invite',
    () => page.invites(),
    (now) => now === count,
  )
}

/** Polls, since frames that the page has seen may reach the test later. */
const eventually = <T>(what: () => T) => expect.poll(what, { timeout: 10_000 })

describe.each(sdkVersions)('the published SDK $version', (sdk) => {
  it('does not report a caller who gives up; the call ends when the page accepts it', async () => {
    const page = await open(sdk, sdk.person)
    await page.online()
    const call = { domain: domainOf(sdk), scenario: 'caller-cancels', holdMs: 'manual' } as const
    const carrier = await Carrier.calls(gateway, call)
    await rings(page, 1)
    await carrier.sipp.event('ringing')
    await carrier.goesOn()
    await carrier.done()
    await page.wire.event('verto.bye', 0)
    await page.accept()
    await until(
      'the end',
      () => page.events(),
      (events) => events.includes('destroy'),
    )
    // The SDK would repeat the request ten times after an error.
    await eventually(() => page.wire.answers('verto.answer')).toMatchObject([{ result: { code: '200' } }])
    await gateway.settled()
    await page.offline()
  })

  it('sends no request when it disconnects, and does not repeat a request with a rejected token', async () => {
    const page = await open(sdk, sdk.person)
    await page.online()
    await page.page.evaluate('globalThis.former = client')
    const other = await tokenOf(gateway, sdk.friend)
    await page.signIn(other)
    // Newer versions have one client per page, whatever options it is created with.
    expect(await page.page.evaluate('former === client')).toBe(!sdk.isOld)
    if (sdk.isOld) await page.ask('connect')
    const sent = page.wire.sent.length
    const sockets = page.wire.sockets.length
    await page.ask('disconnect')
    expect(page.wire.sent.slice(sent).filter(({ method }) => method)).toEqual([])
    await page.signIn(other)
    await page.online()
    expect(page.wire.sockets).toHaveLength(sockets + 1)
    expect(await page.ask('getSubscriberInfo')).toMatchObject({ email: emailOf(sdk.friend) })
    await page.ask('disconnect')
    const connects = page.wire.asked('signalwire.connect').length
    const refused = sdk.isOld ? page.signIn('nonsense').then(() => page.online()) : page.signIn('nonsense')
    await expect(refused).rejects.toThrow()
    await eventually(() => page.wire.answers('signalwire.connect').at(-1)).toMatchObject({
      error: { code: -32002 },
    })
    expect(page.wire.asked('signalwire.connect')).toHaveLength(connects + 1)
  })

  // Versions without the feature have no test instead of a skipped one.
  if (sdk.chat !== 'none')
    it('sends, receives and reads messages', async () => {
      const first = await open(sdk, sdk.person)
      const second = await open(sdk, sdk.friend)
      if (!sdk.connectsAtOnce) for (const page of [first, second]) await page.ask('connect')
      const own = await addressOf(first)
      const other = await addressOf(second)
      await first.page.evaluate(hearMessages, { addressId: other, chat: sdk.chat === 'all' })
      await second.page.evaluate(hearMessages, { addressId: own, chat: sdk.chat === 'all' })
      if (sdk.chat === 'all') await first.ask('chat.join', { addressId: other })
      const message = { addressId: other, text: 'Good morning' }
      const received = await first.ask('conversation.sendMessage', message)
      expect(received).toMatchObject({ table: { conversation_id: other, text: 'Good morning' } })
      const wanted = sdk.chat === 'all' ? ['all', 'chat'] : ['all']
      for (const page of [first, second])
        await until(
          'the message is received',
          () => page.page.evaluate('heard') as Promise<string[]>,
          (heard) => wanted.every((by) => heard.includes(`${by}: Good morning`)),
        )
      const texts = async (name: string, options: object) =>
        ((await second.ask(name, options)) as { data: { text: string }[] }).data.map(({ text }) => text)
      const options = { addressId: own, pageSize: 10 }
      expect(await texts('conversation.getConversationMessages', options)).toEqual(['Good morning'])
      expect(await texts('conversation.getMessages', {})).toEqual(['Good morning'])
      if (sdk.chat === 'all') expect(await texts('chat.getMessages', options)).toEqual(['Good morning'])
      const names = `client.conversation.getConversations().then(({ data }) => data.map(({ name }) => name))`
      expect(await second.page.evaluate(names)).toEqual([`The ${sdk.person}`])
    })

  // Versions without the feature have no test instead of a skipped one.
  if (sdk.chat === 'none')
    it('has conversation methods that throw without a request', async () => {
      const page = await open(sdk, sdk.person)
      for (const name of ['conversation.getConversations', 'conversation.sendMessage', 'chat.getMessages'])
        expect((await page.fate(`client.${name}`, {})).rejected?.message).toContain('unsupported')
      expect(page.wire.requests).toEqual([])
    })
})

describe(`the published SDK ${newest.version}`, () => {
  it('does not give up a ringing call after it has received a media description', async () => {
    // The SDK waits for 20 s. Here the test decides when they are over.
    const first = `{
      const wait = setTimeout
      const stop = clearTimeout
      const pending = new Map()
      globalThis.setTimeout = (work, ms, ...rest) => {
        if (ms !== 20000) return wait(work, ms, ...rest)
        const id = wait(() => {}, ms)
        pending.set(id, () => work(...rest))
        return id
      }
      globalThis.clearTimeout = (id) => {
        pending.delete(id)
        stop(id)
      }
      globalThis.passTimeOut = () => {
        const due = [...pending.values()]
        pending.clear()
        for (const work of due) work()
      }
    }`
    const page = await open(newest, newest.person, { first })
    const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
    await page.begin('dial', carrier.uri)
    await eventually(() => page.wire.events('verto.media')).toHaveLength(1)
    await page.handledEvents()
    await page.page.evaluate('passTimeOut()')
    await carrier.goesOn()
    expect(await page.started()).toEqual({ resolved: undefined })
    await carrier.talks('invited', 440)
    await hears(page.page, 440)
    await page.hangUp()
    await carrier.done()
    await gateway.settled()
  })

  it('gets a notice before its token expires, and stays connected with a new token', async () => {
    const path = '/api/fabric/subscribers/tokens'
    const reference = emailOf(newest.person)
    const next = await tokenOf(gateway, newest.person)
    const first = `globalThis.nextToken = '${next}'`
    // The page loads before the token exists, so that the time of the loading does not count.
    const page = await open(newest, newest.person, { first, isSignedIn: false })
    const expire_at = Math.floor(Date.now() / 1000) + 6
    const { token } = (await rest(gateway, 'POST', path, { reference, expire_at })).body
    await page.signIn(token)
    await until(
      'the new token is accepted',
      () => page.wire.answers('signalwire.reauthenticate'),
      ([answer]) => answer !== undefined,
    )
    await page.page.evaluate('globalThis.renewed')
    await page.online()
  })

  it('stops working when a new token is rejected, and works again with a new client', async () => {
    // The SDK repeats the request ten times over 8 s, here shortened to under 1 s.
    const first = `{
      const wait = setTimeout
      const isRetry = (ms) => ms >= 300 && ms <= 1300
      globalThis.setTimeout = (work, ms, ...rest) => wait(work, isRetry(ms) ? ms / 10 : ms, ...rest)
    }`
    const page = await open(newest, newest.person, { first })
    await page.online()
    const token = page.wire.asked('signalwire.connect')[0]?.params.authentication.jwt_token
    await page.ask('updateToken', token)
    const refused = await page.fate('client.updateToken', 'nonsense')
    expect(refused.rejected).toMatchObject({ name: 'AuthError' })
    await eventually(() => page.wire.answers('signalwire.reauthenticate').at(-1)).toMatchObject({
      error: { code: -32002 },
    })
    await page.page.evaluate('void client.disconnect()')
    await page.reload()
    await page.online()
    const call = { domain: domainOf(newest), scenario: 'call-refused', values: { status: 486 } }
    const carrier = await Carrier.calls(gateway, call)
    await rings(page, 1)
    await page.reject()
    await carrier.done()
    await gateway.settled()
    await page.offline()
  })

  it('finds the gateway by the host in its token', async () => {
    const ch = `gw.localhost:${gateway.tlsPort}`
    const path = '/api/fabric/subscribers/tokens'
    const { token } = (await rest(gateway, 'POST', path, { reference: emailOf(newest.person), ch })).body
    const page = await SdkPage.open(browser, gateway, token, { host: 'of the token' })
    onTestFinished(() => page.close())
    expect(page.wire.sockets).toEqual([`wss://${ch}/`])
    expect(await page.ask('getSubscriberInfo')).toMatchObject({ email: emailOf(newest.person) })
    await eventually(() => page.wire.requests[0]?.url).toMatch(`https://fabric.localhost:${gateway.tlsPort}/`)
  })
})

const addressOf = async (page: SdkPage): Promise<string> => {
  const info = (await page.ask('getSubscriberInfo')) as { fabric_addresses: { id: string }[] }
  return info.fabric_addresses[0]?.id ?? ''
}

interface Message {
  readonly text?: string
}

interface Chats {
  client: {
    conversation: { subscribe(callback: (message: Message) => void): Promise<unknown> }
    chat?: {
      subscribe(options: { addressId: string; onMessage(message: Message): void }): Promise<unknown>
    }
  }
  heard: string[]
}

/** Runs in the page: records the messages of conversations. */
const hearMessages = async ({ addressId, chat }: { addressId: string; chat: boolean }): Promise<void> => {
  const window = globalThis as unknown as Chats
  window.heard = []
  const hear = (by: string) => (message: Message) => window.heard.push(`${by}: ${message.text}`)
  await window.client.conversation.subscribe(hear('all'))
  if (chat) await window.client.chat?.subscribe({ addressId, onMessage: hear('chat') })
}

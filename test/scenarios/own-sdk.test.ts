import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { builtSize, ClientPage, type ClientWindow, type Notification } from '../support/client-page.ts'
import { DocumentServer } from '../support/documents.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { until } from '../support/until.ts'

const tone = 1200
const bob = { email: 'bob@example.test', password: 'looking-glass-9' }

let browser: Browser
let gateway: Gateway
let app: DocumentServer

beforeAll(async () => {
  app = await DocumentServer.open()
  gateway = await Gateway.start({
    domains: [
      application('sdk.test', scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })),
    ],
    subscribers: [
      { ...alice, displayName: 'Alice', mayDialOut: true },
      { ...bob, displayName: 'Bob' },
    ],
    push: { webhook: { url: app.put('/push', '{}') } },
  })
  browser = await Browser.start(tone)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  await app?.close()
})

const open = async (email: string, options: object = {}): Promise<ClientPage> => {
  const page = await ClientPage.open(browser, gateway, await gateway.token(email), options)
  onTestFinished(() => page.close())
  return page
}

const projectOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).project

it('the gateway’s own SDK reports the subscriber and the addresses, and registers and removes a device', async () => {
  const token = await gateway.token()
  const options = { project: projectOf(token), contexts: ['home'], topics: ['office'], logLevel: 'debug' }
  const { page } = await open(alice.email, options)
  const found = await page.evaluate(async (renewed) => {
    const { client } = globalThis as unknown as ClientWindow
    const info = await client.getSubscriberInfo()
    const first = await client.address.getAddresses({ type: 'subscriber', pageSize: 1 })
    const second = await first.nextPage()
    const [one] = second?.data ?? []
    const device = await client.registerDevice({ deviceToken: 'a-token', deviceType: 'Desktop' })
    const removed = await client.unregisterDevice({ id: device.id })
    const again = await client
      .unregisterDevice({ id: device.id })
      .catch((error) => ({ code: error.code, serverCode: error.serverCode, message: error.message }))
    await client.updateToken(renewed)
    await client.online()
    await client.offline()
    return {
      httpHost: client.httpHost,
      email: info.email,
      key: info.push_notification_key,
      removed,
      again,
      device,
      names: [first.data[0]?.name, one?.name],
      hasNext: second?.hasNext,
      back: (await second?.prevPage())?.data[0]?.name,
      byId: (await client.address.getAddress({ id: one?.id ?? '' })).name,
      byName: (await client.address.getAddress({ name: '/public/bob' })).id === one?.id,
      none: await client.address.getAddress({ name: 'unknown' }).catch((error) => error.code),
    }
  }, token)
  expect(found).toMatchObject({
    httpHost: `localhost:${gateway.httpPort}`,
    email: alice.email,
    names: ['alice', 'bob'],
    hasNext: false,
    back: 'alice',
    byId: 'bob',
    byName: true,
    none: 'unknown_address',
    device: { device_token: 'a-token', device_type: 'Desktop', push_notification_key: found.key },
    removed: {},
    again: { code: 'http', serverCode: '404' },
  })
})

it('the gateway’s own SDK is smaller than 40 kB', () => {
  expect(builtSize()).toBeLessThan(40_000)
})

it('the gateway’s own SDK refuses to connect with a token of another project', async () => {
  await expect(open(alice.email, { project: 'another' })).rejects.toThrow('another project')
})

it('two pages with the gateway’s own SDK exchange messages and read their history', async () => {
  const first = await open(alice.email)
  const second = await open(bob.email)
  const listen = (page: ClientPage, name: string) =>
    page.page.evaluate(async (name) => {
      const { client, heard } = globalThis as unknown as ClientWindow
      const { id: addressId } = await client.address.getAddress({ name })
      client.chat.subscribe({ addressId, onMessage: ({ text }) => heard.push(text) })
      return addressId
    }, name)
  const toBob = await listen(first, '/public/bob')
  const toAlice = await listen(second, '/public/alice')
  await first.page.evaluate(async (addressId) => {
    const { client } = globalThis as unknown as ClientWindow
    await client.chat.join({ addressId })
    await client.chat.sendMessage({ addressId, text: 'Good morning' })
  }, toBob)
  for (const { page } of [first, second])
    await until(
      'the message is heard',
      () => page.evaluate(() => (globalThis as unknown as ClientWindow).heard),
      ([text]) => text === 'Good morning',
    )
  const read = await second.page.evaluate(async (addressId) => {
    const { client } = globalThis as unknown as ClientWindow
    await client.conversation.sendMessage({ addressId, text: 'Good evening' })
    const latest = await client.conversation.getConversationMessages({ addressId, pageSize: 1 })
    const texts = (page?: { readonly data: readonly { readonly text: string }[] }) =>
      page?.data.map(({ text }) => text)
    return {
      pages: [texts(latest), texts(await latest.nextPage())],
      all: texts(await client.conversation.getMessages()),
      chat: texts(await client.chat.getMessages({ addressId })),
      names: (await client.conversation.getConversations()).data.map(({ name }) => name),
    }
  }, toAlice)
  const both = ['Good evening', 'Good morning']
  expect(read).toEqual({
    pages: [['Good evening'], ['Good morning']],
    all: both,
    chat: both,
    names: ['Alice'],
  })
})

it('a reloaded page reattaches to its call with the gateway’s own SDK, and a duplicated tab cannot take the call', async () => {
  const carrier = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
  const opened = await open(alice.email)
  const { page } = opened
  await page.evaluate(async (to) => {
    const window = globalThis as unknown as ClientWindow
    window.call = await window.client.dial({ to })
    await window.call.start()
  }, carrier.uri)
  await carrier.talks('invited', 600)
  await hears(page, 600)
  await page.reload()
  await opened.signIn()
  await page.evaluate(async () => {
    const window = globalThis as unknown as ClientWindow
    window.call = await window.client.reattach()
    await window.call.start()
  })
  await hears(page, 600)
  const copy = await opened.duplicate()
  await copy.signIn()
  const taken = copy.page.evaluate(() =>
    (globalThis as unknown as ClientWindow).client.reattach().then(
      () => 'the call',
      ({ code }: { readonly code: string }) => code,
    ),
  )
  expect(await taken).toBe('session_lost')
  await copy.page.close()
  await hears(page, 600)
  await carrier.hears(tone, 500)
  await page.evaluate(() => (globalThis as unknown as ClientWindow).call.sendDigits('26#'))
  await carrier.receivesDigits('26#')
  await carrier.goesOn()
  await carrier.done()
  const state = () => page.evaluate(() => (globalThis as unknown as ClientWindow).call.state)
  await until('the SDK sees the end', state, (state) => state === 'ended')
  await gateway.settled()
})

it('a service worker decrypts a notification with the gateway’s own SDK, and the page answers the call', async () => {
  const opened = await open(alice.email)
  const { page } = opened
  const key = await page.evaluate(async () => {
    const { client } = globalThis as unknown as ClientWindow
    const device = { deviceToken: 'a-token-of-the-application', deviceType: 'Desktop' } as const
    return (await client.registerDevice(device)).push_notification_key
  })
  const carrier = await Carrier.calls(gateway, { domain: 'sdk.test', scenario: 'caller-released' })
  const received = () => app.asked('/push').map(({ body }) => JSON.parse(body).notification as Notification)
  const [payload] = await until('the notification', received, ({ length }) => length === 1)
  const read = await opened.readInWorker(payload!, key)
  const result = await page.evaluate(async (payload) => {
    const window = globalThis as unknown as ClientWindow
    const { resultType, resultObject } = await window.client.handlePushNotification(payload)
    window.call = resultObject
    const before = resultObject.state
    await resultObject.answer()
    return { resultType, before, after: resultObject.state }
  }, read)
  expect(result).toEqual({ resultType: 'inboundCall', before: 'new', after: 'active' })
  await carrier.talks('answered', 440)
  await hears(page, 440)
  await carrier.hears(tone, 500)
  await page.evaluate(() => (globalThis as unknown as ClientWindow).call.hangup())
  await carrier.done()
  await gateway.settled()
})

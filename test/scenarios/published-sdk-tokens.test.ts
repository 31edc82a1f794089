import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Gateway } from '../support/gateway.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { until } from '../support/until.ts'

const project = 'default'
const apiToken = 'token-of-the-scenarios-project'
const greets = (greeting: string) =>
  scripted('answer', { user_event: { event: { greeting } } }, { sleep: -1 })

let browser: Browser
let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    http: { apiToken },
    resources: [
      { address: '/public/shop', handler: greets('the shop') },
      { address: '/public/office', handler: greets('the office') },
    ],
  })
  browser = await Browser.start(1200)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

interface Pair {
  readonly subscriber_id: string
  readonly token: string
  readonly refresh_token: string
}

interface Addresses {
  readonly data: readonly { readonly id: string; readonly name: string }[]
}

/** Sends an API request as the project's own server. */
const post = async <T>(path: string, body: object): Promise<T> => {
  const authorization = `Basic ${Buffer.from(`${project}:${apiToken}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

const open = async (token: string): Promise<SdkPage> => {
  const page = await SdkPage.open(browser, gateway, token)
  onTestFinished(() => page.close())
  return page
}

const isGreetedBy = async (page: SdkPage, greeting: string): Promise<void> => {
  const [received] = await until(
    'the page is greeted',
    () => page.userEvents(),
    ({ length }) => length > 0,
  )
  expect(received).toMatchObject({ event: { greeting } })
}

it('the published SDK signs in with a token of the API, calls, and accepts a refreshed token', async () => {
  const reference = 'carol@example.test'
  const path = '/api/fabric/subscribers/tokens'
  const first = await post<Pair>(path, { reference, first_name: 'Carol', last_name: 'Example' })
  const page = await open(first.token)
  expect(await page.ask('getSubscriberInfo')).toMatchObject({
    id: first.subscriber_id,
    email: reference,
    first_name: 'Carol',
    display_name: 'Carol Example',
  })
  const device = await page.ask('registerDevice', { deviceToken: 'its-token', deviceType: 'Desktop' })
  expect(device).toMatchObject({ device_token: 'its-token', device_type: 'Desktop', device_name: null })
  await page.ask('unregisterDevice', { id: (device as { id: string }).id })
  await page.dial('/public/shop')
  await isGreetedBy(page, 'the shop')
  const next = await post<Pair>(`${path}/refresh`, { refresh_token: first.refresh_token })
  await page.ask('updateToken', next.token)
  await page.hangUp()
  await gateway.settled()
})

it('the published SDK with a guest token can call only the addresses that the token allows', async () => {
  const carol = await post<Pair>('/api/fabric/subscribers/tokens', { reference: 'carol@example.test' })
  const headers = { authorization: `Bearer ${carol.token}` }
  const known = (await (await fetch(`${gateway.url}/api/fabric/addresses`, { headers })).json()) as Addresses
  const shop = known.data.find(({ name }) => name === 'shop')
  if (!shop) throw new Error('the directory shows no shop')
  const guest = await post<Pair>('/api/fabric/guests/tokens', { allowed_addresses: [shop.id] })
  const page = await open(guest.token)
  const seen = (await page.ask('address.getAddresses', {})) as Addresses
  expect(seen.data.map(({ name }) => name)).toEqual(['shop'])
  await expect(page.dial('/public/office')).rejects.toThrow()
  await page.dial('/public/shop')
  await isGreetedBy(page, 'the shop')
  await page.hangUp()
  await gateway.settled()
  const refused = gateway.log.filter(({ code }) => code === 'not_permitted')
  expect(refused).toMatchObject([{ to: '/public/office' }])
})

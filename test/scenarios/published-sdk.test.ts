/** @schedule alone: a browser encodes and decodes sound, which a second browser would tear. */

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { until } from '../support/until.ts'
import { push } from './groups/push.ts'

const sdkTone = 1200

let browser: Browser
let gateway: Gateway
let app: DocumentServer

beforeAll(async () => {
  app = await DocumentServer.open()
  const browsing = Browser.start(sdkTone)
  gateway = await Gateway.start({
    domains: [
      application('sdk.test', scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })),
    ],
    resources: [
      {
        address: '/public/shop',
        handler: scripted('answer', { user_event: { event: { order: 7 } } }, { sleep: -1 }),
      },
    ],
    push: { webhook: { url: app.put('/push', '{}') } },
  })
  browser = await browsing
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  await app?.close()
})

const open = async (token?: string): Promise<SdkPage> => {
  const page = await SdkPage.open(browser, gateway, token)
  onTestFinished(() => page.close())
  return page
}

it('the published SDK goes online, receives a call, accepts it, talks, and hangs up', async () => {
  const page = await open(await gateway.printedToken())
  await page.online()
  await until(
    'alice is online',
    () => gateway.metric('subscribers_online'),
    (count) => count === 1,
  )
  const carrier = await Carrier.calls(gateway, { domain: 'sdk.test', scenario: 'caller-released' })
  await until(
    'the invite',
    () => page.invites(),
    (count) => count === 1,
  )
  await page.accept()
  await carrier.talks('answered', 440)
  await hears(page.page, 440)
  await carrier.hears(sdkTone, 500)
  expect(await page.events()).toContain('active')
  await page.hangUp()
  await carrier.done()
  await page.offline()
  await until(
    'alice is offline',
    () => gateway.metric('subscribers_online'),
    (count) => count === 0,
  )
  await gateway.settled()
})

it('the published SDK dials a SIP URI, sends digits, and sees the far side hang up', async () => {
  const carrier = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
  const page = await open()
  await page.dial(carrier.uri)
  await carrier.talks('invited', 600)
  await hears(page.page, 600)
  await carrier.hears(sdkTone, 500)
  await page.sendDigits('26#')
  await carrier.receivesDigits('26#')
  await carrier.goesOn()
  await carrier.done()
  await until(
    'the SDK sees the end',
    () => page.events(),
    (events) => events.includes('destroy'),
  )
  await gateway.settled()
})

it('the published SDK receives the user event of a script', async () => {
  const page = await open()
  await page.dial('/public/shop')
  const [received] = await until(
    'the page receives the event',
    () => page.userEvents(),
    ({ length }) => length > 0,
  )
  expect(received).toMatchObject({ event: { order: 7 } })
  await page.hangUp()
  await gateway.settled()
})

push(() => ({ gateway, browser, app }))

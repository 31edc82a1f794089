/** @schedule tones: several pages of a browser ring and talk at the same time. */

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { CutLine } from '../support/cut-line.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { until } from '../support/until.ts'

const sdkTone = 1200

let browser: Browser
let gateway: Gateway
let app: DocumentServer

beforeAll(async () => {
  app = await DocumentServer.open()
  gateway = await Gateway.start({
    drain: '20s',
    domains: [
      application('sdk.test', scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })),
    ],
    push: { webhook: { url: app.put('/push', '{}') }, whenOnline: true },
  })
  browser = await Browser.start(sdkTone)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  await app?.close()
})

interface ReceivedPush {
  readonly device_token: string
  readonly notification: { readonly type: string }
}

const received = (): string[] =>
  app.asked('/push').map(({ body }) => (JSON.parse(body) as ReceivedPush).notification.type)

it('a call rings on several pages and devices; the answering page keeps the call after its connection is lost', async () => {
  const token = await gateway.token()
  const line = await CutLine.to(gateway.tlsPort)
  const winner = await SdkPage.open(browser, gateway, token, { port: line.port })
  onTestFinished(() => winner.close())
  const loser = await SdkPage.open(browser, gateway, token)
  onTestFinished(() => loser.close())
  await loser.ask('registerDevice', { deviceType: 'Desktop', deviceToken: 'a-token-of-the-application' })
  for (const page of [winner, loser]) await page.online()
  const carrier = await Carrier.calls(gateway, { domain: 'sdk.test', scenario: 'caller-released' })
  for (const page of [winner, loser])
    await until(
      'the invite',
      () => page.invites(),
      (count) => count === 1,
    )
  await until('the notification', received, (types) => types.length === 1)
  await winner.accept()
  await carrier.talks('answered', 440)
  await hears(winner.page, 440)
  await carrier.hears(sdkTone, 500)
  const [bye] = await until(
    'the losing page receives the BYE',
    () => loser.wire.events('verto.bye'),
    ({ length }) => length > 0,
  )
  expect(JSON.stringify(bye)).toContain('LOSE_RACE')
  await until('devices are notified', received, (types) => types.length === 2)
  expect(received()).toEqual(['call_invite', 'cancel'])

  const [first] = winner.wire.answers('signalwire.connect') as [{ result: { protocol: string } }]
  line.cut()
  // The sound does not use the lost connection.
  await carrier.hears(sdkTone, 500)
  await hears(winner.page, 440)
  const answers = await until(
    'the page is back',
    () => winner.wire.answers('signalwire.connect'),
    ({ length }) => length === 2,
    10_000,
  )
  expect(answers[1]).toMatchObject({ result: { protocol: first.result.protocol } })
  expect(winner.wire.asked('signalwire.connect')[1]?.params).toMatchObject({
    protocol: first.result.protocol,
    authorization_state: expect.any(String),
  })
  expect(await gateway.metric('subscribers_online')).toBe(1)
  expect(await gateway.metric('browsers')).toBe(2)
  await carrier.hears(sdkTone, 500)
  await hears(winner.page, 440)
  await winner.hangUp()
  await carrier.done()
  await gateway.settled()
  // Both pages are still online without a new request.
  const next = await Carrier.calls(gateway, {
    domain: 'sdk.test',
    scenario: 'caller-cancels',
    holdMs: 'manual',
  })
  for (const page of [winner, loser])
    await until(
      'the next invite',
      () => page.invites(),
      (count) => count === 2,
    )
  await next.goesOn()
  await next.done()
  await gateway.settled()
})

it('the call of a page keeps its sound in the grace period of a gateway that ends', async () => {
  const page = await SdkPage.open(browser, gateway, await gateway.token())
  onTestFinished(() => page.close())
  await page.online()
  const carrier = await Carrier.calls(gateway, { domain: 'sdk.test', scenario: 'caller', holdMs: 'manual' })
  await until(
    'the invite',
    () => page.invites(),
    (count) => count === 1,
  )
  await page.accept()
  await carrier.talks('answered', 440)
  await carrier.hears(sdkTone, 500)
  gateway.interrupt()
  await until(
    'the gateway is not ready',
    () => fetch(`${gateway.url}/readyz`).then(({ status }) => status),
    (status) => status === 503,
  )
  const heard = carrier.media.packets.length
  await until('more audio comes', () => carrier.media.packets.length > heard + 50)
  await carrier.hears(sdkTone, 500)
  await hears(page.page, 440)
  await carrier.goesOn()
  await carrier.done()
  expect(await gateway.ended()).toBe(0)
})

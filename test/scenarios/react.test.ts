import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { packageBuilt, ReactPage } from '../support/react-page.ts'
import { until } from '../support/until.ts'

const tone = 1200

let browser: Browser
let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    domains: [
      application('react.test', scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })),
    ],
  })
  browser = await Browser.start(tone)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

const gauge = (name: string, count: number) =>
  until(
    `${name} is ${count}`,
    () => gateway.metric(name),
    (now) => now === count,
  )

it('a page written with React signs in, is called, talks, mutes, renews its token, hangs up, dials, and leaves nothing behind', async () => {
  const opened = await ReactPage.open(browser)
  onTestFinished(() => opened.close())
  const { page } = opened
  const host = `localhost:${gateway.httpPort}`
  await opened.render({ host })
  await opened.shows('disconnected')
  expect(opened.asked).toEqual([])
  await opened.render({ host, token: await gateway.token() })
  await gauge('subscribers_online', 1)
  const carrier = await Carrier.calls(gateway, { domain: 'react.test', scenario: 'caller-released' })
  await opened.press('Answer')
  await carrier.talks('answered', 440)
  await hears(page, 440)
  await carrier.hears(tone, 500)
  // The page renews the token of its open connection, and the call continues.
  await opened.render({ host, token: await gateway.token() })
  await until(
    'the token is renewed',
    () => opened.asked,
    ([methods]) => methods?.includes('signalwire.reauthenticate') === true,
  )
  await opened.press('Mute')
  await opened.press('Unmute')
  await hears(page, 440)
  await carrier.hears(tone, 500)
  await opened.press('Hang up')
  await carrier.done()
  await opened.shows('The call was hung up here.')
  await gateway.settled()

  const far = await Carrier.listens({ scenario: 'callee', holdMs: 0 })
  await page.getByRole('textbox').fill(far.uri)
  await opened.press('Call')
  await far.talks('invited', 600)
  await hears(page, 600)
  await far.hears(tone, 500)
  // One connection for the whole test, although strict mode runs every effect twice.
  expect(opened.asked).toHaveLength(1)
  // Unmounting the component hangs up.
  await opened.unmount()
  await far.done()
  await gauge('subscribers_online', 0)
  await gauge('websockets', 0)
  await gateway.settled()
})

it('the package is one module smaller than 40 kB that imports only React', async () => {
  const { imports, size } = await packageBuilt()
  expect(imports).toEqual(['react'])
  expect(size).toBeLessThan(40_000)
})

it('docs/react.md contains the example that these tests run', () => {
  const read = (...path: string[]) => readFileSync(join(import.meta.dirname, '..', '..', ...path), 'utf8')
  const example = read('react', 'example', 'phone.tsx').trimEnd()
  expect(read('docs', 'react.md')).toContain(`\n\`\`\`tsx\n${example}\n\`\`\`\n`)
})

/** The API reference in Chromium: complete, quiet, and without requests to other hosts. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { Browser } from '../support/browser.ts'
import { Gateway } from '../support/gateway.ts'
import { faultsInAllLooks } from '../support/page-states.ts'

let gateway: Gateway
let browser: Browser

beforeAll(async () => {
  gateway = await Gateway.start({})
  browser = await Browser.start(440)
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

it('the reference shows the operations with samples, sends requests, and loads nothing from other hosts', async () => {
  const page = await browser.page()
  onTestFinished(() => page.context().close())
  const base = `http://127.0.0.1:${gateway.httpPort}`
  const errors: string[] = []
  const foreign: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`) && !request.url().startsWith('data:'))
      foreign.push(request.url())
  })
  await page.goto(`${base}/docs/api#tag/calling/POST/api/calling/calls`)
  const heading = page.getByRole('heading', { name: /Creates a call, or runs a command/ })
  await heading.waitFor()
  await page
    .getByText(/creates a call/)
    .first()
    .waitFor()
  // Samples of code are offered for curl, Node and Python only.
  await page.getByRole('button', { name: 'Shell Curl' }).first().click()
  await page.getByRole('option').first().waitFor()
  const offered = await page.getByRole('option').allTextContents()
  expect(offered.map((text) => text.trim()).sort()).toEqual(['Curl', 'Fetch', 'Requests'])
  await page.keyboard.press('Escape')
  await page
    .getByRole('button', { name: /Test Request/ })
    .first()
    .click()
  await page.getByRole('button', { name: /Send/ }).first().waitFor()
  expect(errors).toEqual([])
  expect(foreign).toEqual([])
})

it.each(['light', 'dark'] as const)(
  'the reference has no fault that axe-core finds, opened %s',
  async (look) => {
    const page = await browser.page()
    onTestFinished(() => page.context().close())
    await page.emulateMedia({ colorScheme: look })
    await page.goto(`http://127.0.0.1:${gateway.httpPort}/docs/api`)
    await page.getByRole('heading', { name: 'Trunkline', exact: false }).first().waitFor()
    await page.locator(`body.${look}-mode`).waitFor()
    expect(await faultsInAllLooks(page, look)).toEqual([])
  },
)

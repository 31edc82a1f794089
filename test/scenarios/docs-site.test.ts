/** Site of the documentation, as a browser shows it. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { Browser } from '../support/browser.ts'
import { Gateway } from '../support/gateway.ts'
import { faultsInAllLooks } from '../support/page-states.ts'
import { until } from '../support/until.ts'

let gateway: Gateway
let browser: Browser

const root = join(import.meta.dirname, '../..')

beforeAll(async () => {
  // The set-up of the tests has built the committed pages.
  const changes = spawnSync('git', ['status', '--porcelain', 'docs'], { cwd: root, encoding: 'utf8' })
  if (changes.stdout !== '') {
    const built = spawnSync(join(root, 'scripts/docs'), { encoding: 'utf8' })
    expect(built.status, built.stderr).toBe(0)
  }
  const starting = Browser.start(440)
  gateway = await Gateway.start()
  browser = await starting
})

afterAll(async () => {
  await Promise.all([browser?.stop(), gateway?.stop()])
})

/** Waits until Vue has mounted the page: a click on the page of the server alone does nothing. */
const mounted = (page: Page): Promise<unknown> =>
  // The page's content policy forbids the evaluation of a text by its own timers, as in waitForFunction.
  until('Vue has mounted the page', () => page.evaluate(`'__vue_app__' in document.querySelector('#app')`))

/**
 * Opens a page of the documentation, and waits for its buttons. The test fails if the browser reports an
 * error or a foreign request.
 */
const open = async (path: string): Promise<Page> => {
  const page = await browser.page()
  const faults: string[] = []
  page.on('console', (line) => line.type() !== 'info' && faults.push(`${line.type()}: ${line.text()}`))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== gateway.url) faults.push(`foreign request: ${request.url()}`)
  })
  onTestFinished(async () => {
    await page.context().close()
    expect(faults).toEqual([])
  })
  await page.goto(`${gateway.url}${path}`)
  await mounted(page)
  return page
}

it('finds an error code by its SIP status', async () => {
  const page = await open('/docs')
  await page.locator('.VPNavBarSearch button').first().click()
  await page.locator('#localsearch-input').fill('403 number')
  await page.locator('.result', { hasText: 'number_not_allowed' }).first().click()
  await page.waitForURL(/\/docs\/errors#number_not_allowed$/)
  await page.locator('h1', { hasText: 'Error codes' }).waitFor()
})

it('shows the section of a code, to which errors of the API link', async () => {
  const page = await open('/docs/errors#source_not_allowed')
  const heading = page.locator('#source_not_allowed')
  await heading.waitFor()
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(200)
  const answer = await fetch(`${gateway.url}/api/fabric/subscribers`)
  const [fault] = ((await answer.json()) as { errors: { url: string }[] }).errors
  await page.goto(String(fault?.url).replace('localhost', '127.0.0.1'))
  await page.waitForURL(/\/docs\/errors#unauthorized$/)
})

it('follows links between pages, and shows dark colours', async () => {
  const page = await open('/docs/')
  await page.locator('.vp-doc a', { hasText: 'Concepts' }).first().click()
  await page.waitForURL(/\/docs\/concepts$/)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.reload()
  await mounted(page)
  expect(await page.locator('html').getAttribute('class')).toContain('dark')
  await page.locator('.VPNavBarAppearance button').click()
  expect(await page.locator('html').getAttribute('class')).not.toContain('dark')
})

it('has nothing wider than the screen of a phone', async () => {
  const page = await open('/docs/')
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of ['/docs/', '/docs/errors', '/docs/configuration', '/docs/adr/', '/docs/sdk']) {
    await page.goto(`${gateway.url}${path}`)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth'), path).toBe(390)
  }
})

// Words that newcomers use, and that are no terms of the product.
const searches = {
  'webhook security': 'webhooks',
  'forward call': 'faq',
  'caller ID': 'faq',
  BYOC: 'connect-your-carrier',
  'SIP trunk': 'connect-your-carrier',
  'toll fraud': 'faq',
  'high availability': 'faq',
}

it('finds pages by the words of newcomers', async () => {
  const page = await open('/docs/')
  await page.locator('.VPNavBarSearch button').first().click()
  for (const [words, expected] of Object.entries(searches)) {
    await page.locator('#localsearch-input').fill(words)
    await page.locator(`.result[href^="/docs/${expected}"]`).first().waitFor()
  }
})

it('has no fault of accessibility, in light, dark and at the width of a phone', async () => {
  const page = await open('/docs/')
  const faults: string[] = []
  for (const path of ['', 'start-operator', 'tutorial-ivr', 'faq', 'rest-api']) {
    await page.goto(`${gateway.url}/docs/${path}`)
    await page.locator('.vp-doc h1').waitFor()
    faults.push(...(await faultsInAllLooks(page, `docs-${path || 'home'}`)))
  }
  expect(faults).toEqual([])
})

it('copies code by a button, and links to no foreign host', async () => {
  const page = await open('/docs/start-developer')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const code = page.locator('.vp-doc div[class*=language-]').first()
  await code.hover()
  await code.locator('button.copy').click()
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain('scripts/run')
  const hosts = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map(({ hostname }) => hostname)`,
  )
  expect(new Set(hosts.filter((host) => !/^(127\.0\.0\.1|localhost)$/.test(host)))).toEqual(new Set())
})

it('shows a page of its own for an unknown address', async () => {
  const page = await browser.page()
  onTestFinished(() => page.context().close())
  const answer = await page.goto(`${gateway.url}/docs/nothing`)
  expect(answer?.status()).toBe(404)
  await page.getByText('Page not found').waitFor()
  expect(await faultsInAllLooks(page, 'docs-missing')).toEqual([])
  await page.getByRole('link', { name: 'Go to the start page of the documentation' }).click()
  await page.waitForURL(/\/docs\/$/)
})

import type { Page } from 'playwright-core'
import { beforeEach } from 'vitest'

/** Whoever may know why a test failed. */
interface Witness {
  readonly name: string
  /** All that it has said so far. */
  readonly lines: readonly string[]
}

/** Of this test file; they are asked as long as it runs, also those that are gone. */
const witnesses: Witness[] = []

/** What a failed test shows of one witness. */
const most = 60

const watch = () =>
  beforeEach(({ onTestFailed }) => {
    const before = new Map(witnesses.map(({ lines }) => [lines, lines.length]))
    onTestFailed(() => {
      for (const { name, lines } of witnesses) {
        const said = lines.slice(before.get(lines) ?? 0)
        if (said.length === 0) continue
        const left = said.length - most
        const text = said.slice(-most).join('\n')
        console.error(`-- ${name}${left > 0 ? `, without its first ${left} lines` : ''}\n${text}`)
      }
    })
  })

// The benchmarks run gateways without any test.
if (process.env.VITEST) watch()

/** When a test fails, the last of what was added to `lines` during it is printed. To be called once for each who starts to speak. */
export const reportOnFailure = (name: string, lines: readonly string[]): void => {
  witnesses.push({ name: `${name} ${witnesses.length + 1}`, lines })
}

/** The same of what a page writes to its console, and of what goes wrong in it. */
export const reportPageOnFailure = (page: Page): void => {
  const lines: string[] = []
  page.on('console', (message) => lines.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => lines.push(`error: ${error.stack ?? error.message}`))
  page.on('crash', () => lines.push('the page crashed'))
  page.on('requestfailed', (request) =>
    lines.push(`${request.method()} ${request.url()} failed: ${request.failure()?.errorText}`),
  )
  page.on('response', (response) => {
    if (response.status() >= 400)
      lines.push(`${response.request().method()} ${response.url()} got ${response.status()}`)
  })
  reportOnFailure('page', lines)
}

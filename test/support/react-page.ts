import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { build, type InlineConfig, type Plugin } from 'vite'
import type { Browser } from './browser.ts'

const root = join(import.meta.dirname, '..', '..', 'react')
const name = 'virtual:page'

/** Returns a page with a component `Phone` in strict mode, mounted and unmounted by the test. */
const sourceOf = (phone: string): string => `
import { createElement, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Phone } from '${phone}'

const root = createRoot(document.getElementById('root'))
globalThis.render = (props) => root.render(createElement(StrictMode, null, createElement(Phone, props)))
globalThis.unmount = () => root.unmount()
`

const pageWith = (phone: string): Plugin => ({
  name: 'page',
  resolveId: (id) => (id === name ? id : undefined),
  load: (id) => (id === name ? sourceOf(phone) : undefined),
})

/** Place of the component that the page shows. */
export interface PhoneSource {
  /** Folder whose `node_modules` has the packages. */
  readonly root: string
  /** File of the component `Phone`, as a path below `root` that begins with a slash. */
  readonly file: string
}

/** The example of the documentation, with the sources of the package. */
const example: PhoneSource = { root, file: '/example/phone.tsx' }

/**
 * Script of the page, with React's development build, because only that build runs effects twice in strict
 * mode.
 */
const bundle = async (phone: PhoneSource): Promise<string> => {
  const made = await chunkOf({
    root: phone.root,
    mode: 'development',
    configFile: false,
    define: { 'process.env.NODE_ENV': '"development"' },
    plugins: [pageWith(phone.file)],
    build: { write: false, minify: false, rollupOptions: { input: name } },
  })
  return made.code
}

/** Builds the package like `npm run build`. Returns its imports and its compressed size in bytes. */
export const packageBuilt = async (): Promise<{
  readonly imports: readonly string[]
  readonly size: number
}> => {
  const { code, imports } = await chunkOf({ build: { write: false } })
  return { imports, size: gzipSync(code).length }
}

const chunkOf = async (config: InlineConfig) => {
  const result = await build({ root, logLevel: 'warn', ...config })
  const [output] = [result].flat().flatMap((made) => ('output' in made ? made.output : []))
  if (output?.type !== 'chunk') throw new Error('nothing was built')
  return output
}

const html =
  '<!doctype html><meta charset="utf-8"><title>React</title><div id="root"></div><script type="module" src="/page.js"></script>'

interface ReactWindow {
  render(props: PhoneProps): void
  unmount(): void
}

/** Properties of the example's component. */
export interface PhoneProps {
  readonly host: string
  readonly token?: string
}

/** A customer's page in React on a server of its own; by default the example `react/example/phone.tsx`. */
export class ReactPage {
  readonly #server: Server
  readonly page: Page
  /** Requested methods, by WebSocket in the order of opening. */
  readonly asked: string[][] = []

  constructor(server: Server, page: Page) {
    this.#server = server
    this.page = page
    page.on('websocket', (socket) => {
      const methods: string[] = []
      this.asked.push(methods)
      socket.on('framesent', ({ payload }) => methods.push(JSON.parse(String(payload)).method))
    })
  }

  /** Builds the page and opens it; nothing is rendered yet. */
  static async open(browser: Browser, phone = example): Promise<ReactPage> {
    const code = await bundle(phone)
    const server = createServer(({ url }, response) => {
      const script = url === '/page.js'
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html').end(script ? code : html)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const opened = new ReactPage(server, await browser.page())
    await opened.page.goto(`http://localhost:${(server.address() as { port: number }).port}/`)
    await opened.page.waitForFunction(() => 'render' in globalThis)
    return opened
  }

  /** Renders the telephone, or renders it again with other properties. */
  render(props: PhoneProps): Promise<void> {
    return this.page.evaluate((given) => (globalThis as unknown as ReactWindow).render(given), props)
  }

  unmount(): Promise<void> {
    return this.page.evaluate(() => (globalThis as unknown as ReactWindow).unmount())
  }

  /** Clicks a button when it appears. */
  press(label: string): Promise<void> {
    return this.page.getByRole('button', { name: label, exact: true }).click()
  }

  /** Waits for a text. */
  shows(text: string): Promise<void> {
    return this.page.getByText(text).first().waitFor()
  }

  /** Closes the page and its server. */
  async close(): Promise<void> {
    await this.page.context().close()
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

import type { ClientPage, TestPage } from './client-page.ts'
import { until } from './until.ts'

type Methods = Readonly<Record<string, (argument?: unknown) => Promise<unknown>>>

/** Members of a page with the gateway's own SDK that are used here. */
interface CallWindow {
  readonly document: { readonly body: object }
  readonly client: Methods
  call: Methods & { readonly state: string }
}

/**
 * Goes online. The page answers each incoming call with these options, and sets `window.call` to the call.
 */
export const answers = <P extends TestPage>({ page }: ClientPage<P>, options: object = {}): Promise<void> =>
  page.evaluate(async (options) => {
    const window = globalThis as unknown as CallWindow
    const all = async ({ invite }: { readonly invite: Methods }) => {
      const given = { ...options, rootElement: window.document.body }
      window.call = (await invite.accept!(given)) as CallWindow['call']
    }
    await window.client.online!({ incomingCallHandlers: { all } })
  }, options)

/** Dials, and sets `window.call` to the call. Resolves when the call is answered. */
export const dials = <P extends TestPage>(
  { page }: ClientPage<P>,
  to: string,
  options: object = {},
): Promise<void> =>
  page.evaluate(
    async ({ to, options }) => {
      const window = globalThis as unknown as CallWindow
      const given = { ...options, to, rootElement: window.document.body }
      window.call = (await window.client.dial!(given)) as CallWindow['call']
      await window.call.start!()
    },
    { to, options },
  )

/** Reattaches to the call that the page had before its reload. */
export const reattaches = <P extends TestPage>(
  { page }: ClientPage<P>,
  options: object = {},
): Promise<void> =>
  page.evaluate(async (options) => {
    const window = globalThis as unknown as CallWindow
    window.call = (await window.client.reattach!(options)) as CallWindow['call']
    await window.call.start!()
  }, options)

/** Calls a method of the page's call. */
export const act = async <P extends TestPage>(
  { page }: ClientPage<P>,
  method: string,
  argument?: unknown,
): Promise<void> => {
  await page.evaluate(
    async ({ method, argument }) => {
      await (globalThis as unknown as CallWindow).call[method]!(argument)
    },
    { method, argument },
  )
}

/** Waits until the page's call is in a state. */
export const reaches = async <P extends TestPage>({ page }: ClientPage<P>, wanted: string): Promise<void> => {
  await until(
    `the call of the page is ${wanted}`,
    () => page.evaluate(() => (globalThis as unknown as Partial<CallWindow>).call?.state),
    (state) => state === wanted,
  )
}

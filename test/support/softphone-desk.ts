import { expect } from 'vitest'
import { Browser } from './browser.ts'
import { alice, Gateway, type GatewayOptions } from './gateway.ts'
import { faultsInAllLooks } from './page-states.ts'
import { Softphone } from './softphone.ts'
import { bob, tones } from './two-browsers.ts'
import { until } from './until.ts'

/** The third person of a {@link SoftphoneDesk}. */
export const carol = { email: 'carol@example.test', password: 'looking-glass-7' } as const

/** A person without calls. */
export const dana = { email: 'dana@example.test', password: 'looking-glass-7' } as const

const people = [
  { ...alice, displayName: 'Alice Adams' },
  { ...bob, displayName: 'Bob Brown' },
  { ...carol, displayName: 'Carol Chen' },
  { ...dana, displayName: 'Dana Ortiz' },
  ...['Emil Novak', 'Fatima Haddad', 'Greta Lind'].map((displayName, at) => ({
    email: `person${at}@example.test`,
    password: 'looking-glass-7',
    displayName,
  })),
]

/** Gateway with seven people, and a browser for their softphone pages. */
export class SoftphoneDesk {
  readonly gateway: Gateway
  readonly browser: Browser

  private constructor(gateway: Gateway, browser: Browser) {
    this.gateway = gateway
    this.browser = browser
  }

  /** Starts the gateway and the browser; `more` adds to the gateway's configuration. */
  static async start(more: GatewayOptions = {}): Promise<SoftphoneDesk> {
    const [gateway, browser] = await Promise.all([
      Gateway.start({ subscribers: people, ...more }),
      Browser.start(tones.alice),
    ])
    return new SoftphoneDesk(gateway, browser)
  }

  /** Opens the page of Alice, signed in and online. */
  alice(): Promise<Softphone> {
    return Softphone.open(this.browser, this.gateway, { camera: 'red' })
  }

  /** Opens the page of Bob, signed in and online. */
  bob(): Promise<Softphone> {
    return Softphone.open(this.browser, this.gateway, { camera: 'blue' }, bob)
  }

  async stop(): Promise<void> {
    await this.browser.stop()
    await this.gateway.stop()
  }
}

/** Checks that a state of a page is accessible in light, dark and at the width of a phone. */
export const isAccessible = async ({ page }: Softphone, state: string): Promise<void> =>
  expect(await faultsInAllLooks(page, state)).toEqual([])

/** Name of the focused element: its test id, else its label or tag. */
const focused = (phone: Softphone): Promise<string> =>
  phone.page.evaluate(
    `(({ activeElement: e }) => e.dataset.testid ?? e.getAttribute('aria-label') ?? e.tagName)(document)`,
  )

/** Waits until an element has the focus. */
export const focusIs = (phone: Softphone, name: string): Promise<unknown> =>
  until(
    `the focus is at ${name}`,
    () => focused(phone),
    (found) => found === name,
  )

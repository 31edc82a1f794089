import type { Locator, Page } from 'playwright-core'
import type { Browser, PageOptions } from './browser.ts'
import { alice, type Gateway } from './gateway.ts'
import { until } from './until.ts'

/** Credentials of a subscriber. */
export interface Person {
  readonly email: string
  readonly password: string
}

/** The gateway's softphone page, operated like a user. */
export class Softphone {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Opens the page, signs a subscriber in (default Alice), and goes online. */
  static async open(
    browser: Browser,
    gateway: Gateway,
    options: PageOptions = {},
    person: Person = alice,
  ): Promise<Softphone> {
    const phone = new Softphone(await browser.page(options))
    await phone.signIn(gateway, person)
    // The profile is new, so no subscriber has been online in it.
    await phone.part('online').click()
    await phone.online()
    return phone
  }

  /** Opens the page and signs a subscriber in. */
  async signIn(gateway: Gateway, { email, password }: Person): Promise<void> {
    await this.page.goto(`http://localhost:${gateway.httpPort}/`)
    await this.part('sign-in-email').fill(email)
    await this.part('sign-in-password').fill(password)
    await this.part('sign-in').click()
  }

  /** Waits until the page shows that it is online. */
  async online(): Promise<void> {
    await until('the page is online', async () => {
      return (await this.part('connection').getAttribute('data-online')) === 'true'
    })
  }

  /** Waits for a ringing call, and returns the displayed caller. */
  async rings(): Promise<string> {
    await this.part('accept').waitFor({ state: 'visible', timeout: 10_000 })
    return (await this.part('caller').textContent()) ?? ''
  }

  /** Answers the ringing call, with the camera if `video`. */
  async accept({ video = false } = {}): Promise<void> {
    await this.part(video ? 'accept-video' : 'accept').click()
  }

  /** Signs out by the menu of the account. */
  async signOut(): Promise<void> {
    await this.part('account').click()
    await this.part('sign-out').click()
  }

  /** Opens the check of the devices. */
  async openDevices(): Promise<void> {
    await this.part('account').click()
    await this.part('open-devices').click()
  }

  /** Rejects the ringing call. */
  reject(): Promise<void> {
    return this.part('reject').click()
  }

  /** Dials. */
  async dial(to: string): Promise<void> {
    await this.part('dial-to').fill(to)
    await this.part('dial').click()
  }

  /** Presses keys of the keypad. */
  async press(digits: string): Promise<void> {
    const names: Readonly<Record<string, string>> = { '*': 'star', '#': 'hash' }
    if (!(await this.part('key-1').isVisible())) await this.part('keypad').click()
    for (const digit of digits) await this.part(`key-${names[digit] ?? digit}`).click()
  }

  /** Hangs up. */
  hangUp(): Promise<void> {
    return this.part('hangup').click()
  }

  /** Mutes, or unmutes. */
  mute(): Promise<void> {
    return this.part('mute').click()
  }

  /** State of the call in the page: `idle`, `incoming`, or the call's own state. */
  async state(): Promise<string> {
    return (await this.part('call-state').getAttribute('data-state')) ?? ''
  }

  /** Waits until the call is up. */
  async talking(): Promise<void> {
    await until(
      'the page says that the call is active',
      () => this.state(),
      (state) => state === 'active',
    )
  }

  /** Waits until the page has no call any more. */
  async idle(): Promise<void> {
    await this.part('accept').waitFor({ state: 'hidden' })
    await this.part('hangup').waitFor({ state: 'hidden' })
  }

  /** Closes the page, as a user closes a tab. */
  async close(): Promise<void> {
    await this.page.context().close()
  }

  /** Returns an element of the page by its `data-testid`. */
  part(name: string): Locator {
    return this.page.getByTestId(name)
  }
}

/** States of the softphone page: accessibility in light, dark and at the width of a phone, and focus. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { faultsInAllLooks } from '../support/page-states.ts'
import { Softphone } from '../support/softphone.ts'
import { bob, tones } from '../support/two-browsers.ts'
import { until } from '../support/until.ts'

const carol = { email: 'carol@example.test', password: 'looking-glass-7' }

let gateway: Gateway
let browser: Browser
let first: Softphone
let second: Softphone

beforeAll(async () => {
  const people = [
    { ...alice, displayName: 'Alice Adams' },
    { ...bob, displayName: 'Bob Brown' },
    { ...carol, displayName: 'Carol Chen' },
    ...['Dana Ortiz', 'Emil Novak', 'Fatima Haddad', 'Greta Lind'].map((displayName, at) => ({
      email: `person${at}@example.test`,
      password: 'looking-glass-7',
      displayName,
    })),
  ]
  ;[gateway, browser] = await Promise.all([
    Gateway.start({ subscribers: people }),
    Browser.start(tones.alice),
  ])
  first = new Softphone(await browser.page({ camera: 'red' }))
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

const faults = (state: string, phone = first): Promise<string[]> => faultsInAllLooks(phone.page, state)

/** Name of the focused element: its test id, else its label or tag. */
const focused = (phone: Softphone): Promise<string> =>
  phone.page.evaluate(
    `(({ activeElement: e }) => e.dataset.testid ?? e.getAttribute('aria-label') ?? e.tagName)(document)`,
  )

const focusIs = (phone: Softphone, name: string): Promise<unknown> =>
  until(
    `the focus is at ${name}`,
    () => focused(phone),
    (found) => found === name,
  )

/** Shows the video on the full screen, where the call can still be muted and ended, and returns. */
const videoFills = async (phone: Softphone): Promise<void> => {
  const full = () => phone.page.evaluate('document.fullscreenElement?.dataset.testid')
  await phone.part('full-screen').click()
  await until('the call fills the screen', full, (found) => found === 'active')
  expect(await phone.part('hangup').isVisible()).toBe(true)
  await phone.part('full-screen').click()
  await until('the page is back', full, (found) => found === undefined)
}

/** Shows the video in a window of its own, and returns. */
const videoFloats = async (phone: Softphone): Promise<void> => {
  const floats = () => phone.page.evaluate('document.pictureInPictureElement?.dataset.testid')
  await phone.part('floating').click()
  await until('the video floats', floats, (found) => found === 'far-video')
  await phone.page.evaluate('document.exitPictureInPicture()')
  await until('the video is back', floats, (found) => found === undefined)
}

it('the sign-in is accessible, also after a wrong password, and has the focus', async () => {
  await first.page.goto(`http://localhost:${gateway.httpPort}/`)
  await focusIs(first, 'sign-in-email')
  expect(await faults('sign-in')).toEqual([])
  await first.part('sign-in-email').fill(alice.email)
  await first.part('sign-in-password').fill('wrong')
  await first.part('sign-in').click()
  await until('the fault is shown', () => first.part('sign-in-error').textContent())
  await focusIs(first, 'sign-in-password')
  expect(await faults('wrong password')).toEqual([])
})

it('the page is accessible without a call, in every tab', async () => {
  await first.part('sign-in-password').fill(alice.password)
  await first.part('sign-in').click()
  // The text is the label of the switch.
  await first.page.getByText('Online', { exact: true }).click()
  await first.online()
  await first.part('person').first().waitFor()
  expect(await faults('main')).toEqual([])
  await first.part('dial-to').fill('b')
  await first.part('suggestion').first().waitFor()
  await first.part('dial-to').press('ArrowDown')
  expect(await faults('dialling')).toEqual([])
  await first.page.setViewportSize({ width: 390, height: 844 })
  await first.part('suggestion').first().waitFor()
  for (const button of ['dial', 'dial-video']) await first.part(button).click({ trial: true })
  await first.page.setViewportSize({ width: 1280, height: 720 })
  await first.part('dial-to').fill('')
  for (const tab of ['recents', 'chats', 'settings']) {
    await first.part(`tab-${tab}`).click()
    await first.page.waitForTimeout(200)
    expect(await faults(tab)).toEqual([])
  }
  await first.part('account').click()
  expect(await faults('account menu')).toEqual([])
  await first.page.keyboard.press('Escape')
  await focusIs(first, 'account')
  await first.page.keyboard.press('?')
  await first.part('help').waitFor()
  expect(await faults('help')).toEqual([])
  await first.page.keyboard.press('Escape')
  await first.part('help').waitFor({ state: 'detached' })
  await first.openDevices()
  await first.part('check-level').waitFor()
  expect(await faults('device check')).toEqual([])
  await first.part('device-check-done').click()
  await first.part('tab-people').click()
})

it('an outgoing and an incoming call are accessible, and move the focus', async () => {
  second = await Softphone.open(browser, gateway, { camera: 'blue' }, bob)
  await first.part('dial-to').fill('bob')
  await first.part('dial-to').press('Enter')
  await second.rings()
  await Promise.all([focusIs(first, 'hangup'), focusIs(second, 'accept')])
  expect(await faults('ringing out')).toEqual([])
  expect(await faults('incoming', second)).toEqual([])
  await second.page.keyboard.press('Control+Shift+A')
  await Promise.all([first.talking(), second.talking(), focusIs(second, 'hangup')])
  await first.part('quality').waitFor()
  expect(await faults('in call')).toEqual([])
  await first.part('keypad').click()
  expect(await faults('keypad')).toEqual([])
  await first.part('keypad').click()
  await first.part('hold').click()
  await until(
    'the call is held',
    () => first.state(),
    (state) => state === 'held',
  )
  expect(await faults('held')).toEqual([])
  expect(await first.part('quality').count()).toBe(0)
  const secondSays = (words: string) =>
    until(
      'the other page knows',
      () => second.part('call-state').textContent(),
      (text) => text === words,
    )
  await secondSays('On hold by the other side')
  expect(await faults('held by the other side', second)).toEqual([])
  expect(await second.part('quality').count()).toBe(0)
  await first.part('hold').click()
  await Promise.all([first.talking(), secondSays('In call with Alice Adams')])
  await first.part('camera').click()
  await second.part('camera').click()
  await first.part('far-video').waitFor({ state: 'visible' })
  await first.part('own-video').waitFor({ state: 'visible' })
  expect(await faults('video')).toEqual([])
  await videoFills(first)
  await videoFloats(first)
  await second.page.keyboard.press('Control+Shift+D')
  await Promise.all([first.idle(), second.idle()])
  await focusIs(first, 'dial-to')
  expect(await faults('ended')).toEqual([])
  await first.part('tab-recents').click()
  await first.part('recent').first().waitFor()
  expect(await faults('history')).toEqual([])
})

it('a person who is typing keeps the focus when a call comes in', async () => {
  await first.part('tab-people').click()
  await first.part('person-write').first().click()
  await focusIs(first, 'message-text')
  await first.part('message-text').fill('Good morning, are you there?')
  await first.part('message-text').press('Enter')
  await first.part('message').waitFor()
  await first.page.keyboard.type('And')
  expect(await faults('conversation')).toEqual([])
  await second.dial('/public/alice')
  await first.rings()
  await first.page.keyboard.type(' more')
  expect(await first.part('message-text').inputValue()).toBe('And more')
  expect(await first.part('call-state').textContent()).toContain('Incoming call from Bob Brown')
  await first.page.keyboard.press('Control+Shift+D')
  await second.idle()
  await focusIs(first, 'message-text')
})

it('a call is transferred, at once and after a question, and a person is added', async () => {
  const third = await Softphone.open(browser, gateway, {}, carol)
  await first.part('tab-people').click()
  const talkWithBob = async () => {
    await first.dial('/public/bob')
    await second.rings()
    await second.accept()
    await Promise.all([first.talking(), second.talking()])
  }
  const chooseCarol = async (tool: 'transfer' | 'add') => {
    await first.part(tool).click()
    await first.part('transfer-to').fill('carol')
    await first.part('suggestion').click()
  }
  /** Chooses Carol, who is available, with the keyboard alone. The party of the call is not offered. */
  const chooseOfferedCarol = async () => {
    await first.part('transfer').click()
    await first.page.getByTestId('offer').getByText('Carol Chen').waitFor()
    expect(await first.page.getByTestId('offer').getByText('Bob Brown').count()).toBe(0)
    expect(await faults('transfer dialog with offers')).toEqual([])
    await first.part('transfer-to').press('Tab')
    await focusIs(first, 'offer')
    await first.page.keyboard.press('Enter')
    await focusIs(first, 'transfer-to')
    expect(await first.part('transfer-to').inputValue()).toBe('Carol Chen')
  }
  const handedOver = async () => {
    await Promise.all([first.idle(), second.talking(), third.talking()])
    expect(await first.part('notice').textContent()).toBe('The call was transferred.')
    await third.hangUp()
    await Promise.all([second.idle(), third.idle()])
    await gateway.settled()
  }
  await talkWithBob()
  await chooseOfferedCarol()
  await first.part('transfer-dialog-close').click()
  await chooseCarol('transfer')
  expect(await faults('transfer dialog')).toEqual([])
  await first.part('transfer-now').click()
  await third.rings()
  await third.accept()
  await handedOver()
  await talkWithBob()
  const addCarol = async () => {
    await chooseCarol('add')
    expect(await faults('add dialog')).toEqual([])
    await first.part('transfer-now').click()
    await third.rings()
    expect(await first.part('adding').textContent()).toBe('Calling Carol Chen…')
    await third.accept()
    await Promise.all([first.talking(), second.talking(), third.talking()])
    await first.page.getByText('Bob Brown, Carol Chen', { exact: true }).waitFor()
    await first.part('adding').waitFor({ state: 'detached' })
    // The page that was added shows all parties, not the adding page alone.
    await third.page
      .getByText(/^(Alice Adams, Bob Brown|Bob Brown, Alice Adams)$/)
      .first()
      .waitFor()
  }
  await addCarol()
  await first.part('transfer').click()
  expect(await first.part('transfer-of-many').textContent()).toBe(
    'A call with added persons cannot be transferred.',
  )
  expect(await faults('transfer of a call of three')).toEqual([])
  expect(await first.part('remove-person').textContent()).toBe('Remove Carol Chen')
  await first.part('remove-person').click()
  await third.idle()
  await Promise.all([first.talking(), second.talking()])
  await addCarol()
  await first.hangUp()
  await first.idle()
  await Promise.all([second.talking(), third.talking()])
  await third.hangUp()
  await Promise.all([second.idle(), third.idle()])
  await gateway.settled()
  await talkWithBob()
  await chooseCarol('transfer')
  await first.part('transfer-ask').click()
  await third.rings()
  await third.accept()
  await first.part('connect').waitFor()
  expect(await faults('two calls')).toEqual([])
  await first.part('connect').click()
  await handedOver()
  await third.close()
})

it('the presence of others is shown, and do not disturb makes calls busy', async () => {
  const presence = (name: string) =>
    first.page.locator(`[data-name="${name}"]`).getByTestId('presence').textContent()
  await until(
    'Bob is available',
    () => presence('bob'),
    (text) => text === ' · Available',
  )
  await first.part('account').click()
  await first.part('do-not-disturb').click()
  await until(
    'calls are busy',
    () => first.part('connection').textContent(),
    (text) => text === 'Callers hear that you are busy',
  )
  await second.dial('/public/alice')
  await until(
    'the line is busy',
    () => second.part('notice').textContent(),
    (text) => text?.includes('busy') ?? false,
  )
  await second.part('call-again').waitFor()
  await second.part('account').click()
  for (const [language, words] of [
    ['de', 'besetzt'],
    ['en', 'busy'],
  ] as const) {
    await second.part('menu-language').selectOption(language)
    await until(
      'the notice has the language of the page',
      () => second.part('notice').textContent(),
      (text) => text?.includes(words) ?? false,
    )
  }
  await second.page.keyboard.press('Escape')
  expect(await faults('do not disturb')).toEqual([])
  await first.part('do-not-disturb').click()
  await until(
    'calls ring again',
    () => first.part('connection').textContent(),
    (text) => text === 'You can be called',
  )
  await first.page.keyboard.press('Escape')
  await second.part('call-again').click()
  await first.rings()
  await second.hangUp()
  await first.part('accept').waitFor({ state: 'hidden' })
})

it('another language is shown at once, and stays', async () => {
  await first.part('tab-people').click()
  await first.part('account').click()
  await first.part('menu-language').selectOption('de')
  await until(
    'the page is German',
    () => first.part('tab-people').textContent(),
    (text) => text === 'Kontakte',
  )
  await first.page.keyboard.press('Escape')
  expect(await faults('german')).toEqual([])
  await first.page.reload()
  await until(
    'the page is German',
    () => first.part('tab-people').textContent(),
    (text) => text === 'Kontakte',
  )
  await first.part('account').click()
  await first.part('menu-language').selectOption('en')
  await first.page.keyboard.press('Escape')
  await first.online()
})

it('a second tab is signed in, answers a call, and is signed out with the first', async () => {
  const other = new Softphone(await first.page.context().newPage())
  await other.page.goto(`http://localhost:${gateway.httpPort}/`)
  await other.online()
  await second.dial('/public/alice')
  await Promise.all([first.rings(), other.rings()])
  await other.accept()
  await Promise.all([other.talking(), second.talking(), first.part('accept').waitFor({ state: 'hidden' })])
  await other.hangUp()
  await second.idle()
  // A third tab did not receive the account in time, and the user entered the password there.
  const token = await other.page.evaluate(`(async () => {
    const response = await fetch('/api/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(${JSON.stringify(alice)}),
    })
    const { token, subscriber } = await response.json()
    const account = { token, ...subscriber, name: subscriber.display_name }
    new BroadcastChannel('trunkline').postMessage({ kind: 'account', account, online: true, fresh: true })
    return token
  })()`)
  for (const { page } of [first, other])
    await until(
      'the tab has the newer token',
      () => page.evaluate(`JSON.parse(sessionStorage.getItem('trunkline.account')).token`),
      (found) => found === token,
    )
  await other.signOut()
  await Promise.all([first, other].map((phone) => phone.part('sign-in').waitFor()))
  expect(await first.part('sign-in-error').textContent()).toBe('You signed out in another tab.')
  await other.page.close()
  await first.signIn(gateway, alice)
  await first.part('online').click()
  await first.online()
})

it('a blocked microphone is explained before the first call', async () => {
  const page = await browser.page()
  await page.addInitScript(`
    const status = Object.assign(new EventTarget(), { state: 'denied' })
    navigator.permissions.query = async () => status
    navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('blocked', 'NotAllowedError') }
  `)
  const phone = new Softphone(page)
  await phone.signIn(gateway, { email: 'person0@example.test', password: 'looking-glass-7' })
  await phone.part('online').click()
  const check = phone.part('device-check')
  await until(
    'the page explains it',
    () => check.textContent(),
    (text) => text?.includes('How to allow it') ?? false,
  )
  expect(await faults('microphone blocked', phone)).toEqual([])
  await phone.part('device-check-done').click()
  await phone.part('devices-warning').waitFor()
  expect(await faults('calls would fail', phone)).toEqual([])
  await phone.close()
})

it('a lost connection is shown across the page', async () => {
  await gateway.settled()
  await gateway.stop()
  const state = () => first.part('connection').getAttribute('data-state')
  await until('the page reconnects', state, (found) => found === 'reconnecting')
  expect(await faults('reconnecting')).toEqual([])
})

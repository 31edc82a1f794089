/** States of the softphone page: accessibility in light, dark and at the width of a phone, and focus. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { alice } from '../support/gateway.ts'
import { Softphone } from '../support/softphone.ts'
import { dana, focusIs, isAccessible, SoftphoneDesk } from '../support/softphone-desk.ts'
import { until } from '../support/until.ts'

let desk: SoftphoneDesk
let first: Softphone
let second: Softphone

beforeAll(async () => {
  desk = await SoftphoneDesk.start()
  first = new Softphone(await desk.browser.page({ camera: 'red' }))
})

afterAll(() => desk?.stop())

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
  await first.page.goto(`http://localhost:${desk.gateway.httpPort}/`)
  await focusIs(first, 'sign-in-email')
  await isAccessible(first, 'sign-in')
  await first.part('sign-in-email').fill(alice.email)
  await first.part('sign-in-password').fill('wrong')
  await first.part('sign-in').click()
  await until('the fault is shown', () => first.part('sign-in-error').textContent())
  await focusIs(first, 'sign-in-password')
  await isAccessible(first, 'wrong password')
})

it('the page is accessible without a call, in every tab', async () => {
  await first.part('sign-in-password').fill(alice.password)
  await first.part('sign-in').click()
  // The text is the label of the switch.
  await first.page.getByText('Online', { exact: true }).click()
  await first.online()
  await first.part('person').first().waitFor()
  await isAccessible(first, 'main')
  await first.part('dial-to').fill('b')
  await first.part('suggestion').first().waitFor()
  await first.part('dial-to').press('ArrowDown')
  await isAccessible(first, 'dialling')
  await first.page.setViewportSize({ width: 390, height: 844 })
  await first.part('suggestion').first().waitFor()
  for (const button of ['dial', 'dial-video']) await first.part(button).click({ trial: true })
  await first.page.setViewportSize({ width: 1280, height: 720 })
  await first.part('dial-to').fill('')
  for (const tab of ['recents', 'chats', 'settings']) {
    await first.part(`tab-${tab}`).click()
    await first.page.waitForTimeout(200)
    await isAccessible(first, tab)
  }
  await first.part('account').click()
  await isAccessible(first, 'account menu')
  await first.page.keyboard.press('Escape')
  await focusIs(first, 'account')
  await first.page.keyboard.press('?')
  await first.part('help').waitFor()
  await isAccessible(first, 'help')
  await first.page.keyboard.press('Escape')
  await first.part('help').waitFor({ state: 'detached' })
  await first.openDevices()
  await first.part('check-level').waitFor()
  await isAccessible(first, 'device check')
  await first.part('device-check-done').click()
  await first.part('tab-people').click()
})

it('an outgoing and an incoming call are accessible, and move the focus', async () => {
  second = await desk.bob()
  await first.part('dial-to').fill('bob')
  await first.part('dial-to').press('Enter')
  await second.rings()
  await Promise.all([focusIs(first, 'hangup'), focusIs(second, 'accept')])
  await isAccessible(first, 'ringing out')
  await isAccessible(second, 'incoming')
  await second.page.keyboard.press('Control+Shift+A')
  await Promise.all([first.talking(), second.talking(), focusIs(second, 'hangup')])
  await first.part('quality').waitFor()
  await isAccessible(first, 'in call')
  await first.part('keypad').click()
  await isAccessible(first, 'keypad')
  await first.part('keypad').click()
  await first.part('hold').click()
  await until(
    'the call is held',
    () => first.state(),
    (state) => state === 'held',
  )
  await isAccessible(first, 'held')
  expect(await first.part('quality').count()).toBe(0)
  const secondSays = (words: string) =>
    until(
      'the other page knows',
      () => second.part('call-state').textContent(),
      (text) => text === words,
    )
  await secondSays('On hold by the other side')
  await isAccessible(second, 'held by the other side')
  expect(await second.part('quality').count()).toBe(0)
  await first.part('hold').click()
  await Promise.all([first.talking(), secondSays('In call with Alice Adams')])
  await first.part('camera').click()
  await second.part('camera').click()
  await first.part('far-video').waitFor({ state: 'visible' })
  await first.part('own-video').waitFor({ state: 'visible' })
  await isAccessible(first, 'video')
  await videoFills(first)
  await videoFloats(first)
  await second.page.keyboard.press('Control+Shift+D')
  await Promise.all([first.idle(), second.idle()])
  await focusIs(first, 'dial-to')
  await isAccessible(first, 'ended')
  await first.part('tab-recents').click()
  await first.part('recent').first().waitFor()
  await isAccessible(first, 'history')
})

it('a person who is typing keeps the focus when a call comes in', async () => {
  await first.part('tab-people').click()
  await first.part('person-write').first().click()
  await focusIs(first, 'message-text')
  await first.part('message-text').fill('Good morning, are you there?')
  await first.part('message-text').press('Enter')
  await first.part('message').waitFor()
  await first.page.keyboard.type('And')
  await isAccessible(first, 'conversation')
  await second.dial('/public/alice')
  await first.rings()
  await first.page.keyboard.type(' more')
  expect(await first.part('message-text').inputValue()).toBe('And more')
  expect(await first.part('call-state').textContent()).toContain('Incoming call from Bob Brown')
  await first.page.keyboard.press('Control+Shift+D')
  await second.idle()
  await focusIs(first, 'message-text')
})

it('the presence of others is shown, and do not disturb makes calls busy', async () => {
  await first.part('tab-people').click()
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
  await isAccessible(first, 'do not disturb')
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
  await isAccessible(first, 'german')
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
  await other.page.goto(`http://localhost:${desk.gateway.httpPort}/`)
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
  await first.signIn(desk.gateway, alice)
  await first.part('online').click()
  await first.online()
})

it('a blocked microphone is explained before the first call', async () => {
  const page = await desk.browser.page()
  await page.addInitScript(`
    const status = Object.assign(new EventTarget(), { state: 'denied' })
    navigator.permissions.query = async () => status
    navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('blocked', 'NotAllowedError') }
  `)
  const phone = new Softphone(page)
  await phone.signIn(desk.gateway, dana)
  await phone.part('online').click()
  const check = phone.part('device-check')
  await until(
    'the page explains it',
    () => check.textContent(),
    (text) => text?.includes('How to allow it') ?? false,
  )
  await isAccessible(phone, 'microphone blocked')
  await phone.part('device-check-done').click()
  await phone.part('devices-warning').waitFor()
  await isAccessible(phone, 'calls would fail')
  await phone.close()
})

it('a lost connection is shown across the page', async () => {
  await desk.gateway.settled()
  await desk.gateway.stop()
  const state = () => first.part('connection').getAttribute('data-state')
  await until('the page reconnects', state, (found) => found === 'reconnecting')
  await isAccessible(first, 'reconnecting')
})

/** @schedule alone: three pages with video need both cores. */

/** Rooms in the softphone page: states, commands, waiting, reload, accessibility, and a telephone. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { faultsInAllLooks } from '../support/page-states.ts'
import { coloursIn, sees } from '../support/page-video.ts'
import { rest } from '../support/rest.ts'
import { type Person, Softphone } from '../support/softphone.ts'
import { bob, tones } from '../support/two-browsers.ts'
import { until } from '../support/until.ts'

const carol = { email: 'carol@example.test', password: 'looking-glass-7' }
const dana = { email: 'dana@example.test', password: 'looking-glass-7' }

let gateway: Gateway
let browser: Browser
let first: Softphone
let second: Softphone

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([
    Gateway.start({
      subscribers: [
        { ...alice, displayName: 'Alice Adams' },
        { ...bob, displayName: 'Bob Brown' },
        { ...carol, displayName: 'Carol Chen' },
        { ...dana, displayName: 'Dana Ortiz' },
      ],
      domains: [application('lounge.test', scripted({ join_room: { name: 'lounge' } }))],
    }),
    Browser.start(tones.alice),
  ])
  await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', {
    name: 'lounge',
    display_name: 'Lounge',
    tone_on_entry_and_exit: false,
  })
  const open = (person: Person, camera: 'red' | 'blue') =>
    Softphone.open(browser, gateway, { camera }, person)
  ;[first, second] = await Promise.all([open(alice, 'red'), open(bob, 'blue')])
})

afterAll(async () => {
  await Promise.all([first, second].map((phone) => phone?.close()))
  await browser?.stop()
  await gateway?.stop()
})

const faults = (state: string, phone = first): Promise<string[]> => faultsInAllLooks(phone.page, state)

/** Joins the room from the address book. */
const join = async (phone: Softphone, { video = false } = {}): Promise<void> => {
  await phone.part('tab-people').click()
  await phone.page
    .locator('[data-name=lounge]')
    .getByTestId(video ? 'person-video' : 'person-call')
    .click()
}

/** Joins the room, and waits until it is shown. */
const enter = async (phone: Softphone, options = {}): Promise<void> => {
  await join(phone, options)
  await phone.part('room').waitFor()
  await phone.talking()
}

const member = (phone: Softphone, name: string) =>
  phone.page.locator(`[data-testid=member][data-name="${name}"]`)

/** Waits until the panel shows states of a member. */
const shows = (phone: Softphone, name: string, states: string): Promise<unknown> =>
  until(
    `${name} is shown as "${states}"`,
    () => member(phone, name).getByTestId('member-states').textContent(),
    (text) => text === states,
  )

const says = (phone: Softphone, news: string): Promise<unknown> =>
  until(
    `the page announces "${news}"`,
    () => phone.part('room-news').textContent(),
    (text) => text === news,
  )

/** Waits until a page sees both cameras side by side. */
const seeBoth = (phone: Softphone): Promise<unknown> =>
  until(
    'both cameras are in the picture',
    () =>
      coloursIn(phone.page, [
        { x: 25, y: 50 },
        { x: 75, y: 50 },
      ]),
    (colours) => colours.join() === 'red,blue',
  )

it('a room is joined from the address book, with and without the camera', async () => {
  await first.part('tab-people').click()
  await until(
    'the room is called a room',
    () => first.page.locator('[data-name=lounge]').getByTestId('kind').textContent(),
    (text) => text === 'Room',
  )
  await enter(first, { video: true })
  expect(await first.part('room-name').textContent()).toBe('Lounge')
  await shows(first, 'Alice Adams', 'You')
  await until('the focus is at Leave', () =>
    first.page.evaluate('document.activeElement.dataset.testid === "hangup"'),
  )
  expect(await faults('room alone')).toEqual([])
  // A room that is dialled by its address is seen as well.
  await second.dial('/public/lounge')
  await second.part('room').waitFor()
  await second.talking()
  await Promise.all([
    says(first, 'Bob Brown joined.'),
    sees(second.page, 'red'),
    hears(second.page, tones.alice),
    shows(first, 'Bob Brown', 'Video off'),
  ])
  await second.part('camera').click()
  await shows(first, 'Bob Brown', '')
  await Promise.all([seeBoth(first), seeBoth(second)])
  await until('both places have a name', async () => {
    const names = await first
      .part('tile')
      .evaluateAll((all) => all.map((each) => (each as { dataset?: { name?: string } }).dataset?.name))
    return ['Alice Adams', 'Bob Brown'].every((name) => names.includes(name))
  })
  expect(await faults('room of two')).toEqual([])
})

it('hands, mutes and layouts are seen by all', async () => {
  await second.part('hand').click()
  await Promise.all([shows(first, 'Bob Brown', 'Hand raised'), says(first, 'Bob Brown raised a hand.')])
  await second.mute()
  await shows(first, 'Bob Brown', 'Hand raised · Muted')
  await first.part('room-layout').selectOption('highlight-1-responsive')
  await until(
    'the other page has the layout',
    () => second.part('room-layout').inputValue(),
    (value) => value === 'highlight-1-responsive',
  )
  await first.part('room-layout').selectOption('grid-responsive')
})

it('a telephone is listed, named while it talks, muted and removed', async () => {
  const phone = await Carrier.calls(gateway, { domain: 'lounge.test', scenario: 'caller-released' })
  await phone.talks('answered', tones.customer)
  await Promise.all([first, second].map((page) => shows(page, 'Carrier', 'Telephone')))
  await until(
    'the telephone is named',
    () => first.part('speakers').textContent(),
    (text) => text === 'Talking: Carrier',
  )
  await member(first, 'Carrier').getByTestId('member-mute').click()
  await shows(second, 'Carrier', 'Telephone · Muted')
  expect(await faults('room with a telephone')).toEqual([])
  await member(first, 'Carrier').getByTestId('member-remove').click()
  await phone.done()
  await says(second, 'Carrier left.')
  await member(first, 'Bob Brown').getByTestId('member-lower-hand').click()
  await until(
    'the hand is down on the own page',
    async () => (await second.part('hand').getAttribute('aria-pressed')) === 'false',
  )
  await second.mute()
})

it('the members of a room write to each other beside the picture', async () => {
  await first.part('room-chat').click()
  await first.part('message-text').fill('Welcome to the lounge')
  await first.part('message-text').press('Enter')
  await first.part('message').waitFor()
  await second.part('room-chat').click()
  await second.part('message').getByText('Welcome to the lounge').waitFor()
  await second.part('message-text').fill('Thank you')
  await second.part('message-text').press('Enter')
  await first.part('message').getByText('Thank you').waitFor()
  expect(await faults('room chat')).toEqual([])
  await first.part('room-panel-close').click()
  await until('the focus is at the button of the chat', () =>
    first.page.evaluate('document.activeElement.dataset.testid === "room-chat"'),
  )
  await second.part('message-text').fill('Are you there?')
  await second.part('message-text').press('Enter')
  await until(
    'the button says that there are new messages',
    () => first.part('room-chat').getAttribute('aria-label'),
    (text) => text === 'Chat, new messages',
  )
  await first.part('room-people').click()
  await second.part('room-people').click()
})

it('a page that is reloaded comes back into the room with its states', async () => {
  await second.part('hand').click()
  await second.page.reload()
  await second.part('room').waitFor()
  await second.talking()
  await Promise.all([
    shows(first, 'Bob Brown', 'Hand raised'),
    seeBoth(second),
    until(
      'the button knows the hand',
      async () => (await second.part('hand').getAttribute('aria-pressed')) === 'true',
    ),
  ])
  expect(await member(first, 'Bob Brown').count()).toBe(1)
  await second.part('hand').click()
})

it('a screen is shown to all, and listed', async () => {
  await first.part('share').click()
  await second.part('screen').getByText('Screen of Alice Adams').waitFor()
  await shows(second, 'Alice Adams', 'Shares a screen')
  await first.part('share').click()
  await second.part('screen').waitFor({ state: 'detached' })
})

it('a locked room says so, and is joined once it is opened', async () => {
  await first.part('room-lock').click()
  await second.part('room-locked').waitFor()
  expect(await faults('room with a lock')).toEqual([])
  const third = await Softphone.open(browser, gateway, {}, carol)
  await join(third)
  await third.part('room-wait').getByText('The room is locked.').waitFor()
  expect(await faults('room locked', third)).toEqual([])
  await first.part('room-lock').click()
  await second.part('room-locked').waitFor({ state: 'detached' })
  await third.part('room-try-again').focus()
  await third.page.keyboard.press('Enter')
  await third.part('room').waitFor()
  await shows(first, 'Carol Chen', 'Video off')
  for (const phone of [first, second]) await phone.part('camera').click()
  await first.part('faces').waitFor()
  expect(await faults('room without cameras')).toEqual([])
  await member(first, 'Carol Chen').getByTestId('member-remove').click()
  await third.part('room').waitFor({ state: 'detached' })
  await third.part('notice').getByText('You were removed from the room.').waitFor()
  expect(await faults('removed from the room', third)).toEqual([])
  await says(second, 'Carol Chen left.')
  await third.close()
})

it('a room is used with the keyboard alone', async () => {
  const order: string[] = []
  await first.part('room-people').focus()
  await first.page.keyboard.press('Enter')
  await first.part('room-panel').waitFor({ state: 'detached' })
  expect(await faults('room without a panel')).toEqual([])
  await first.part('tab-settings').focus()
  for (let at = 0; at < 12 && order.at(-1) !== 'hangup'; at++) {
    await first.page.keyboard.press('Tab')
    order.push(
      await first.page.evaluate('document.activeElement.dataset.testid ?? document.activeElement.tagName'),
    )
  }
  expect(order).toEqual([
    'room-layout',
    'full-screen',
    'mute',
    'camera',
    'share',
    'hand',
    'room-people',
    'room-chat',
    'hangup',
  ])
  await first.page.keyboard.press('Control+Shift+M')
  await shows(second, 'Alice Adams', 'Muted · Video off')
  await first.page.keyboard.press('Control+Shift+M')
})

it('a room is ended for all with the keyboard, after a question', async () => {
  const focused = (id: string) =>
    until(`the focus is at ${id}`, () =>
      first.page.evaluate(`document.activeElement.dataset.testid === "${id}"`),
    )
  await first.part('room-people').focus()
  await first.page.keyboard.press('Enter')
  await first.part('room-end').focus()
  await first.page.keyboard.press('Enter')
  await first.part('room-end-dialog').waitFor()
  expect(await faults('room end')).toEqual([])
  await first.page.keyboard.press('Escape')
  await focused('room-end')
  await first.page.keyboard.press('Enter')
  await focused('room-end-cancel')
  const press = (...keys: readonly string[]) => Promise.all(keys.map((key) => first.page.keyboard.press(key)))
  // Keys that overlap meet a dialog that is about to open or to close. None may be lost.
  for (let at = 0; at < 10; at++) {
    await press('Escape', 'Enter')
    await focused('room-end-cancel')
    await press('Escape', 'Enter', 'Escape')
    await focused('room-end')
    await first.part('room-end-dialog').waitFor({ state: 'detached' })
    await press('Enter')
    await focused('room-end-cancel')
  }
  await first.page.keyboard.press('Tab')
  await focused('room-end-confirm')
  await first.page.keyboard.press('Enter')
  for (const phone of [first, second]) {
    await phone.part('room').waitFor({ state: 'detached' })
    await phone.part('notice').getByText('The room was closed.').waitFor()
  }
  await gateway.settled()
})

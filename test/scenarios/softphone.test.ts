/** @schedule tones first: two pages with sound and video, in a minute of calls. */

/** Softphone page with two users: calls, video, several calls, a reload, and messages. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { flowText } from '../support/applications.ts'
import { hears } from '../support/page-audio.ts'
import { type Colour, screenColour, sees, seesNothing } from '../support/page-video.ts'
import { PushService } from '../support/push-service.ts'
import { rest } from '../support/rest.ts'
import { type Person, Softphone } from '../support/softphone.ts'
import { alice, bob, TwoBrowsers, tones } from '../support/two-browsers.ts'
import { until } from '../support/until.ts'
import { deskEndpoint } from './groups/endpoints.ts'
import { softphonePush } from './groups/softphone-push.ts'

const colours: readonly Colour[] = ['red', 'blue']
const carol = { email: 'carol@example.test', password: 'looking-glass-7' }

const two = new TwoBrowsers()
let service: PushService

beforeAll(async () => {
  service = await PushService.open()
  await two.start({
    ...service.gateway,
    endpoints: [deskEndpoint],
    resources: [
      {
        address: '/public/menu',
        displayName: 'Menu',
        handler: { kind: 'flow', document: JSON.parse(flowText('hangup', {})) },
      },
    ],
    subscribers: [
      { ...alice, displayName: 'Alice' },
      { ...bob, displayName: 'Bob Brown' },
      { ...carol, displayName: 'Carol' },
    ],
  })
})

afterAll(async () => {
  await two.stop()
  await service?.close()
})

/** Opens a subscriber's softphone in the first or the second browser. The softphone closes with the test. */
const phoneOf = async (person: Person, index: 0 | 1): Promise<Softphone> => {
  const phone = await Softphone.open(two.browsers[index], two.gateway, { camera: colours[index] }, person)
  onTestFinished(() => phone.close())
  return phone
}

/** Waits until both softphones hear the tone of the other browser. */
const talk = async (first: Softphone, second: Softphone): Promise<void> => {
  await Promise.all([hears(first.page, tones.bob), hears(second.page, tones.alice)])
}

it('a video call from the address book has video and sound both ways, and can share a screen and stop video', async () => {
  const [first, second] = await Promise.all([phoneOf(alice, 0), phoneOf(bob, 1)])
  await first.part('tab-people').click()
  await first.part('people-search').fill('bro')
  await until('the search has one result', async () => (await first.part('person').count()) === 1)
  await first.part('person-video').click()
  expect(await second.rings()).toBe('Alice')
  expect(await second.part('incoming').textContent()).toContain('Incoming video call')
  await second.accept({ video: true })
  await first.talking()
  expect(await first.part('party').textContent()).toBe('Bob Brown')
  await Promise.all([talk(first, second), sees(first.page, 'blue'), sees(second.page, 'red')])
  await second.part('far-video').waitFor({ state: 'visible' })
  await first.part('share').click()
  await sees(second.page, screenColour)
  await first.part('share').click()
  await sees(second.page, 'red')
  await first.part('camera').click()
  await seesNothing(second.page)
  await Promise.all([sees(first.page, 'blue'), talk(first, second)])
  await first.hangUp()
  await Promise.all([first.idle(), second.idle()])
  await two.gateway.settled()
})

it('the address book shows the kind of each entry: person, telephone or application', async () => {
  const phone = await phoneOf(alice, 0)
  await phone.part('tab-people').click()
  const shown = async () => {
    const entries = phone.part('person')
    const names = await entries.evaluateAll((all) =>
      all.map((each) => (each as { dataset?: { name?: string } }).dataset?.name),
    )
    return names.map((name, at) => [name, at] as const)
  }
  const kindOf = async (name: string) => {
    await until('the entry is shown', shown, (all) => all.some(([each]) => each === name))
    return phone.page.locator(`[data-name="${name}"]`).getByTestId('kind').textContent()
  }
  expect(await kindOf('bob')).toBe('Person')
  expect(await kindOf('desk')).toBe('Telephone')
  expect(await kindOf('menu')).toBe('Application')
  await phone.part('people-type').selectOption({ label: 'Telephones' })
  await until('only telephones are shown', shown, (all) => all.length === 1)
  expect(await kindOf('desk')).toBe('Telephone')
})

it('a call that was dialled by name continues after hold and reload, with the name still shown', async () => {
  const [first, second] = await Promise.all([phoneOf(alice, 0), phoneOf(bob, 1)])
  await first.dial('bob brown')
  await second.rings()
  await second.accept()
  await Promise.all([first.talking(), second.talking()])
  await talk(first, second)
  await first.part('hold').click()
  await until(
    'the call is held',
    () => first.state(),
    (state) => state === 'held',
  )
  await first.part('hold').click()
  await first.talking()
  await talk(first, second)
  await first.page.reload()
  await first.talking()
  await first.online()
  expect(await first.part('party').textContent()).toBe('Bob Brown')
  await talk(first, second)
  await second.hangUp()
  await Promise.all([first.idle(), second.idle()])
  await two.gateway.settled()
})

it('a second call holds the first, and both can be swapped', async () => {
  const people = [phoneOf(alice, 0), phoneOf(bob, 1), phoneOf(carol, 1)] as const
  const [first, second, third] = await Promise.all(people)
  // The first page's own level meter is read, because the probe cannot separate the sound of two connections.
  const heardBy = async (other: Softphone): Promise<void> => {
    await hears(other.page, tones.alice)
    const level = async () => Number(await first.part('remote-level').getAttribute('data-level'))
    await until('the foreground call is heard', level, (heard) => heard > 0.01)
  }
  await second.dial('/public/alice')
  await first.rings()
  await first.accept()
  await heardBy(second)
  await third.dial('/public/alice')
  expect(await first.rings()).toBe('Carol')
  await first.accept()
  await heardBy(third)
  await until('the first call is in the background', async () =>
    (await first.part('held').textContent())?.includes('Bob Brown'),
  )
  await first.part('swap').click()
  await until(
    'the first call is in the foreground',
    async () => (await first.part('party').textContent()) === 'Bob Brown',
  )
  await heardBy(second)
  await first.hangUp()
  await second.idle()
  await until(
    'the other call is still held',
    () => first.state(),
    (state) => state === 'held',
  )
  await first.part('hold').click()
  await heardBy(third)
  await first.hangUp()
  await third.idle()
  await two.gateway.settled()
})

/** Writes a message in the open conversation. */
const write = async (phone: Softphone, text: string): Promise<void> => {
  await phone.part('message-text').fill(text)
  await phone.part('message-text').press('Enter')
}

const texts = async (phone: Softphone): Promise<string[]> =>
  (await phone.part('message').locator('.said').allTextContents()) as string[]

it('a message from the address book is shown as unread, can be answered, and older messages load page by page', async () => {
  const [first, second] = await Promise.all([phoneOf(alice, 0), phoneOf(carol, 1)])
  await first.part('tab-people').click()
  await first.page.locator('[data-testid=person]', { hasText: 'Carol' }).getByTestId('person-write').click()
  await write(first, 'Good morning')
  const tab = second.part('tab-chats')
  await until(
    'the tab counts the new message',
    async () => (await tab.getAttribute('aria-label')) === 'Messages, 1 new',
  )
  await tab.click()
  await second.part('talk').click()
  await until(
    'the message is marked as read',
    async () => (await tab.getAttribute('aria-label')) === 'Messages',
  )
  await write(second, 'Good day')
  await until(
    'the answer is shown',
    () => texts(first),
    (all) => all.join() === 'Good morning,Good day',
  )
  // The subscriber sends more than one page of messages from elsewhere.
  const { token } = (
    await rest(two.gateway, 'POST', '/api/fabric/subscribers/tokens', { reference: alice.email })
  ).body
  const bearer = `Bearer ${token}`
  const { body } = await rest(
    two.gateway,
    'GET',
    '/api/fabric/addresses?name=/public/carol',
    undefined,
    bearer,
  )
  for (let at = 0; at < 30; at++) {
    const message = { conversation_id: body.data[0].id, text: `line ${at}` }
    expect((await rest(two.gateway, 'POST', '/api/fabric/messages', message, bearer)).status).toBe(201)
  }
  await until(
    'all arrive',
    () => texts(first),
    (all) => all.length === 32,
  )
  await second.page.reload()
  await tab.click()
  await second.part('talk').click()
  await until(
    'the first page is shown',
    () => texts(second),
    (all) => all.length === 30,
  )
  await second.part('older').click()
  await until(
    'all messages are shown',
    () => texts(second),
    (all) => all.length === 32,
  )
  expect((await texts(second)).slice(0, 3)).toEqual(['Good morning', 'Good day', 'line 0'])
})

softphonePush(two, () => service)

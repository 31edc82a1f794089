/** Calls that the softphone's service worker announces, for a closed page and for a hidden one. */
import { expect, it, onTestFinished } from 'vitest'
import { hears } from '../../support/page-audio.ts'
import { PushDevice, type PushService } from '../../support/push-service.ts'
import { Softphone } from '../../support/softphone.ts'
import { alice, bob, type TwoBrowsers, tones } from '../../support/two-browsers.ts'
import { until } from '../../support/until.ts'

const ringing = { title: 'Incoming call', body: 'Bob Brown\n/public/bob' }

/** The tests; Bob is called Bob Brown. */
export const softphonePush = (two: TwoBrowsers, service: () => PushService): void => {
  /** Alice's page, which has registered its browser as a device. */
  const registered = async (): Promise<{ phone: Softphone; device: PushDevice }> => {
    const page = await two.browsers[0].page()
    onTestFinished(() => page.context().close())
    await page.context().grantPermissions(['microphone', 'notifications'])
    await page.addInitScript(service().subscribing)
    const phone = new Softphone(page)
    await phone.signIn(two.gateway, alice)
    await phone.part('tab-settings').click()
    await phone.part('push').click()
    const state = () => phone.part('push-state').getAttribute('data-state')
    await until('calls are always shown', state, (found) => found === 'always')
    return { phone, device: await PushDevice.of(page) }
  }

  const calling = async (): Promise<Softphone> => {
    const caller = await Softphone.open(two.browsers[1], two.gateway, {}, bob)
    onTestFinished(() => caller.close())
    await caller.dial('/public/alice')
    return caller
  }

  /** Waits until the page shows this notice. */
  const says = (phone: Softphone, words: string): Promise<unknown> =>
    until(
      `the page says: ${words}`,
      () => phone.part('notice').textContent(),
      (text) => text === words,
    )

  it('a notification shows the caller while the page is closed; its answer button takes the call in the page', async () => {
    const { phone, device } = await registered()
    await phone.page.goto('about:blank')
    const caller = await calling()
    await service().deliver(device)
    await device.shows(ringing)
    await device.press('answer')
    await device.shows()
    // The browser opens a page only after a real click, so the test opens the page itself.
    await phone.page.goto(`http://localhost:${two.gateway.httpPort}/`)
    await Promise.all([phone.talking(), caller.talking()])
    expect(await phone.part('party').textContent()).toBe('Bob Brown')
    await hears(phone.page, tones.bob)
    await hears(caller.page, tones.alice)
    // An answered call leaves no notification.
    await service().deliver(device)
    await device.shows()
    await phone.hangUp()
    await caller.idle()
    await two.gateway.settled()
  })

  it('the decline button of a notification declines the call without an open page', async () => {
    const { phone, device } = await registered()
    await phone.page.goto('about:blank')
    const caller = await calling()
    await service().deliver(device)
    await device.shows(ringing)
    await device.press('decline')
    await says(caller, 'The call was declined.')
    await service().deliver(device)
    await device.shows()
    await two.gateway.settled()
  })

  it('a caller who gives up turns the notification into a missed call', async () => {
    const { phone, device } = await registered()
    await phone.page.goto('about:blank')
    const caller = await calling()
    await service().deliver(device)
    await device.shows(ringing)
    await caller.hangUp()
    await service().deliver(device)
    await device.shows({ title: 'Missed call', body: 'Bob Brown' })
    await two.gateway.settled()
  })

  it('a notification shows the caller while the page is hidden, and answers there; after sign-out no notification follows', async () => {
    const { phone, device } = await registered()
    await phone.part('online').click()
    await phone.online()
    await phone.page.evaluate(`Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })`)
    const caller = await calling()
    await phone.rings()
    await device.shows(ringing)
    await device.press('answer')
    await phone.talking()
    await hears(caller.page, tones.alice)
    await device.shows()
    await caller.hangUp()
    await phone.idle()
    await phone.signOut()
    await phone.part('sign-in').waitFor()
    await caller.dial('/public/alice')
    await says(caller, 'This person is not online.')
    expect(service().left).toBe(0)
    await two.gateway.settled()
  })
}

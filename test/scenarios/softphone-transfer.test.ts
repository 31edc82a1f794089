/** Calls of the softphone page with several persons: transfers, and persons who are added. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Softphone } from '../support/softphone.ts'
import { carol, focusIs, isAccessible, SoftphoneDesk } from '../support/softphone-desk.ts'

let desk: SoftphoneDesk
let first: Softphone
let second: Softphone

beforeAll(async () => {
  desk = await SoftphoneDesk.start()
  ;[first, second] = await Promise.all([desk.alice(), desk.bob()])
})

afterAll(() => desk?.stop())

it('a call is transferred, at once and after a question, and a person is added', async () => {
  const third = await Softphone.open(desk.browser, desk.gateway, {}, carol)
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
    await isAccessible(first, 'transfer dialog with offers')
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
    await desk.gateway.settled()
  }
  await talkWithBob()
  await chooseOfferedCarol()
  await first.part('transfer-dialog-close').click()
  await chooseCarol('transfer')
  await isAccessible(first, 'transfer dialog')
  await first.part('transfer-now').click()
  await third.rings()
  await third.accept()
  await handedOver()
  await talkWithBob()
  const addCarol = async () => {
    await chooseCarol('add')
    await isAccessible(first, 'add dialog')
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
  await isAccessible(first, 'transfer of a call of three')
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
  await desk.gateway.settled()
  await talkWithBob()
  await chooseCarol('transfer')
  await first.part('transfer-ask').click()
  await third.rings()
  await third.accept()
  await first.part('connect').waitFor()
  await isAccessible(first, 'two calls')
  await first.part('connect').click()
  await handedOver()
  await third.close()
})

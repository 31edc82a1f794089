/** @schedule tones first: two pages with sound and video, in calls of each version. */

/** Video calls of two pages with the published SDK, in each of its versions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { Gateway } from '../support/gateway.ts'
import { hears } from '../support/page-audio.ts'
import { type Colour, screenColour, sees, seesNothing } from '../support/page-video.ts'
import { SdkPage } from '../support/sdk-page.ts'
import { peopleOf, tokenOf, withToken } from '../support/sdk-people.ts'
import { sdkVersions } from '../support/sdk-versions.ts'
import { until } from '../support/until.ts'

const tone = 1200

let gateway: Gateway
let browser: Browser

beforeAll(async () => {
  const browsing = Browser.start(tone)
  gateway = await Gateway.start({ ...withToken, subscribers: sdkVersions.flatMap(peopleOf) })
  browser = await browsing
})

afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
})

describe.each(sdkVersions)('the published SDK $version', (sdk) => {
  let caller: SdkPage
  let callee: SdkPage

  beforeAll(async () => {
    const open = async (person: string, camera: Colour): Promise<SdkPage> =>
      SdkPage.open(browser, gateway, await tokenOf(gateway, person), { folder: sdk.folder, camera })
    ;[caller, callee] = await Promise.all([open(sdk.person, 'red'), open(sdk.friend, 'blue')])
    await callee.online()
  })

  afterAll(async () => {
    await caller?.close()
    await callee?.close()
  })

  const talk = async (): Promise<void> => {
    await Promise.all([hears(caller.page, tone), hears(callee.page, tone)])
  }

  const seeEachOther = async (): Promise<void> => {
    await Promise.all([sees(caller.page, 'blue'), sees(callee.page, 'red'), talk()])
  }

  const dial = async (video: boolean): Promise<void> => {
    const rung = await callee.invites()
    await caller.begin('dial', `/public/${sdk.friend}?channel=${video ? 'video' : 'audio'}`, { video })
    await until(
      'the invite',
      () => callee.invites(),
      (now) => now === rung + 1,
    )
    await callee.accept({ video })
    expect(await caller.started()).toEqual({ resolved: undefined })
  }

  const hangUp = async (): Promise<void> => {
    await caller.hangUp()
    await until(
      'the callee’s page sees the end',
      () => callee.events(),
      (events) => events.includes('destroy'),
    )
    await gateway.settled()
  }

  it('calls with video, mutes it, and shares the screen', async () => {
    await dial(true)
    await seeEachOther()

    await caller.do('videoMute')
    await Promise.all([seesNothing(callee.page), sees(caller.page, 'blue'), talk()])
    await caller.do('videoUnmute')
    await seeEachOther()

    await caller.shareScreen()
    await Promise.all([sees(callee.page, screenColour), sees(caller.page, 'blue'), talk()])
    await caller.stopSharing()
    await seeEachOther()
    await hangUp()
  })

  // Versions without the feature have no test instead of a skipped one.
  if (sdk.updatesMedia)
    it('adds video to a call, removes it and adds it again', async () => {
      await dial(false)
      await talk()
      await Promise.all([caller, callee].map((page) => page.do('setVideoDirection', 'sendrecv')))
      await seeEachOther()

      await caller.do('updateMedia', { video: { direction: 'recvonly' } })
      await Promise.all([seesNothing(callee.page), sees(caller.page, 'blue'), talk()])
      await caller.do('updateMedia', { video: { direction: 'sendrecv' } })
      await seeEachOther()
      // The caller could not see video after this step, because the SDK has stopped its received track.
      await caller.do('setVideoDirection', 'inactive')
      await Promise.all([seesNothing(callee.page), seesNothing(caller.page), talk()])
      await hangUp()
    })
})

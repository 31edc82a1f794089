import { expect, it, onTestFinished } from 'vitest'
import { type BrowserFixture, browserTone } from '../../support/browser-fixture.ts'
import { Carrier } from '../../support/carrier.ts'
import { killWorker } from '../../support/mediasoup-worker.ts'
import { hears } from '../../support/page-audio.ts'
import { SipPhone } from '../../support/sip-phone.ts'
import { until } from '../../support/until.ts'

const carrierTone = 440

/** The death of a mediasoup worker while a SIP endpoint and a subscriber talk from browsers. */
export const mediaCrash = (
  fixture: BrowserFixture,
  desk: object & { username: string; password: string },
): void => {
  it('the death of the mediasoup worker ends calls of SIP clients at once, and calls of subscribers go on', async () => {
    const { gateway } = fixture
    const server = `wss://127.0.0.1:${gateway.wssPort}`
    const phone = await SipPhone.open(fixture.browser, { ...desk, server, domain: 'phones.test' })
    onTestFinished(() => phone.close())
    const caller = await Carrier.calls(gateway, { domain: 'desk.test', scenario: 'caller-released' })
    await phone.rings()
    await phone.accept()
    await phone.reaches('Established')
    await caller.talks('answered', carrierTone)
    await caller.hears(browserTone)
    const callee = await Carrier.listens({ scenario: 'callee' })
    await fixture.phone.dial(callee.uri)
    await callee.talks('invited', carrierTone)
    await fixture.phone.talking()
    await hears(fixture.phone.page, carrierTone)

    killWorker(gateway)
    const before = callee.media.packets.length
    await Promise.all([caller.done(), phone.reaches('Terminated')])
    // Legs that end by their own media time-out would have the code media_timeout.
    expect(caller.sipp.received('BYE')[0]).toMatch(/^Reason: .*Q\.850;\s*cause=41/im)
    const record = await gateway.record(caller.callId)
    const legs = record.legs as readonly { readonly code: string }[]
    expect([record.code, ...legs.map(({ code }) => code)]).toEqual(['internal', 'internal', 'internal'])

    await until(
      'the carrier receives a second of sound again',
      () => callee.media.packets.length - before,
      (packets) => packets > 60,
      5_000,
    )
    await callee.hears(browserTone)
    await hears(fixture.phone.page, carrierTone)
    expect(await fixture.phone.state()).toBe('active')
    await fixture.phone.part('hangup').click()
    await callee.done()
    await fixture.phone.idle()
    await phone.unregister()
    await until(
      'no contact is left',
      () => gateway.metric('sip_bindings'),
      (count) => count === 0,
    )
    await gateway.settled()
  })
}

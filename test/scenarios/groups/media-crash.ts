import { readdirSync, readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { type BrowserFixture, browserTone } from '../../support/browser-fixture.ts'
import { Carrier } from '../../support/carrier.ts'
import type { Gateway } from '../../support/gateway.ts'
import { hears } from '../../support/page-audio.ts'
import { SipPhone } from '../../support/sip-phone.ts'
import { until } from '../../support/until.ts'

const carrierTone = 440

/** Process ids of the mediasoup workers of a gateway. */
const workersOf = ({ pid }: Gateway): readonly number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      const status = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/status`, 'utf8') : ''
      const isWorker = /^Name:\s*mediasoup-worke/m.test(status) && status.includes(`\nPPid:\t${pid}\n`)
      return isWorker ? [Number(name)] : []
    } catch {
      // The process has ended meanwhile.
      return []
    }
  })

/** The death of a mediasoup worker while a SIP endpoint and a subscriber talk from browsers. */
export const mediaCrash = (
  fixture: BrowserFixture,
  desk: object & { username: string; password: string },
): void => {
  it('the death of the mediasoup worker ends all calls of browsers at once, with the same code for both sides', async () => {
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

    const [worker, ...others] = workersOf(gateway)
    expect(others).toEqual([])
    process.kill(worker!, 'SIGKILL')
    await Promise.all([caller.done(), callee.done(), phone.reaches('Terminated'), fixture.phone.idle()])
    // Legs that end by their own media time-out would have the code media_timeout.
    for (const carrier of [caller, callee]) {
      expect(carrier.sipp.received('BYE')[0]).toMatch(/^Reason: .*Q\.850;\s*cause=41/im)
      const record = await gateway.record(carrier.callId)
      const legs = record.legs as readonly { readonly code: string }[]
      expect([record.code, ...legs.map(({ code }) => code)]).toEqual(['internal', 'internal', 'internal'])
    }
    await phone.unregister()
    await until(
      'no contact is left',
      () => gateway.metric('sip_bindings'),
      (count) => count === 0,
    )
    await gateway.settled()
  })
}

import { describe, expect, it, onTestFinished } from 'vitest'
import { application, script, scripted } from '../../support/applications.ts'
import { type BrowserFixture, browserTone } from '../../support/browser-fixture.ts'
import { Carrier } from '../../support/carrier.ts'
import type { DocumentServer } from '../../support/documents.ts'
import { faultsOf, fromFirstSound } from '../../support/hearing.ts'
import { hears } from '../../support/page-audio.ts'
import { Softphone } from '../../support/softphone.ts'
import { until } from '../../support/until.ts'

const carrierTone = 600

/** Document of `/public/trunk`, set by each test, since the carrier's port is known only then. */
let document = ''

/** Configuration of the gateway for the tests. */
export const outboundDomains = (documents: DocumentServer): object[] => {
  const url = documents.put('/out', () => document)
  return [application('through.test', { kind: 'script', url })]
}
/** Resources of the gateway for the tests. */
export const outboundResources = (documents: DocumentServer): object[] => [
  { address: '/public/trunk', handler: { kind: 'script', url: documents.urlOf('/out') } },
  {
    address: '/public/front',
    handler: scripted({ connect: { to: '/public/trunk', answer_on_bridge: true } }),
  },
  { address: '/public/nowhere', handler: scripted({ hangup: { reason: 'busy' } }) },
]

/** Calls from a browser to carriers. */
export const outbound = (fixture: BrowserFixture): void => {
  describe('a SIP URI that a browser dials', () => {
    it('has early media, an answer, sound both ways and digits, and is ended by the browser', async () => {
      const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
      await fixture.phone.dial(carrier.uri)
      // Early media: the tone is in the browser before the carrier answers.
      await carrier.talks('invited', 350)
      await hears(fixture.phone.page, 350)
      expect(carrier.sipp.events).not.toContain('confirmed')
      await carrier.goesOn()
      await carrier.sipp.event('confirmed')
      carrier.media.tone(carrierTone)
      await fixture.phone.talking()
      await hears(fixture.phone.page, carrierTone)
      await carrier.hears(browserTone, 600)
      await fixture.phone.press('15#')
      await carrier.receivesDigits('15#')
      await carrier.hears(browserTone, 600)
      expect(faultsOf(carrier.media.packets)).toEqual([])
      await fixture.phone.hangUp()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('ends for the browser when the carrier hangs up', async () => {
      const carrier = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual', codec: 'PCMA' })
      await fixture.phone.dial(carrier.uri)
      await carrier.talks('invited', carrierTone)
      await fixture.phone.talking()
      await hears(fixture.phone.page, carrierTone)
      await carrier.goesOn()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('is cancelled at the carrier when the browser gives up', async () => {
      const carrier = await Carrier.listens({ scenario: 'callee-cancelled' })
      await fixture.phone.dial(carrier.uri)
      await carrier.sipp.event('invited')
      await fixture.phone.hangUp()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('is shown as busy in the browser when the carrier is busy', async () => {
      const carrier = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
      await fixture.phone.dial(carrier.uri)
      await carrier.done()
      const notice = fixture.phone.page.getByTestId('notice')
      await until(
        'the page says why',
        () => notice.textContent(),
        (text) => /busy/i.test(text ?? ''),
      )
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('is called over TCP if the URI has transport=tcp', async () => {
      const carrier = await Carrier.listens({ scenario: 'callee', transport: 'tcp' })
      await fixture.phone.dial(`${carrier.uri};transport=tcp`)
      await carrier.talks('invited', carrierTone)
      await fixture.phone.talking()
      await fixture.phone.hangUp()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })
  })

  describe('an address whose script connects to a carrier', () => {
    it('answers the carrier’s challenge with the user and password of the script', async () => {
      const values = { username: 'trunk-user', password: 'trunk-pass' }
      const carrier = await Carrier.listens({ scenario: 'callee-digest', values })
      document = JSON.stringify(
        script({
          connect: {
            to: carrier.uri,
            username: 'trunk-user',
            password: 'trunk-pass',
            answer_on_bridge: true,
          },
        }),
      )
      await fixture.phone.dial('/public/trunk')
      await carrier.sipp.event('challenged')
      await carrier.talks('invited', carrierTone)
      await fixture.phone.talking()
      await hears(fixture.phone.page, carrierTone)
      await carrier.hears(browserTone, 400)
      await fixture.phone.hangUp()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
      expect(fixture.gateway.output).not.toContain('trunk-pass')
    })

    it('can be reached through another address, with early media, sound and digits', async () => {
      const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
      document = JSON.stringify(script({ connect: { to: carrier.uri, answer_on_bridge: true } }))
      await fixture.phone.dial('/public/front')
      await carrier.talks('invited', 350)
      await hears(fixture.phone.page, 350)
      expect(carrier.sipp.events).not.toContain('confirmed')
      await carrier.goesOn()
      await carrier.sipp.event('confirmed')
      carrier.media.tone(carrierTone)
      await fixture.phone.talking()
      await hears(fixture.phone.page, carrierTone)
      await carrier.hears(browserTone, 600)
      await fixture.phone.press('7#')
      await carrier.receivesDigits('7#')
      expect(faultsOf(carrier.media.packets)).toEqual([])
      await fixture.phone.hangUp()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('connects one carrier with another, with sound and digits', async () => {
      const callee = await Carrier.listens({ scenario: 'callee', holdMs: 300 })
      document = JSON.stringify(script({ connect: { to: callee.uri, answer_on_bridge: true } }))
      const caller = await Carrier.calls(fixture.gateway, {
        domain: 'through.test',
        scenario: 'caller',
        holdMs: 'manual',
      })
      await callee.talks('invited', carrierTone)
      await caller.talks('answered', 440)
      await callee.hears(440, 500)
      await caller.hears(carrierTone, 500)
      caller.media.press('90*')
      await callee.receivesDigits('90*')
      expect(faultsOf(fromFirstSound(callee.media.packets))).toEqual([])
      await caller.goesOn()
      await caller.done()
      await callee.done()
      await fixture.gateway.settled()
    })
  })

  it('a busy address that a browser dials is shown as busy in the browser', async () => {
    // A new softphone, without an earlier notice.
    const phone = await Softphone.open(fixture.browser, fixture.gateway)
    onTestFinished(() => phone.close())
    await phone.dial('/public/nowhere')
    const notice = phone.page.getByTestId('notice')
    await until(
      'the page says why',
      () => notice.textContent(),
      (text) => /busy/i.test(text ?? ''),
    )
    await fixture.gateway.settled()
  })
}

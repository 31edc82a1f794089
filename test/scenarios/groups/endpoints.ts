import { expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../../support/applications.ts'
import { type BrowserFixture, browserTone } from '../../support/browser-fixture.ts'
import { Carrier } from '../../support/carrier.ts'
import type { DocumentServer } from '../../support/documents.ts'
import { heardIn, hears } from '../../support/page-audio.ts'
import { SipPhone } from '../../support/sip-phone.ts'
import { until } from '../../support/until.ts'

const carrierTone = 440
const domain = 'phones.test'
const desk = { username: 'desk', password: 'long-enough-1' }

/** SIP endpoint of the tests, for the configuration of the gateway. */
export const deskEndpoint = { ...desk, displayName: 'Front desk', callerId: '+49301', mayDialOut: true }
/** Registrar of the endpoint, for the configuration of the gateway. */
export const deskRegistrar = { domains: [domain] }
/** Domain application that calls the endpoint, for the configuration of the gateway. */
export const deskDomain = application(
  'desk.test',
  scripted({ connect: { to: '/public/desk', timeout: 15, answer_on_bridge: true } }),
)

/** Returns the resource of an address that collects three digits and sends them to the server. */
export const menuResource = (documents: DocumentServer): object => ({
  address: '/public/menu',
  handler: scripted(
    { prompt: { play: 'say:Please press three keys, and there is a lot more to be said.', max_digits: 3 } },
    { request: { url: documents.put('/pressed', '{}'), method: 'POST', body: { keys: '%{prompt_value}' } } },
    'hangup',
  ),
})

/** Tests of a SIP endpoint in a browser. The default carrier takes calls at `carrierPort`. */
export const endpoints = (fixture: BrowserFixture, carrierPort: () => number): void => {
  /** Opens a registered phone, which closes with the test. */
  const phone = async (): Promise<SipPhone> => {
    const server = `wss://127.0.0.1:${fixture.gateway.wssPort}`
    const opened = await SipPhone.open(fixture.browser, { ...desk, server, domain })
    onTestFinished(() => opened.close())
    expect(await fixture.gateway.metric('sip_bindings')).toBe(1)
    return opened
  }

  /** Removes the registration, so that the next test begins without one. */
  const leave = async (opened: SipPhone): Promise<void> => {
    await opened.unregister()
    await until(
      'no contact is left',
      () => fixture.gateway.metric('sip_bindings'),
      (left) => left === 0,
    )
  }

  it('a carrier calls a registered sip.js page at its address, and both hear each other', async () => {
    const opened = await phone()
    const carrier = await Carrier.calls(fixture.gateway, {
      domain: 'desk.test',
      scenario: 'caller',
      holdMs: 'manual',
    })
    await opened.rings()
    await opened.accept()
    await opened.reaches('Established')
    await carrier.talks('answered', carrierTone)
    await hears(opened.page, carrierTone)
    await carrier.hears(browserTone, 1_000)
    await carrier.goesOn()
    await carrier.sipp.succeeded()
    await opened.reaches('Terminated')
    await fixture.gateway.settled()
    await leave(opened)
  })

  it('a registered sip.js page dials a number with its own caller ID, and hangs up', async () => {
    const opened = await phone()
    const carrier = await Carrier.listens({ scenario: 'callee', port: carrierPort(), holdMs: 500 })
    await opened.dial(`sip:+4930123456@${domain}`)
    await carrier.talks('invited', carrierTone)
    await opened.reaches('Established')
    await hears(opened.page, carrierTone)
    await carrier.hears(browserTone, 1_000)
    expect(carrier.sipp.messages).toMatch(/^INVITE sip:\+4930123456@127/m)
    expect(carrier.sipp.messages).toMatch(/^From: "Front desk" <sip:\+49301@/im)
    await opened.hangUp()
    await carrier.sipp.succeeded()
    await fixture.gateway.settled()
    await leave(opened)
  })

  it('a sip.js page, called or calling, exchanges digits by RFC 4733 with a carrier', async () => {
    const opened = await phone()
    const callee = await Carrier.listens({ scenario: 'callee', port: carrierPort() })
    await opened.dial(`sip:+4930123456@${domain}`)
    await callee.talks('invited', 0)
    await opened.reaches('Established')
    await callee.hears(browserTone)
    expect(await opened.press('15#')).toEqual([true, true])
    await callee.receivesDigits('15#')
    // Chromium plays a key while it is held; between keys without audio its clock stands still.
    // The page's first measurement may take longer than one key.
    await until(
      'the browser hears the tones of the key 8',
      () => {
        if (!callee.media.isPressing) callee.media.press('8', 3_000)
        return heardIn(opened.page)
      },
      (heard) => [852, 1336].some((tone) => Math.abs(heard - tone) < 15),
    )
    await opened.hangUp()
    await callee.sipp.succeeded()

    const caller = await Carrier.calls(fixture.gateway, {
      domain: 'desk.test',
      scenario: 'caller',
      holdMs: 'manual',
    })
    await opened.rings()
    await opened.accept()
    await opened.reaches('Established')
    await caller.talks('answered', carrierTone)
    await hears(opened.page, carrierTone)
    expect(await opened.press('#70')).toEqual([true, true])
    await caller.receivesDigits('#70')
    expect(caller.sipp.messages).not.toMatch(/^INFO /m)
    await caller.goesOn()
    await caller.sipp.succeeded()
    await fixture.gateway.settled()
    await leave(opened)
  })

  it('a handler collects the digits of a sip.js page', async () => {
    const opened = await phone()
    await opened.dial(`sip:menu@${domain}`)
    await opened.reaches('Established')
    await until(
      'the browser hears the prompt',
      () => heardIn(opened.page),
      (heard) => heard > 0,
    )
    expect(await opened.press('739')).toEqual([true, true])
    const request = await until('the handler has them', () => fixture.documents.asked('/pressed')[0])
    expect(JSON.parse(request?.body ?? '')).toEqual({ keys: '739' })
    await opened.reaches('Terminated')
    await fixture.gateway.settled()
    await leave(opened)
  })

  it('a REGISTER of a sip.js page with a wrong password is rejected with 401, and stores no contact', async () => {
    const server = `wss://127.0.0.1:${fixture.gateway.wssPort}`
    await expect(
      SipPhone.open(fixture.browser, { username: 'desk', password: 'a-guess', server, domain }),
    ).rejects.toThrow('the registrar answered 401')
    expect(await fixture.gateway.metric('sip_bindings')).toBe(0)
    expect(await fixture.gateway.refusal('unauthorized')).toMatchObject({ method: 'REGISTER', domain })
  })
}

import { expect, it, onTestFinished } from 'vitest'
import { type BrowserHouse, browserTone } from '../support/browser-house.ts'
import { Carrier } from '../support/carrier.ts'
import { hears } from '../support/page-audio.ts'
import { SipPhone } from '../support/sip-phone.ts'
import { until } from '../support/until.ts'
import { application, scripted } from './applications.ts'

const carrierTone = 440
const domain = 'phones.test'
const desk = { username: 'desk', password: 'long-enough-1' }

/** What the gateway has for the tests. */
export const deskEndpoint = { ...desk, displayName: 'Front desk', callerId: '+49301', mayDialOut: true }
/** The same. */
export const deskRegistrar = { domains: [domain] }
/** The same. */
export const deskDomain = application(
  'desk.test',
  scripted({ connect: { to: '/public/desk', timeout: 15, answer_on_bridge: true } }),
)

/** A SIP endpoint in a browser; the default carrier takes calls at this port. */
export const endpoints = (house: BrowserHouse, carrierPort: () => number): void => {
  /** The phone, registered; closed with the test. */
  const phone = async (): Promise<SipPhone> => {
    const server = `wss://127.0.0.1:${house.gateway.wssPort}`
    const opened = await SipPhone.open(house.browser, { ...desk, server, domain })
    onTestFinished(() => opened.close())
    expect(await house.gateway.metric('sip_bindings')).toBe(1)
    return opened
  }

  /** Gives up the registration, so that the next test begins without one. */
  const leave = async (opened: SipPhone): Promise<void> => {
    await opened.unregister()
    await until(
      'no contact is left',
      () => house.gateway.metric('sip_bindings'),
      (left) => left === 0,
    )
  }

  it('rings a browser with sip.js at its address, and is talked on both ways', async () => {
    const opened = await phone()
    const carrier = await Carrier.calls(house.gateway, {
      domain: 'desk.test',
      scenario: 'caller',
      holdMs: 'told',
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
    await house.gateway.settled()
    await leave(opened)
  })

  it('lets it dial a number, as what it is, and is told when it hangs up', async () => {
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
    await house.gateway.settled()
    await leave(opened)
  })

  it('does not let in who has the wrong password, and leaves no contact behind', async () => {
    const server = `wss://127.0.0.1:${house.gateway.wssPort}`
    await expect(
      SipPhone.open(house.browser, { username: 'desk', password: 'a-guess', server, domain }),
    ).rejects.toThrow('the registrar answered 401')
    expect(await house.gateway.metric('sip_bindings')).toBe(0)
    expect(await house.gateway.refusal('unauthorized')).toMatchObject({ method: 'REGISTER', domain })
  })
}

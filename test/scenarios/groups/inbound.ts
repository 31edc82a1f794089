import { describe, expect, it, onTestFinished } from 'vitest'
import { sine } from '../../../media/codecs/tone.ts'
import { application, script, scripted } from '../../support/applications.ts'
import { type BrowserFixture, browserTone } from '../../support/browser-fixture.ts'
import { Carrier } from '../../support/carrier.ts'
import type { DocumentServer } from '../../support/documents.ts'
import { clicksIn, faultsOf, fromFirstSound, levels, samplesOf } from '../../support/hearing.ts'
import { hears } from '../../support/page-audio.ts'
import { RtpPeer } from '../../support/rtp-peer.ts'
import { Sipp } from '../../support/sipp.ts'
import { until } from '../../support/until.ts'
import { wav } from '../../support/wav.ts'

const carrierTone = 440
const count = 20

const straight = (timeout: number, to = '/public/alice'): object =>
  scripted({ connect: { to, timeout, answer_on_bridge: true } })

/** The domain applications of the tests. */
export const inboundDomains = (documents: DocumentServer): object[] => {
  documents.put('/chime.wav', wav(sine(700, 600, 8000, 8000), 8000))
  const xml = `<Response><Say>Hello. One moment please.</Say><Play>${documents.urlOf('/chime.wav')}</Play>
    <Dial timeout="15"><Client>alice</Client></Dial></Response>`
  const url = documents.put('/welcome.xml', xml)
  documents.put(
    '/fetched.json',
    JSON.stringify(script({ connect: { to: '/public/alice', answer_on_bridge: true } })),
  )
  return [
    application(
      'script.test',
      scripted(
        { play: { url: 'say:Hello. One moment please.' } },
        { connect: { to: '/public/alice', timeout: 15 } },
      ),
    ),
    application(
      'many.test',
      scripted({ play: { url: 'say:You are one of many. This takes some seconds to say.' } }, 'hangup'),
    ),
    application('xml.test', { kind: 'xml', url }),
    application('fetched.test', { kind: 'script', url: documents.urlOf('/fetched.json') }),
    application('straight.test', straight(15)),
    application('impatient.test', straight(2)),
    application('nobody.test', straight(5, '/public/bob')),
  ]
}

/** Calls from carriers to a browser. */
export const inbound = (fixture: BrowserFixture): void => {
  describe.each([
    { domain: 'script.test', transport: 'udp', codec: 'PCMU', by: 'carrier' },
    { domain: 'script.test', transport: 'tcp', codec: 'PCMA', by: 'browser' },
    { domain: 'xml.test', transport: 'udp', codec: 'PCMU', by: 'carrier' },
    { domain: 'xml.test', transport: 'tcp', codec: 'PCMU', by: 'browser' },
  ] as const)('a call to $domain over $transport with $codec', ({ domain, transport, codec, by }) => {
    it(`is greeted, reaches the browser, has sound both ways, and is ended by the ${by}`, async () => {
      const scenario = by === 'carrier' ? 'caller' : 'caller-released'
      const carrier = await Carrier.calls(fixture.gateway, {
        domain,
        transport,
        codec,
        scenario,
        holdMs: 'manual',
      })
      await carrier.talks('answered', carrierTone)
      await carrier.hearsVoice()
      if (domain === 'xml.test') await carrier.hears(700)
      expect(await fixture.phone.rings()).toContain('Carrier')
      await fixture.phone.accept()
      await fixture.phone.talking()
      await hears(fixture.phone.page, carrierTone)
      await carrier.hears(browserTone, 1000)
      expect(clicksIn(samplesOf(carrier.media.packets.slice(-45)), browserTone)).toBe(0)
      // Greeting, ringing tone and talk are one continuous stream.
      expect(faultsOf(fromFirstSound(carrier.media.packets))).toEqual([])
      await (by === 'browser' ? fixture.phone.hangUp() : carrier.goesOn())
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })
  })

  describe('an unanswered call from a carrier', () => {
    it('stops ringing in the browser when the carrier cancels it', async () => {
      const carrier = await Carrier.calls(fixture.gateway, {
        domain: 'straight.test',
        scenario: 'caller-cancels',
        holdMs: 'manual',
      })
      await fixture.phone.rings()
      await carrier.goesOn()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('ends with 480 when the browser does not answer in time', async () => {
      const carrier = await Carrier.calls(fixture.gateway, {
        domain: 'impatient.test',
        scenario: 'caller-refused',
        values: { status: 480 },
      })
      await fixture.phone.rings()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })

    it('ends with 480 when the subscriber is not online', async () => {
      const carrier = await Carrier.calls(fixture.gateway, {
        domain: 'nobody.test',
        scenario: 'caller-refused',
        values: { status: 480 },
      })
      await carrier.done()
      await fixture.gateway.settled()
    })

    it('ends with 603 when the browser rejects it', async () => {
      const carrier = await Carrier.calls(fixture.gateway, {
        domain: 'straight.test',
        scenario: 'caller-refused',
        // The gateway's own SDK sends CALL_REJECTED. The published SDK sends USER_BUSY, which is 486.
        values: { status: 603 },
      })
      await fixture.phone.rings()
      await fixture.phone.reject()
      await carrier.done()
      await fixture.phone.idle()
      await fixture.gateway.settled()
    })
  })

  it('a call with a document from the customer’s server rings before it is answered; the request names the caller', async () => {
    const carrier = await Carrier.calls(fixture.gateway, {
      domain: 'fetched.test',
      scenario: 'caller',
      holdMs: 'manual',
    })
    await carrier.sipp.event('ringing')
    await fixture.phone.rings()
    const request = await until('the document was asked for', () =>
      fixture.documents.requests.find(({ path }) => path === '/fetched.json'),
    )
    expect(JSON.stringify(request)).toContain('+15551230001')
    expect(carrier.sipp.events).not.toContainEqual(expect.stringContaining('answered'))
    await fixture.phone.accept()
    await carrier.talks('answered', carrierTone)
    await hears(fixture.phone.page, carrierTone)
    await carrier.goesOn()
    await carrier.done()
    await fixture.phone.idle()
    await fixture.gateway.settled()
  })

  it(`${count} simultaneous calls each hear continuous speech`, async () => {
    const before = await fixture.gateway.metric('calls_ended_total', { cause: 'normal' })
    const peers = await Promise.all(Array.from({ length: count }, () => RtpPeer.open()))
    onTestFinished(() => {
      for (const peer of peers) peer.close()
    })
    const sipp = await Sipp.start({
      scenario: 'caller-released',
      to: `127.0.0.1:${fixture.gateway.sipPort}`,
      mediaPorts: peers.map(({ port }) => port),
      rate: count,
      values: { user: 'all', domain: 'many.test', payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' },
    })
    onTestFinished(() => sipp.stop())
    await until(
      'all are in a call at once',
      () => fixture.gateway.metric('calls'),
      (calls) => calls === count,
    )
    await sipp.succeeded()
    const faults = peers.flatMap(({ packets }, index) =>
      faultsOf(fromFirstSound(packets)).map((fault) => `call ${index}: ${fault}`),
    )
    expect(faults).toEqual([])
    for (const { packets } of peers)
      expect(levels(packets).filter((level) => level > 300).length).toBeGreaterThan(20)
    expect(await fixture.gateway.metric('calls_ended_total', { cause: 'normal' })).toBe(before + count)
    await fixture.gateway.settled()
  })
}

/**
 * A contact centre: calls go from telephones to browsers, on to other browsers, and back, and none is lost.
 */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { application, scripted } from '../../support/applications.ts'
import { Carrier } from '../../support/carrier.ts'
import { act, answers, dials, reaches } from '../../support/client-calls.ts'
import { ClientPage } from '../../support/client-page.ts'
import type { LogLine } from '../../support/gateway.ts'
import { heardIn, hears } from '../../support/page-audio.ts'
import { type Colour, sees, seesNothing } from '../../support/page-video.ts'
import { command } from '../../support/placed.ts'
import { alice, bob, type TwoBrowsers, tones } from '../../support/two-browsers.ts'

const connect = (to: string) => ({ connect: { to, answer_on_bridge: true } })

/** Configuration of the gateway for the tests. */
export const centre = application('centre.test', scripted(connect('/public/alice')))
/** Address that connects to Bob, and then to a telephone at this port. */
export const help = (phonePort: number): object => ({
  address: '/public/help',
  handler: scripted(connect('/public/bob?channel=video'), connect(`sip:phone@127.0.0.1:${phonePort}`)),
})

/** The tests. */
export const browsersAndPhone = (two: TwoBrowsers, phonePort: () => number) =>
  describe('calls in a contact centre', () => {
    let a: ClientPage
    let b: ClientPage

    beforeEach(async () => {
      const open = async (index: 0 | 1, email: string, camera: Colour) => {
        const browser = { page: () => two.browsers[index].page({ camera }) }
        const page = await ClientPage.open(browser, two.gateway, await two.gateway.token(email))
        onTestFinished(() => page.close())
        return page
      }
      ;[a, b] = await Promise.all([open(0, alice.email, 'red'), open(1, bob.email, 'blue')])
      for (const page of [a, b]) await answers(page, { video: false })
    })

    /** Waits until a telephone and a browser hear each other. */
    const talk = async (phone: Carrier, page: ClientPage, tone: { page: number; phone: number }) => {
      await Promise.all([hears(page.page, tone.phone), phone.hears(tone.page, 500)])
    }

    /** Waits until both browsers hear each other. */
    const together = async (): Promise<void> => {
      await Promise.all([hears(a.page, tones.bob), hears(b.page, tones.alice)])
    }

    /** Waits until both browsers see each other. */
    const face = async (): Promise<void> => {
      await Promise.all([sees(a.page, 'blue'), sees(b.page, 'red')])
    }

    const phone = (): Promise<Carrier> =>
      Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual', port: phonePort() })

    /** Id of the call that arrived last. */
    const latest = (): string => String(two.gateway.log.findLast(({ msg }) => msg === 'call arrived')?.call)

    /** Waits for the only record of a call, and returns it with its legs in order. */
    const recorded = async (call: string): Promise<readonly [LogLine, readonly string[]]> => {
      await two.gateway.settled()
      const [record, ...others] = two.gateway.log.filter(
        (line) => line.msg === 'call ended' && line.call === call,
      )
      expect(others).toEqual([])
      const legs = record?.legs as readonly {
        readonly kind: string
        readonly to: string
        readonly role: string
      }[]
      return [record!, legs.map(({ role, kind, to }) => `${role} ${kind} ${to}`)]
    }

    it('a customer talks to Alice, is held, and is transferred to Bob and then to a telephone', async () => {
      const customer = await Carrier.calls(two.gateway, {
        domain: 'centre.test',
        scenario: 'caller-released',
      })
      await customer.talks('answered', tones.customer)
      const withAlice = { page: tones.alice, phone: tones.customer }
      await talk(customer, a, withAlice)
      await act(a, 'hold')
      await customer.hearsNothing()
      expect(await heardIn(a.page)).toBe(0)
      await act(a, 'unhold')
      await talk(customer, a, withAlice)
      const call = latest()
      await command(two.gateway, 'calling.transfer', { dest: '/public/bob' }, call)
      await talk(customer, b, { page: tones.bob, phone: tones.customer })
      await reaches(a, 'ended')
      const second = await phone()
      await command(two.gateway, 'calling.transfer', { dest: second.uri }, call)
      await second.talks('invited', tones.phone)
      await customer.hears(tones.phone, 500)
      await second.hears(tones.customer, 500)
      await reaches(b, 'ended')
      await second.goesOn()
      for (const carrier of [second, customer]) await carrier.done()
      const [record, legs] = await recorded(call)
      expect(record).toMatchObject({ code: 'normal' })
      expect(legs).toEqual([
        'caller sip sip:+15550002222@centre.test',
        'callee browser /public/alice',
        'callee browser /public/bob',
        `callee sip ${second.uri}`,
      ])
    })

    it('a telephone transfers Alice to Bob, and both then add video', async () => {
      const values = {
        refer: ['Refer-To: <sip:bob@centre.test>', 'Referred-By: <sip:+15551230001@carrier.test>'],
      }
      const desk = await Carrier.calls(two.gateway, {
        domain: 'centre.test',
        scenario: 'call-refers',
        holdMs: 'manual',
        values,
      })
      await desk.talks('answered', tones.phone)
      await talk(desk, a, { page: tones.alice, phone: tones.phone })
      const call = latest()
      await desk.goesOn()
      await together()
      await desk.done()
      for (const page of [a, b]) await act(page, 'updateMedia', { video: { enable: true } })
      await Promise.all([face(), together()])
      await act(b, 'hangup')
      await reaches(a, 'ended')
      const [record] = await recorded(call)
      expect(record).toMatchObject({ code: 'normal' })
    })

    it('Alice calls Bob by video, goes on with a telephone when Bob hangs up, and is transferred to Bob again', async () => {
      const second = await phone()
      await answers(b, { video: true })
      await dials(a, '/public/help?channel=video', { video: true })
      const call = latest()
      await Promise.all([face(), together()])
      await act(b, 'hangup')
      await second.talks('invited', tones.phone)
      await talk(second, a, { page: tones.alice, phone: tones.phone })
      await seesNothing(a.page)
      await command(two.gateway, 'calling.transfer', { dest: '/public/bob?channel=video' }, call)
      await Promise.all([together(), face()])
      await act(a, 'hangup')
      await reaches(b, 'ended')
      const [record] = await recorded(call)
      expect(record).toMatchObject({ code: 'normal' })
    })
  })

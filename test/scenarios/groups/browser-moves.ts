/** A browser's call that moves between another browser and a telephone, and never drops. */
import { expect, it, onTestFinished } from 'vitest'
import { scripted } from '../../support/applications.ts'
import { Carrier } from '../../support/carrier.ts'
import { heardIn, hears } from '../../support/page-audio.ts'
import { type Colour, sees, seesNothing } from '../../support/page-video.ts'
import { SdkPage } from '../../support/sdk-page.ts'
import { alice, bob, type TwoBrowsers, tones } from '../../support/two-browsers.ts'
import { until } from '../../support/until.ts'

/** Configuration of the gateway for the tests, with a telephone at this port. */
export const tour = (deskPort: number): object => {
  const withBob = { connect: { to: '/public/bob?channel=video' } }
  const withDesk = { connect: { to: `sip:desk@127.0.0.1:${deskPort}` } }
  return { address: '/public/tour', handler: scripted('answer', withBob, withDesk, withBob) }
}

/** The test. */
export const browserMoves = (two: TwoBrowsers, desk: () => number) =>
  it('a browser talks to another browser by video, then to a telephone, then to the browser again, in one call', async () => {
    const { gateway, browsers } = two
    const open = async (index: 0 | 1, email: string, camera: Colour): Promise<SdkPage> => {
      const page = await SdkPage.open(browsers[index], gateway, await gateway.token(email), { camera })
      onTestFinished(() => page.close())
      return page
    }
    const carrier = await Carrier.listens({
      scenario: 'callee-hangs-up',
      holdMs: 'manual',
      port: desk(),
      timeoutMs: 90_000,
    })
    const [a, b] = await Promise.all([open(0, alice.email, 'red'), open(1, bob.email, 'blue')])
    await b.online()
    const answers = async (count: number): Promise<void> => {
      await until(
        'the invite',
        () => b.invites(),
        (now) => now === count,
      )
      await b.accept({ video: true })
    }
    const together = async (): Promise<void> => {
      const pictures = [sees(a.page, 'blue'), sees(b.page, 'red')]
      await Promise.all([...pictures, hears(a.page, tones.bob), hears(b.page, tones.alice)])
    }

    await a.dial('/public/tour?channel=video', { video: true })
    await answers(1)
    await together()
    await b.hangUp()

    await carrier.talks('invited', tones.phone)
    await hears(a.page, tones.phone)
    await carrier.hears(tones.alice)
    await seesNothing(a.page)
    const { members } = (await a.do('getMembers')) as { members: { member_id: string; name: string }[] }
    expect(members.map(({ name }) => name)).toEqual(['Alice', 'desk'])
    await a.do('audioMute', { memberId: members[1]!.member_id })
    await until(
      'the browser hears nothing',
      () => heardIn(a.page),
      (heard) => heard === 0,
    )
    await carrier.hears(tones.alice)
    await a.do('audioUnmute', { memberId: members[1]!.member_id })
    await hears(a.page, tones.phone)
    await carrier.goesOn()
    await carrier.done()

    await answers(2)
    await together()
    const names = a.wire.events('verto.display').map(({ display_name: name }) => name)
    expect(names).toEqual(['Bob', 'desk', 'Bob'])
    expect(a.wire.events('call.joined')).toHaveLength(1)
    expect(await a.events()).not.toContain('destroy')
    await b.hangUp()
    await until(
      'the page sees the end',
      () => a.events(),
      (events) => events.at(-1) === 'destroy',
    )
    await gateway.settled()
  })

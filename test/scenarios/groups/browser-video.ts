/** Video calls of two browsers with the published SDK, through all changes of media. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heardIn, hears } from '../../support/page-audio.ts'
import { type Colour, screenColour, sees, seesNothing } from '../../support/page-video.ts'
import { SdkPage } from '../../support/sdk-page.ts'
import { alice, bob, type TwoBrowsers, tones } from '../../support/two-browsers.ts'
import { until } from '../../support/until.ts'

const hearsNothing = ({ page }: SdkPage): Promise<unknown> =>
  until(
    'the browser hears nothing',
    () => heardIn(page),
    (heard) => heard === 0,
  )

interface Member {
  readonly member_id: string
  readonly type: string
  readonly parent_id: string | null
}

/** The tests; each continues the call of the test before. */
export const browserVideo = (two: TwoBrowsers) =>
  describe('a video call of two browsers', () => {
    let a: SdkPage
    let b: SdkPage

    beforeAll(async () => {
      const open = async (index: 0 | 1, email: string, camera: Colour) =>
        SdkPage.open(two.browsers[index], two.gateway, await two.gateway.token(email), { camera })
      ;[a, b] = await Promise.all([open(0, alice.email, 'red'), open(1, bob.email, 'blue')])
      await b.online()
      const started = a.dial('/public/bob?channel=video', { video: true })
      await until(
        'the invite',
        () => b.invites(),
        (count) => count === 1,
      )
      await b.accept({ video: true })
      await started
    })

    afterAll(async () => {
      for (const page of [a, b]) await page?.close()
    })

    /** Waits until sound and video are received both ways. */
    const together = async (): Promise<void> => {
      const pictures = [sees(a.page, 'blue'), sees(b.page, 'red')]
      await Promise.all([...pictures, hears(a.page, tones.bob), hears(b.page, tones.alice)])
    }

    const membersOf = async (page: SdkPage): Promise<readonly Member[]> =>
      ((await page.do('getMembers')) as { members: Member[] }).members

    it('has sound and video both ways, and lists both browsers as members', async () => {
      await together()
      const ofAlice = await membersOf(a)
      const ofBob = await membersOf(b)
      expect(ofAlice.map(({ member_id: id }) => id).sort()).toEqual(
        ofBob.map(({ member_id: id }) => id).sort(),
      )
      expect(ofAlice).toHaveLength(2)
      // The caller's page knows the callee as soon as it has joined the call.
      expect(a.wire.events('call.joined')).toMatchObject([{ room_session: { members: ofAlice } }])
      expect(a.wire.events('verto.display')).toMatchObject([
        { display_name: 'Bob', display_number: '/public/bob' },
      ])
      expect(a.wire.events('layout.changed').at(-1)?.layout).toMatchObject({
        layers: [{ member_id: ofAlice[1]!.member_id, visible: true, width: 100 }],
      })
    })

    it('continues after one browser mutes itself, mutes the other, stops listening and stops its video', async () => {
      const [self, other] = await membersOf(a)
      await a.do('audioMute')
      await hearsNothing(b)
      await hears(a.page, tones.bob)
      await a.do('audioUnmute')
      await together()
      await a.do('audioMute', { memberId: other!.member_id })
      await hearsNothing(a)
      await hears(b.page, tones.alice)
      await a.do('audioUnmute', { memberId: other!.member_id })
      await together()
      await a.do('deaf')
      await hearsNothing(a)
      await sees(a.page, 'blue')
      await a.do('undeaf')
      await together()
      await a.do('videoMute')
      await seesNothing(b.page)
      await a.do('videoUnmute')
      await together()
      expect(
        b.wire.events('member.updated').filter(({ member }) => member.member_id === self!.member_id),
      ).not.toEqual([])
    })

    it('can be held and resumed', async () => {
      await b.do('hold')
      await Promise.all([hearsNothing(a), hearsNothing(b), seesNothing(a.page), seesNothing(b.page)])
      await b.do('unhold')
      await together()
    })

    it('continues while one browser stops sending video', async () => {
      await a.do('setVideoDirection', 'recvonly')
      await seesNothing(b.page)
      await Promise.all([sees(a.page, 'blue'), hears(b.page, tones.alice)])
      await a.do('setVideoDirection', 'sendrecv')
      await together()
    })

    it('continues after an ICE restart', async () => {
      const asked = () => a.wire.answers('verto.modify').length
      const before = asked()
      await a.page.evaluate(() =>
        (globalThis as unknown as { call: { peer: { restartIce(): void } } }).call.peer.restartIce(),
      )
      await until('the new description', asked, (now) => now > before)
      await together()
    })

    it('shows a shared screen in place of the camera, and the camera again afterwards', async () => {
      await a.page.evaluate(async () => {
        const window = globalThis as unknown as {
          call: { startScreenShare(options: object): Promise<unknown> }
          share: unknown
        }
        window.share = await window.call.startScreenShare({ video: true })
      })
      await sees(b.page, screenColour)
      await Promise.all([sees(a.page, 'blue'), hears(b.page, tones.alice)])
      const members = await membersOf(b)
      const screen = members.find(({ type }) => type === 'screen')
      expect(members.some(({ member_id: id, type }) => type === 'member' && id === screen?.parent_id)).toBe(
        true,
      )
      // The page's own member can still be muted.
      await a.do('audioMute')
      await hearsNothing(b)
      await a.do('audioUnmute')
      await a.page.evaluate(() =>
        (globalThis as unknown as { share: { leave(): Promise<unknown> } }).share.leave(),
      )
      await together()
      expect(await membersOf(b)).toHaveLength(2)
    })

    it('continues after the page of one browser was reloaded', async () => {
      await a.reload()
      await a.begin('reattach', '/public/bob?channel=video', { video: true })
      expect(await a.started()).toEqual({ resolved: undefined })
      await together()
    })

    it('ends for both pages when one hangs up, and leaves nothing in the gateway', async () => {
      await b.hangUp()
      await over()
    })

    it('can begin without video, gain the video of each browser, and lose it again', async () => {
      const started = a.dial('/public/bob')
      await until(
        'the second invite',
        () => b.invites(),
        (count) => count === 2,
      )
      await b.accept()
      await started
      await Promise.all([hears(a.page, tones.bob), hears(b.page, tones.alice)])
      await a.do('setVideoDirection', 'sendrecv')
      await hears(b.page, tones.alice)
      await b.do('setVideoDirection', 'sendrecv')
      await together()
      await a.do('setVideoDirection', 'inactive')
      await Promise.all([seesNothing(a.page), seesNothing(b.page)])
      await Promise.all([hears(a.page, tones.bob), hears(b.page, tones.alice)])
      await a.hangUp()
      await over()
    })

    /** Waits until both pages see the end of the call, and the gateway holds nothing. */
    const over = async (): Promise<void> => {
      for (const page of [a, b])
        await until(
          'the page sees the end',
          () => page.events(),
          (events) => events.at(-1) === 'destroy',
        )
      await two.gateway.settled()
    }
  })

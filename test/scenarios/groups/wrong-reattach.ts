import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import type { Gateway } from '../../support/gateway.ts'
import { memberIdOf } from '../../support/room-picture.ts'
import type { SdkPage } from '../../support/sdk-page.ts'
import { until } from '../../support/until.ts'
import { roomToken, type VideoPage, withVideoPage } from '../../support/video-page.ts'

/** Parts of the scenario that the tests share. */
export interface ReattachFixture {
  readonly gateway: Gateway
  readonly browser: Browser
  /** Pages with the versions of the published SDK, the newest last. */
  readonly pages: readonly SdkPage[]
}

/** Storage that outlives a reload: ids of the session and of the call, and the proof of the session. */
type Kept = Readonly<Record<string, string>>

const address = '/public/hall?channel=video'
const wrongId = { code: '81', message: 'INVALID_CALL_REFERENCE' }
const wrongProof = { code: '27', message: 'DESTINATION_OUT_OF_ORDER' }

/** Returns the storage of a page. */
const keptBy = (page: Page): Promise<Kept> => page.evaluate('({ ...sessionStorage })')

/** Reloads a page, and then changes its storage. */
const reload = async (page: Page, kept: Kept): Promise<void> => {
  await page.reload()
  await page.evaluate(`Object.assign(sessionStorage, ${JSON.stringify(kept)})`)
}

/**
 * Waits until a page knows a member. Returns a check that no member has come or gone since. The check lets
 * the member mute itself, and waits for that event: all earlier ones have arrived by then.
 */
const watched = async ({ wire }: SdkPage, memberId: unknown) => {
  await until('the other page knows the member', () =>
    wire.events('member.joined').some(({ member }) => member.member_id === memberId),
  )
  const from = wire.received.length
  return async (page: Pick<SdkPage, 'do'>): Promise<void> => {
    await page.do('audioMute')
    await until('the other page sees the member muted', () =>
      wire
        .events('member.updated', from)
        .some(({ member }) => member.member_id === memberId && member.audio_muted),
    )
    const changes = ['member.joined', 'member.left'].flatMap((type) => wire.events(type, from))
    expect(changes).toEqual([])
  }
}

/** Tests of reloaded pages that ask for the wrong call, or cannot prove that their session is their own. */
export const wrongReattach = (fixture: () => ReattachFixture): void => {
  describe('a reloaded page is rejected under a wrong id and without proof, and then comes back', () => {
    it('with an access token', async () => {
      const { pages } = fixture()
      const [other] = pages
      const page = pages.at(-1)!
      await other!.dial(address, { video: true })
      await page.dial(address, { video: true })
      const memberId = memberIdOf(page)
      const isUnchanged = await watched(other!, memberId)
      const kept = await keptBy(page.page)
      const comesBack = async (changed: Kept) => {
        await reload(page.page, { ...kept, ...changed })
        await page.signIn()
        await page.begin('reattach', address, { video: true })
        return page.started()
      }
      expect(await comesBack({ 'ci-SAT': 'wrong-id' })).toMatchObject({ rejected: wrongId })
      expect(await comesBack({})).toEqual({ resolved: undefined })
      expect(await comesBack({ 'as-SAT': 'wrong' })).toMatchObject({ rejected: wrongProof })
      expect(await comesBack({})).toEqual({ resolved: undefined })
      expect(page.wire.events('call.joined').at(-1)).toMatchObject({
        call_id: kept['ci-SAT'],
        member_id: memberId,
      })
      await isUnchanged(page)
    })

    it('with a room token', async () => {
      const { gateway, browser, pages } = fixture()
      const [other] = pages
      await other!.dial(address, { video: true })
      const work = async (page: VideoPage) => {
        const token = await roomToken(gateway, { room_name: 'hall', user_name: 'Ann' })
        await page.join(token)
        const ids = [await page.property('callId'), await page.property('memberId')]
        const isUnchanged = await watched(other!, ids[1])
        const kept = await keptBy(page.page)
        const comesBack = async (changed: Kept) => {
          await reload(page.page, { ...kept, ...changed })
          return page.join(token)
        }
        expect(await comesBack({ 'ci-hall': randomUUID() })).toMatchObject({ rejected: wrongId })
        expect(await comesBack({})).toEqual({ resolved: undefined })
        expect(await comesBack({ 'as-hall': 'wrong' })).toMatchObject({ rejected: wrongProof })
        expect(await comesBack({})).toEqual({ resolved: undefined })
        expect([await page.property('callId'), await page.property('memberId')]).toEqual(ids)
        await isUnchanged(page)
      }
      await withVideoPage(browser, gateway, { options: { camera: 'lime' }, work })
    })
  })
}

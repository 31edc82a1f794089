import { expect, it } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import type { Gateway } from '../../support/gateway.ts'
import { type RestAnswer, rest } from '../../support/rest.ts'
import { until } from '../../support/until.ts'
import { type VideoPage, withVideoPage } from '../../support/video-page.ts'

/** Parts of the scenario that the tests share. */
export interface ConferenceTokensFixture {
  readonly gateway: Gateway
  readonly browser: Browser
}

/** Token of guests, in the form of the API. */
interface GuestToken {
  readonly id: string
  readonly token: string
  readonly scopes: readonly string[]
}

/** Sends a request below `/api/video`. */
type Api = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<RestAnswer>

/** Conference with its token of guests, and two pages. */
interface Study {
  readonly gateway: Gateway
  readonly api: Api
  readonly guest: GuestToken
  readonly ann: VideoPage
  readonly bea: VideoPage
}

/** Sends the request of docs/rooms.md from a page: to another origin, without credentials. */
const exchange = (
  { page }: VideoPage,
  { tlsPort }: Gateway,
  body: { readonly token: string; readonly user_name: string },
): Promise<RestAnswer> =>
  page.evaluate(
    async ({ url, body }) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    },
    { url: `https://gw.localhost:${tlsPort}/api/video/conference_tokens/exchange`, body },
  )

/** Exchanges a conference token for a room token. */
const exchanged = async (
  page: VideoPage,
  gateway: Gateway,
  body: { readonly token: string; readonly user_name: string },
): Promise<string> => {
  const answer = await exchange(page, gateway, body)
  expect(answer.status).toBe(201)
  return answer.body.token
}

/** Joins without video. */
const join = (page: VideoPage, token: string, session?: object) => page.join(token, { video: false }, session)

const admits = async (page: VideoPage, token: string, session?: object): Promise<void> => {
  expect(await join(page, token, session)).toEqual({ resolved: undefined })
}

const refuses = async (page: VideoPage, token: string, rejected: object): Promise<void> => {
  expect(await join(page, token)).toMatchObject({ rejected })
}

/** Returns a room token of the study that names the lounge, with the former signature. */
const forged = (token: string): string => {
  const [header, claims, signature] = token.split('.')
  const { r, ri, ...others } = JSON.parse(Buffer.from(claims!, 'base64url').toString())
  expect([r, typeof ri]).toEqual(['study', 'string'])
  const changed = Buffer.from(JSON.stringify({ ...others, r: 'lounge' })).toString('base64url')
  return [header, changed, signature].join('.')
}

interface Member {
  readonly name: string
  /** Null after the member has left. */
  readonly state: object | null
}

/** Returns the rooms with sessions in progress, and the names of their present members. */
const present = async (api: Api): Promise<unknown> => {
  const { data } = (await api('GET', '/room_sessions?status=in-progress')).body
  const rooms = data.map(async ({ id, name }: { readonly id: string; readonly name: string }) => {
    const members: readonly Member[] = (await api('GET', `/room_sessions/${id}/members`)).body.data
    return { name, members: members.flatMap((member) => (member.state ? [member.name] : [])) }
  })
  return Promise.all(rooms)
}

const idsOf = (page: VideoPage) => Promise.all([page.property('callId'), page.property('memberId')])

/** Joins with both pages. Returns the room token of the first. */
const meet = async ({ gateway, api, guest, ann, bea }: Study): Promise<string> => {
  const [ofAnn, ofBea] = await Promise.all(
    (
      [
        [ann, 'Ann'],
        [bea, 'Bea'],
      ] as const
    ).map(([page, user_name]) => exchanged(page, gateway, { token: guest.token, user_name })),
  )
  await refuses(ann, forged(ofAnn!), { message: expect.stringContaining('not valid') })
  await admits(ann, ofAnn!, { destinationNumber: 'lounge' })
  expect(JSON.stringify(ann.wire.asked('video.message'))).toContain('"destination_number":"lounge"')
  expect(await ann.page.evaluate('typeof call.updateToken')).toBe('undefined')
  expect(await ann.property('permissions')).toEqual(guest.scopes)
  await admits(bea, ofBea!)
  expect(await present(api)).toEqual([{ name: 'study', members: ['Ann', 'Bea'] }])
  return ofAnn!
}

/** Resets the token. Returns the room token with which the second page stays. */
const reset = async ({ gateway, api, guest, ann, bea }: Study, former: string): Promise<string> => {
  const { token } = (await api('POST', `/conference_tokens/${guest.id}/reset`)).body
  const resetAt = performance.now()
  expect(await exchange(ann, gateway, { token: guest.token, user_name: 'Ann' })).toMatchObject({
    status: 403,
    body: { errors: [{ code: 'bad_conference_token' }] },
  })
  const ids = await idsOf(bea)
  const next = await exchanged(bea, gateway, { token, user_name: 'Bea' })
  await bea.reload()
  await admits(bea, next)
  const tookMs = Math.round(performance.now() - resetAt)
  expect(await idsOf(bea), `the page had 10 s, and joined after ${tookMs} ms`).toEqual(ids)
  await until(
    'the page with the former token leaves',
    () => bea.wire.events('video.member.left'),
    (events) => events.some(({ member }) => member.name === 'Ann'),
    15_000,
  )
  await expect.poll(() => ann.events()).toContain('destroy')
  await ann.reload()
  await refuses(ann, former, { message: expect.stringContaining('revoked') })
  expect(await present(api)).toEqual([{ name: 'study', members: ['Bea'] }])
  return next
}

/** Test of pages that exchange a conference token for a room token. */
export const conferenceTokens = (fixture: () => ConferenceTokensFixture): void => {
  it('pages with a conference token join its room alone, and a reset ends what was made from it', async () => {
    const { gateway, browser } = fixture()
    const api: Api = (method, path, body) => rest(gateway, method, `/api/video${path}`, body)
    const make = () => api('POST', '/conferences', { display_name: 'Study' })
    expect(await make()).toMatchObject({ status: 201, body: { name: 'study' } })
    const guest = (await api('GET', '/conferences/study/conference_tokens')).body.data[1]
    const work = async (ann: VideoPage, bea: VideoPage) => {
      const study = { gateway, api, guest, ann, bea }
      const next = await reset(study, await meet(study))
      await bea.leave()
      expect((await api('DELETE', '/conferences/study')).status).toBe(204)
      expect((await make()).status).toBe(201)
      await refuses(bea, next, { code: '404' })
      await api('DELETE', '/conferences/study')
    }
    await withVideoPage(browser, gateway, {
      options: {},
      work: (ann) => withVideoPage(browser, gateway, { options: {}, work: (bea) => work(ann, bea) }),
    })
  })
}

import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { migrate } from '../directory/migrations/run.ts'
import { openSqliteStore, type Store } from '../directory/store/sqlite.ts'
import { RefreshTokenRows } from '../directory/tables/refresh-tokens.ts'
import { RevokedTokenRows } from '../directory/tables/revoked-tokens.ts'
import { Revocations } from './revocations.ts'
import { RoomTokens } from './room-tokens.ts'
import { SubscriberTokens } from './subscriber-tokens.ts'
import { TokenPairs } from './token-pairs.ts'

const secret = new Uint8Array(32).fill(5)
const guest = { kind: 'guest', subscriberId: 'g-1', projectId: 'p1', addressIds: ['a1', 'a2'] } as const
const ours = { projectId: 'p1' }
const conferenceTokens = { revoke: async () => {} }
let clock: FakeClock
let store: Store
let rows: RefreshTokenRows
let revocations: Revocations
let tokens: SubscriberTokens
let roomTokens: RoomTokens
let pairs: TokenPairs
/** When the tokens of subscribers were taken back. */
let after: number

beforeEach(async () => {
  clock = new FakeClock(1_700_000_000_000)
  store = openSqliteStore(':memory:')
  await migrate(store, clock)
  after = 0
  rows = new RefreshTokenRows(store)
  revocations = await open()
  tokens = new SubscriberTokens(secret, clock, 'gw.example.test', revocations)
  roomTokens = new RoomTokens({ secret }, { clock, revocations })
  pairs = new TokenPairs({ tokens, roomTokens, conferenceTokens, rows, revocations, clock })
})
afterEach(() => store.destroy())

const open = () =>
  Revocations.open({ rows: new RevokedTokenRows(store), tokensAfter: () => after, now: () => clock.now() })

const renew = async (text: string) => {
  const pair = await pairs.refresh(text, ours)
  if (!pair) throw new Error('the refresh token is not good')
  return pair
}

const isGood = (token: string): Promise<boolean> =>
  tokens.verify(token).then(
    () => true,
    () => false,
  )

describe('a pair', () => {
  it('is good for two hours, and its refresh token for five minutes more', async () => {
    const { token, refreshToken } = await pairs.issue(guest)
    const { iat, exp } = decodeJwt(token)
    expect(exp! - iat!).toBe(7200)
    clock.advance(7_500_000 - 1)
    expect(await isGood(token)).toBe(false)
    const next = await renew(refreshToken)
    clock.advance(7_500_000)
    expect(await pairs.refresh(next.refreshToken, ours)).toBeUndefined()
  })

  it('is renewed with what it said: kind, addresses, scopes and host', async () => {
    const terms = { ...guest, scopes: ['sat:refresh'], connectTo: 'other.example.test' }
    const { refreshToken } = await pairs.issue(terms, 60)
    const { token } = await renew(refreshToken)
    expect(await tokens.verify(token)).toMatchObject({
      kind: 'guest',
      subscriberId: 'g-1',
      projectId: 'p1',
      addressIds: ['a1', 'a2'],
      scopes: ['sat:refresh'],
    })
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).ch).toBe(
      'other.example.test',
    )
  })

  it('leaves nothing of its secrets in the store', async () => {
    const { token, refreshToken } = await pairs.issue(guest)
    const kept = JSON.stringify(await store.selectFrom('refresh_token').selectAll().execute())
    expect(kept).not.toContain(refreshToken)
    expect(kept).not.toContain(token)
  })

  it('cannot be renewed by another project, or another subscriber', async () => {
    const { refreshToken } = await pairs.issue(guest)
    expect(await pairs.refresh(refreshToken, { projectId: 'p2' })).toBeUndefined()
    expect(await pairs.refresh(refreshToken, { projectId: 'p1', subscriberId: 'g-2' })).toBeUndefined()
    expect(await pairs.refresh(refreshToken, { projectId: 'p1', subscriberId: 'g-1' })).toBeDefined()
  })

  it('takes no access token for a refresh token, nor any other text', async () => {
    const { token } = await pairs.issue(guest)
    for (const text of [token, '', 'x', "' or 1=1 --"])
      expect(await pairs.refresh(text, ours)).toBeUndefined()
  })
})

describe('a refresh token that comes a second time', () => {
  it('ends its family, with the access tokens that came out of it', async () => {
    const first = await pairs.issue(guest)
    const second = await renew(first.refreshToken)
    const stranger = await pairs.issue(guest)
    expect(await pairs.refresh(first.refreshToken, ours)).toBeUndefined()
    expect(await pairs.refresh(second.refreshToken, ours)).toBeUndefined()
    expect(await Promise.all([first, second, stranger].map(({ token }) => isGood(token)))).toEqual([
      false,
      false,
      true,
    ])
    expect(await pairs.refresh(stranger.refreshToken, ours)).toBeDefined()
  })

  it('is found out when both come at once: at most one gets a pair, and none keeps it', async () => {
    const { refreshToken } = await pairs.issue(guest)
    const got = await Promise.all(Array.from({ length: 8 }, () => pairs.refresh(refreshToken, ours)))
    const made = got.filter((pair) => pair !== undefined)
    expect(made.length).toBeLessThanOrEqual(1)
    for (const { token, refreshToken: next } of made) {
      expect(await isGood(token)).toBe(false)
      expect(await pairs.refresh(next, ours)).toBeUndefined()
    }
    expect(await store.selectFrom('refresh_token').selectAll().execute()).toEqual([])
  })

  it('ends what a refresh that was under way has written down meanwhile', async () => {
    const first = await pairs.issue(guest)
    const second = await renew(first.refreshToken)
    // PostgreSQL shows the statement that removes only what was there when it began.
    let hidden = (await store.selectFrom('refresh_token').selectAll().execute()).find(
      ({ used_at }) => used_at === null,
    )
    const racing = new TokenPairs({
      tokens,
      roomTokens,
      conferenceTokens,
      revocations,
      clock,
      rows: {
        add: (row) => rows.add(row),
        find: (hash) => rows.find(hash),
        replace: (...given) => rows.replace(...given),
        removeEnded: (now) => rows.removeEnded(now),
        removeFamily: async (family) => {
          const removed = await rows.removeFamily(family)
          if (!hidden) return removed
          const written = hidden
          hidden = undefined
          await rows.add(written)
          return removed.filter(({ hash }) => hash !== written.hash)
        },
      },
    })
    expect(await racing.refresh(first.refreshToken, ours)).toBeUndefined()
    expect(await isGood(second.token)).toBe(false)
    expect(await store.selectFrom('refresh_token').selectAll().execute()).toEqual([])
  })
})

describe('taking back', () => {
  it('of an access token ends it, and its refresh token with it', async () => {
    const { token, refreshToken } = await pairs.issue(guest)
    await pairs.revoke(token, 'p1')
    await expect(tokens.verify(token)).rejects.toMatchObject({ message: expect.stringContaining('revoked') })
    clock.advance(7_300_000)
    expect(await pairs.refresh(refreshToken, ours)).toBeUndefined()
  })

  it('of a refresh token ends the family', async () => {
    const first = await pairs.issue(guest)
    const second = await renew(first.refreshToken)
    await pairs.revoke(second.refreshToken, 'p1')
    expect(await isGood(second.token)).toBe(false)
    expect(await pairs.refresh(second.refreshToken, ours)).toBeUndefined()
  })

  it('leaves alone what is another project’s, or is no token', async () => {
    const { token, refreshToken } = await pairs.issue(guest)
    for (const text of [token, refreshToken, 'x']) await pairs.revoke(text, 'p2')
    expect(await isGood(token)).toBe(true)
    expect(await pairs.refresh(refreshToken, ours)).toBeDefined()
  })

  it('of all of a subscriber reaches what was made before, to the millisecond, and nothing after', async () => {
    const person = { kind: 'subscriber', subscriberId: 's-1' } as const
    const before = await tokens.issue({ id: 's-1', projectId: 'p1' }, 60)
    clock.advance(1)
    after = clock.now()
    const later = await tokens.issue({ id: 's-1', projectId: 'p1' }, 60)
    expect([await isGood(before.token), await isGood(later.token)]).toEqual([false, true])
    expect(revocations.has({ ...person, id: 'x', issuedAt: 0 })).toBe(true)
  })

  it('of a subscriber who is gone reaches every token, and of guests none', async () => {
    const { token } = await tokens.issue({ id: 's-1', projectId: 'p1' }, 60)
    const { token: guests } = await pairs.issue(guest)
    after = Number.POSITIVE_INFINITY
    expect([await isGood(token), await isGood(guests)]).toEqual([false, true])
  })

  it('outlasts a restart, notifies listeners, and is removed in the end', async () => {
    let received = 0
    const end = revocations.watch('g-1', () => received++)
    const { token } = await pairs.issue(guest)
    await pairs.revoke(token, 'p1')
    await pairs.revoke(token, 'p1')
    end()
    expect(received).toBe(1)
    expect((await open()).size).toBe(1)
    clock.advance(24 * 3_600_000)
    const another = await pairs.issue(guest)
    await pairs.revoke(another.token, 'p1')
    expect(revocations.size).toBe(1)
    expect(await store.selectFrom('revoked_token').selectAll().execute()).toHaveLength(1)
    expect(await store.selectFrom('refresh_token').selectAll().execute()).toHaveLength(1)
  })

  it('by another gateway is known after its notification, or after all are read again', async () => {
    const other = await open()
    const { token } = await pairs.issue(guest)
    await pairs.revoke(token, 'p1')
    const { jti } = decodeJwt(token)
    const asked = {
      kind: 'guest',
      id: jti!,
      subscriberId: 'g',
      projectId: 'p1',
      issuedAt: 0,
      expiresAt: 0,
      scopes: [],
    } as const
    expect(other.has(asked)).toBe(false)
    await other.learn(jti!)
    expect(other.has(asked)).toBe(true)
    const third = await open()
    await pairs.revoke((await pairs.issue(guest)).token, 'p1')
    await third.reload()
    expect(third.size).toBe(2)
    await new RevokedTokenRows(store).removeEnded(Number.MAX_SAFE_INTEGER)
    await other.learn(jti!)
    expect(other.has(asked)).toBe(false)
  })
})

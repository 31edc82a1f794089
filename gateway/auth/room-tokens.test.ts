import fc from 'fast-check'
import { decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { Revocations } from './revocations.ts'
import {
  mediaGrants,
  readRoomClaims,
  roomClaimsOf,
  roomHolderId,
  roomRoles,
  roomTokenKey,
} from './room-token-claims.ts'
import { isRoomToken, RoomTokens } from './room-tokens.ts'
import { SubscriberTokens } from './subscriber-tokens.ts'
import { sampleGrant } from './testing/sample-grant.ts'
import { tokenKey } from './token-claims.ts'
import { TokenPairs } from './token-pairs.ts'

const secret = new Uint8Array(32).fill(5)
let clock: FakeClock
let revocations: Revocations
let roomTokens: RoomTokens
let tokens: SubscriberTokens

beforeEach(async () => {
  clock = new FakeClock(1_700_000_000_000)
  const rows = {
    all: async () => [],
    find: async () => undefined,
    add: async () => {},
    removeEnded: async () => {},
  }
  revocations = await Revocations.open({ rows, tokensAfter: () => 0, now: () => clock.now() })
  roomTokens = new RoomTokens({ secret, publicHost: 'gw.example.test' }, { clock, revocations })
  tokens = new SubscriberTokens(secret, clock, 'gw.example.test', revocations)
})

const claims = (): JWTPayload =>
  roomClaimsOf({
    kind: 'room',
    subscriberId: '',
    projectId: 'p1',
    id: 'a-b',
    issuedAt: 1,
    expiresAt: 2_000_000_000,
    grant: sampleGrant(),
  })

const signed = (payload: JWTPayload, typ = 'VRT', key = roomTokenKey(secret)) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'HS256', typ }).sign(key)

describe('a room token', () => {
  it('names its kind and the host, and gives back the rights of its holder', async () => {
    const grant = sampleGrant({
      roomId: 'room-1',
      joinFrom: 1,
      joinUntil: 2,
      removeAt: 3,
      removeAfterMs: 4,
      roomDisplayName: 'The lounge',
      roomMeta: { a: 1 },
      meta: { b: [2] },
    })
    const { token, id, expiresAt } = await roomTokens.issue('p1', grant, 60)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'VRT', ch: 'gw.example.test' })
    expect(isRoomToken(token)).toBe(true)
    expect(await roomTokens.verify(token)).toEqual({
      kind: 'room',
      projectId: 'p1',
      subscriberId: roomHolderId('p1', grant),
      id,
      issuedAt: 1_700_000_000,
      expiresAt,
      grant,
    })
  })

  it('expires, and can be revoked', async () => {
    const { token } = await roomTokens.issue('p1', sampleGrant(), 60)
    const pairs = new TokenPairs({
      tokens,
      roomTokens,
      conferenceTokens: { revoke: async () => {} },
      revocations,
      clock,
      rows: { find: async () => undefined } as never,
    })
    await pairs.revoke(token, 'p2')
    await expect(roomTokens.verify(token)).resolves.toBeDefined()
    await pairs.revoke(token, 'p1')
    await expect(roomTokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' })
    const other = await roomTokens.issue('p1', sampleGrant(), 60)
    clock.advance(60_001)
    await expect(roomTokens.verify(other.token)).rejects.toThrow('expired')
  })

  it('does not pass as a token of a subscriber, nor the reverse', async () => {
    const { token } = await roomTokens.issue('p1', sampleGrant(), 60)
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' })
    const subscriber = (await tokens.issue({ id: 's', projectId: 'p1' }, 60)).token
    expect(isRoomToken(subscriber)).toBe(false)
    await expect(roomTokens.verify(subscriber)).rejects.toMatchObject({ code: 'unauthorized' })
    for (const text of [
      await signed(claims(), 'SAT'),
      await signed(claims(), 'VRT', tokenKey(secret)),
      await signed(claims(), 'VRT', roomTokenKey(new Uint8Array(32).fill(6))),
    ])
      await expect(roomTokens.verify(text)).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(roomTokens.verify(await signed(claims()))).resolves.toMatchObject({ id: 'a-b' })
  })

  it.each<[string, JWTPayload]>([
    ['another kind', { kind: 'subscriber' }],
    ['the room of another holder', { r: 'board' }],
    ['the name of another holder', { u: 'Eve' }],
    ['another project', { project: 'p2' }],
    ['an id with an underscore', { jti: 'a_b' }],
    ['permissions that are a text', { s: 'room.lock' }],
    ['an unknown role', { ja: 'owner' }],
    ['unknown media', { ma: 'smell' }],
    ['a time that is a text', { jf: '1' }],
    ['a flag that is missing', { er: undefined }],
    ['an id of the room that is no text', { ri: 7 }],
    ['data that are a list', { m: [] }],
    ['data of the room that are a text', { rm: 'x' }],
  ])('is refused with %s, though the signature is right', async (_name, changes) => {
    await expect(roomTokens.verify(await signed({ ...claims(), ...changes }))).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })

  it('says what it was made of', () => {
    const time = fc.option(fc.integer({ min: 0 }), { nil: undefined })
    const grants = fc.record(
      {
        room: fc.string({ minLength: 1 }),
        userName: fc.string(),
        permissions: fc.array(fc.string({ minLength: 1 })),
        joinFrom: time,
        removeAfterMs: time,
        isAudioMuted: fc.boolean(),
        endsSessionOnLeave: fc.boolean(),
        role: fc.constantFrom(...roomRoles),
        media: fc.constantFrom(...mediaGrants),
        meta: fc.dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
          fc.integer(),
        ),
      },
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(grants, (changes) => {
        const grant = sampleGrant(JSON.parse(JSON.stringify(changes)))
        const token = {
          kind: 'room',
          subscriberId: roomHolderId('p1', grant),
          projectId: 'p1',
          id: 'a-b',
          issuedAt: 1,
          expiresAt: 2,
          grant,
        } as const
        expect(readRoomClaims(JSON.parse(JSON.stringify(roomClaimsOf(token))))).toEqual(token)
      }),
    )
  })
})

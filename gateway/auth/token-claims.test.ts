import fc from 'fast-check'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { SubscriberTokens } from './subscriber-tokens.ts'
import { claimsOf, readClaims, type SubscriberToken, tokenKey } from './token-claims.ts'

const secret = new Uint8Array(32).fill(5)
const clock = new FakeClock(1_700_000_000_000)
const tokens = new SubscriberTokens(secret, clock)

const text = fc.string({ minLength: 1, maxLength: 20 })
const word = fc.stringMatching(/^[a-z:]{1,10}$/)
const common = {
  subscriberId: text,
  projectId: text,
  id: fc.uuid(),
  issuedAt: fc.integer({ min: 0, max: 2_000_000_000 }),
  expiresAt: fc.integer({ min: 0, max: 2_000_000_000 }),
  scopes: fc.array(word, { maxLength: 3 }),
}
const anyToken: fc.Arbitrary<SubscriberToken> = fc.oneof(
  fc.record({ ...common, kind: fc.constant('subscriber' as const) }),
  fc.record({ ...common, kind: fc.constant('subscriber' as const), clientId: text }),
  fc.record({
    ...common,
    kind: fc.constant('guest' as const),
    addressIds: fc.array(text, { minLength: 1, maxLength: 10 }),
  }),
  fc.record({ ...common, kind: fc.constant('invite' as const), addressIds: fc.tuple(text) }),
)

/** Claims of a good token of each kind. */
const good = {
  subscriber: {
    sub: 's',
    jti: 'a-b',
    iat: 1,
    exp: 2_000_000_000,
    project: 'p',
    kind: 'subscriber',
    scope: '',
  },
  guest: {
    sub: 'g',
    jti: 'a-b',
    iat: 1,
    exp: 2_000_000_000,
    project: 'p',
    kind: 'guest',
    scope: '',
    addresses: ['x'],
  },
}

describe('claims', () => {
  it('say what they were made of, for every kind', () => {
    fc.assert(
      fc.property(anyToken, (token) => {
        expect(readClaims(JSON.parse(JSON.stringify(claimsOf(token))))).toEqual(token)
      }),
    )
  })

  it('are read, or not at all, whatever they are', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(good.guest)), fc.jsonValue()), (changes) => {
        const read = readClaims({ ...good.guest, ...changes } as never)
        if (read?.kind === 'guest' || read?.kind === 'invite')
          expect(read.addressIds?.length).toBeGreaterThan(0)
        if (read?.kind === 'subscriber') expect(read.addressIds).toBeUndefined()
      }),
    )
  })

  it.each<[string, object]>([
    ['no kind', { kind: undefined }],
    ['an unknown kind', { kind: 'admin' }],
    ['a kind of the prototype', { kind: 'constructor' }],
    ['a guest without addresses', { ...good.guest, addresses: undefined }],
    ['a guest with none', { ...good.guest, addresses: [] }],
    ['a guest with too many', { ...good.guest, addresses: Array(11).fill('x') }],
    ['a guest whose addresses are a text', { ...good.guest, addresses: 'x' }],
    ['an invitation to two', { ...good.guest, kind: 'invite', addresses: ['x', 'y'] }],
    ['a subscriber with addresses', { addresses: ['x'] }],
    ['no project', { project: undefined }],
    ['an empty project', { project: '' }],
    ['no scope', { scope: undefined }],
    ['an id with an underscore', { jti: 'a_b' }],
    ['a time that is a text', { iat: '1' }],
    ['a client that is a number', { client: 7 }],
  ])('are refused with %s, though the signature is right', async (_name, changes) => {
    const claims = { ...good.subscriber, ...changes }
    const signed = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'SAT' })
      .sign(tokenKey(secret))
    await expect(tokens.verify(signed)).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

describe('tokens', () => {
  const sign = (header: { alg: string; typ?: string }, key: Uint8Array) =>
    new SignJWT(good.subscriber).setProtectedHeader(header).sign(key)

  it('are taken for what they are: the same claims under our header and key', async () => {
    const token = await sign({ alg: 'HS256', typ: 'SAT' }, tokenKey(secret))
    expect(await tokens.verify(token)).toMatchObject({ kind: 'subscriber', subscriberId: 's' })
  })

  it.each<[string, { alg: string; typ?: string }, Uint8Array]>([
    ['another type', { alg: 'HS256', typ: 'JWT' }, tokenKey(secret)],
    ['an id token’s type', { alg: 'HS256', typ: 'id_token+jwt' }, tokenKey(secret)],
    ['no type', { alg: 'HS256' }, tokenKey(secret)],
    ['another algorithm', { alg: 'HS512', typ: 'SAT' }, new Uint8Array(64).fill(1)],
    ['the gateway’s secret itself as key', { alg: 'HS256', typ: 'SAT' }, secret],
    ['the key of another gateway', { alg: 'HS256', typ: 'SAT' }, tokenKey(new Uint8Array(32).fill(6))],
  ])('are refused with %s', async (_name, header, key) => {
    await expect(tokens.verify(await sign(header, key))).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('are refused without a signature, and with that of other claims', async () => {
    const [header, body, signature] = (await sign({ alg: 'HS256', typ: 'SAT' }, tokenKey(secret))).split('.')
    const none = Buffer.from('{"alg":"none","typ":"SAT"}').toString('base64url')
    const other = Buffer.from(JSON.stringify({ ...good.subscriber, sub: 'another' })).toString('base64url')
    for (const bad of [
      `${none}.${body}.`,
      `${none}.${body}.${signature}`,
      `${header}.${other}.${signature}`,
      `${header}.${body}.`,
    ])
      await expect(tokens.verify(bad)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('never go through with any bit changed', async () => {
    const token = await sign({ alg: 'HS256', typ: 'SAT' }, tokenKey(secret))
    const bytes = token.split('.').map((part) => Buffer.from(part, 'base64url'))
    await fc.assert(
      fc.asyncProperty(fc.nat(2), fc.nat(), async (part, at) => {
        const changed = bytes.map((each) => Buffer.from(each))
        const bit = at % (changed[part]!.length * 8)
        changed[part]![bit >> 3]! ^= 1 << (bit & 7)
        const text = changed.map((each) => each.toString('base64url')).join('.')
        await expect(tokens.verify(text)).rejects.toMatchObject({ code: 'unauthorized' })
      }),
    )
  })
})

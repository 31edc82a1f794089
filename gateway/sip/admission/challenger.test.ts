import { describe, expect, it } from 'vitest'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { readAnswer } from '../digest/authorization-header.ts'
import { parseChallenges } from '../digest/challenge-header.ts'
import { authorization as makeAnswer } from '../digest/digest-session.ts'
import { Nonces } from '../digest/nonces.ts'
import { Challenger, type DigestAlgorithm, type DigestCheck, type DigestRequest } from './challenger.ts'

const realm = 'demo.example'
const secret = digestSecret('ann', realm, 'secret')
const base: DigestRequest = {
  method: 'INVITE',
  uri: 'sip:1@demo.example',
  body: 'v=0\r\n',
  source: '192.0.2.1',
  authorization: undefined,
}

const setUp = (algorithms: readonly DigestAlgorithm[] = ['MD5', 'SHA-256']) => {
  let now = 1_700_000_000_000
  const offenses: string[] = []
  const challenger = new Challenger(
    () => now,
    algorithms,
    (address) => offenses.push(address),
  )
  const check = (request: Partial<DigestRequest> = {}) =>
    challenger.check({ ...base, ...request }, realm, (name) => (name === 'ann' ? secret : undefined))
  const challenges = (found: DigestCheck) => {
    if (found.kind !== 'challenge') throw new Error('not challenged')
    return parseChallenges(found.headers['WWW-Authenticate'] ?? '')
  }
  /** Answer to a challenge with a password. */
  const answer = (
    changes: {
      of?: DigestCheck
      as?: string
      password?: string
      algorithm?: string
      qop?: ('auth' | 'auth-int')[]
      count?: number
      request?: Partial<DigestRequest>
    } = {},
  ) => {
    const { of = check(), as = 'ann', password = 'secret', algorithm = 'SHA-256', count = 1 } = changes
    const challenge = challenges(of).find((each) => each.algorithm === algorithm)!
    return makeAnswer(
      { ...challenge, ...(changes.qop && { qop: changes.qop }) },
      { username: as, password },
      { ...base, ...changes.request },
      { count, nonce: 'client' },
    )
  }
  return { check, challenges, answer, challenger, offenses, advance: (ms: number) => (now += ms) }
}
const headerOf = (found: DigestCheck) =>
  (found.kind === 'challenge' ? found.headers['WWW-Authenticate'] : undefined) ?? ''
const why = (found: DigestCheck) => (found.kind === 'challenge' ? found.why : found.kind)

describe('a challenge', () => {
  it('offers MD5 and SHA-256, in the realm of the domain', () => {
    const { check, challenges } = setUp()
    expect(challenges(check())).toMatchObject([
      { realm, algorithm: 'MD5', qop: ['auth'], isStale: false },
      { realm, algorithm: 'SHA-256', qop: ['auth'], isStale: false },
    ])
  })

  it('uses MD5 only if a response must have one challenge', () => {
    const { check, challenges } = setUp(['MD5'])
    expect(challenges(check()).map(({ algorithm }) => algorithm)).toEqual(['MD5'])
  })
})

describe('an answer', () => {
  it.each([
    ['MD5', ['auth']],
    ['MD5', ['auth-int']],
    ['MD5', []],
    ['SHA-256', ['auth']],
    ['SHA-256', ['auth-int']],
  ] as const)('by %s with %s is accepted', (algorithm, qop) => {
    const { check, answer } = setUp()
    expect(check({ authorization: answer({ algorithm, qop: [...qop] }) })).toEqual({
      kind: 'accepted',
      username: 'ann',
    })
  })

  it('can have its counter in either case, and raise it by any step', () => {
    const { check, answer } = setUp()
    const of = check()
    expect(check({ authorization: answer({ of, count: 3 }) }).kind).toBe('accepted')
    const upper = answer({ of, count: 10 }).replace('nc=0000000a', 'nc=0000000A')
    // The signature covers the counter in its written form.
    expect(why(check({ authorization: upper }))).toBe('wrong')
    expect(check({ authorization: answer({ of, count: 10 }) }).kind).toBe('accepted')
  })

  it('can have a signed URI other than the request-URI, as some senders do', () => {
    const { check, answer } = setUp()
    expect(check({ authorization: answer({ request: { uri: 'sip:192.0.2.5:5060' } }) }).kind).toBe('accepted')
  })

  it.each([
    ['another password', { password: 'guess' }],
    ['an unknown user', { as: 'eve' }],
    ['another method', { request: { method: 'REGISTER' } }],
    ['another body, where that is signed', { qop: ['auth-int' as const], request: { body: 'v=1' } }],
  ])('is rejected with %s, and the new challenge is the same', (_what, changes) => {
    const { check, challenges, answer, offenses } = setUp()
    const found = check({ authorization: answer(changes) })
    expect(found).toMatchObject({ kind: 'challenge', why: 'wrong' })
    expect(offenses).toEqual(['192.0.2.1'])
    expect(challenges(found).map(({ isStale }) => isStale)).toEqual([false, false])
  })

  it.each([
    undefined,
    '',
    'Basic YTpi',
    'Digest realm="other.example", nonce="x", username="ann", uri="sip:a", response="00000000000000000000000000000000"',
    'Digest realm="demo.example", nonce="x", username="ann", uri="sip:a", response="short"',
    'Digest realm="demo.example", nonce="x", username="ann", uri="sip:a", response="00000000000000000000000000000000", qop=auth, nc=1, cnonce="c"',
    `Digest realm="demo.example", ${'x=y, '.repeat(2_000)}`,
    'Digest realm="demo.example", algorithm=MD5-sess, response="00000000000000000000000000000000"',
    'Digest "',
  ])('that cannot be parsed counts as missing: %#', (header) => {
    expect(why(setUp().check({ authorization: header }))).toBe('missing')
  })

  it('is found among answers for other realms', () => {
    const { check, answer } = setUp()
    const other = 'Digest username="x", realm="proxy, Digest realm=", nonce="a", uri="b", response="c"'
    expect(check({ authorization: `${other}, ${answer()}` }).kind).toBe('accepted')
  })
})

describe('MD5 where it is not offered', () => {
  it('is not accepted, and records no offence', () => {
    const { check, answer, offenses } = setUp(['SHA-256'])
    expect(check({ authorization: answer() }).kind).toBe('accepted')
    // The right password, computed with MD5 from the nonce of a SHA-256 challenge.
    const challenge = { ...parseChallenges(headerOf(check()))[0]!, algorithm: 'MD5' as const }
    const credentials = { username: 'ann', password: 'secret' }
    const authorization = makeAnswer(challenge, credentials, base, { count: 1, nonce: 'client' })
    expect([why(check({ authorization })), offenses]).toEqual(['wrong', []])
  })
})

describe('a nonce', () => {
  it('from another address is stale over a connection', () => {
    const { check, answer } = setUp()
    const elsewhere = { source: '203.0.113.9', isOverConnection: true }
    const found = check({ ...elsewhere, authorization: answer() })
    expect(why(found)).toBe('stale')
    expect(check({ ...elsewhere, authorization: answer({ of: found }) }).kind).toBe('accepted')
  })

  it('is valid once per counter value', () => {
    const { check, answer } = setUp()
    const authorization = answer()
    expect(check({ authorization }).kind).toBe('accepted')
    expect(why(check({ authorization }))).toBe('stale')
  })

  it('is valid once without a counter', () => {
    const { check, answer } = setUp()
    const authorization = answer({ algorithm: 'MD5', qop: [] })
    expect([why(check({ authorization })), why(check({ authorization }))]).toEqual(['accepted', 'stale'])
  })

  it('expires: a correct answer gets a new challenge, and a wrong answer stays wrong', () => {
    const { check, challenges, answer, advance, offenses } = setUp()
    const of = check()
    advance(300_000)
    const found = check({ authorization: answer({ of }) })
    expect(why(found)).toBe('stale')
    expect(challenges(found).every(({ isStale }) => isStale)).toBe(true)
    expect(why(check({ authorization: answer({ of, password: 'guess' }) }))).toBe('wrong')
    expect(offenses).toEqual([])
  })

  it('from before a restart is too old', () => {
    const authorization = setUp().answer()
    expect(why(setUp().check({ authorization }))).toBe('stale')
  })

  it('from another address is accepted with the right password, but causes no offence with a wrong one', () => {
    const { check, answer, offenses } = setUp()
    const source = '203.0.113.9'
    expect(check({ source, authorization: answer() }).kind).toBe('accepted')
    expect(why(check({ source, authorization: answer({ password: 'guess' }) }))).toBe('wrong')
    expect(offenses).toEqual([])
  })

  it('needs no state before a sign-in, and its state is removed when it expires', () => {
    const { challenger, check, answer, advance } = setUp()
    for (let i = 0; i < 100; i++) check({ authorization: answer({ password: 'guess' }) })
    expect(challenger.size).toBe(0)
    check({ authorization: answer() })
    expect(challenger.size).toBe(1)
    advance(300_000)
    check({ authorization: answer() })
    expect(challenger.size).toBe(1)
  })

  it('cannot be forged', () => {
    const nonces = new Nonces(() => 1_700_000_000_000)
    const made = nonces.make('192.0.2.1')
    expect(nonces.check(made, '192.0.2.1')).toEqual({ isValid: true, isProven: true })
    for (let i = 0; i < made.length; i++) {
      const changed = `${made.slice(0, i)}${made[i] === 'A' ? 'B' : 'A'}${made.slice(i + 1)}`
      expect(nonces.check(changed, '192.0.2.1').isProven).toBe(false)
    }
    expect(nonces.check(`${made}=`, '192.0.2.1')).toEqual({ isValid: false, isProven: false })
  })

  it('has a limited number of counters: under load nonces expire sooner, and none is valid twice', () => {
    let now = 1_700_000_000_000
    const nonces = new Nonces(() => now, 3)
    const address = '192.0.2.1'
    const made = Array.from({ length: 5 }, () => {
      now += 1_000
      return nonces.make(address)
    })
    for (const nonce of made) {
      expect([nonces.check(nonce, address).isValid, nonces.use(nonce, 1)]).toEqual([true, true])
      expect(nonces.size).toBeLessThanOrEqual(3)
    }
    expect(made.map((nonce) => nonces.check(nonce, address).isValid)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ])
    expect(made.map((nonce) => nonces.use(nonce, 1))).toEqual([false, false, false, false, false])
    now += 300_000
    expect([nonces.use(nonces.make(address), 1), nonces.size]).toEqual([true, 1])
  })

  it('is available for 500 new sign-ins per second without end', () => {
    let now = 1_700_000_000_000
    const nonces = new Nonces(() => now)
    let refused = 0
    for (let i = 0; i < 500 * 310; i++) {
      now += 2
      const nonce = Buffer.alloc(42)
      nonce.writeUIntBE(now, 0, 6)
      nonce.writeUInt32BE(i, 6)
      if (!nonces.use(nonce.toString('base64url'), 1)) refused++
    }
    expect([refused, nonces.size > 140_000, nonces.size <= 151_000]).toEqual([0, true, true])
  })
})

it('answers are parsed with quoted and plain fields', () => {
  const response = 'a'.repeat(32)
  expect(
    readAnswer(
      `digest Username="a\\"n",realm="r" , nonce=n,uri="sip:1@x",response="${response.toUpperCase()}",QOP="auth",nc=0000000F,cnonce="c"`,
      'r',
    ),
  ).toEqual({
    username: 'a"n',
    realm: 'r',
    nonce: 'n',
    uri: 'sip:1@x',
    response,
    algorithm: 'MD5',
    counted: { qop: 'auth', nc: '0000000F', cnonce: 'c' },
  })
})

it('a change of algorithms applies to new challenges, and earlier nonces stay valid', () => {
  const challenger = new Challenger(() => 0)
  const request = { method: 'INVITE', uri: 'sip:x', body: '', source: '192.0.2.1', authorization: undefined }
  const asked = () => {
    const found = challenger.check(request, 'realm', () => undefined)
    return found.kind === 'challenge' ? String(found.headers['WWW-Authenticate']) : ''
  }
  expect(asked()).toContain('algorithm=MD5')
  challenger.change(['SHA-256'])
  expect(asked()).toContain('algorithm=SHA-256')
  expect(asked()).not.toContain('MD5')
})

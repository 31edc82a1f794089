import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseChallenges } from './challenge-header.ts'
import { authorization, DigestSession } from './digest-session.ts'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const response = (status: number, value: string) => ({
  status,
  get: (name: string) =>
    name.toLowerCase() === (status === 407 ? 'proxy-authenticate' : 'www-authenticate') ? value : undefined,
})
const request = { method: 'INVITE', uri: 'sip:1@carrier.example', body: 'v=0\r\n' }
const digestOf = (header: string) => /response="([0-9a-f]+)"/.exec(header)?.[1]

describe('published examples', () => {
  const challenge = (algorithm: string) =>
    parseChallenges(
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
    )[0]!
  const use = { count: 1, nonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ' }
  const who = { username: 'Mufasa', password: 'Circle of Life' }
  const get = { method: 'GET', uri: '/dir/index.html', body: '' }

  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('RFC 7616 section 3.9.1 with %s', (algorithm, expected) => {
    const header = authorization(challenge(algorithm), who, get, use)
    expect(digestOf(header)).toBe(expected)
    expect(header).toContain(`, algorithm=${algorithm}, opaque="FQhe/`)
    expect(header).toContain(', qop=auth, nc=00000001, cnonce="f2/')
  })

  // The published example of section 3.9.2 was made with a truncated SHA-512, another algorithm (erratum
  // 4897).
  it('SHA-512-256 is the algorithm of FIPS 180-4, not a truncated SHA-512', () => {
    const sha = (...parts: string[]) => createHash('sha512-256').update(parts.join(':')).digest('hex')
    const header = authorization(challenge('SHA-512-256'), who, get, use)
    const { nonce } = challenge('SHA-512-256')
    const secret = sha('Mufasa', 'http-auth@example.org', 'Circle of Life')
    expect(digestOf(header)).toBe(
      sha(secret, nonce, '00000001', use.nonce, 'auth', sha('GET', '/dir/index.html')),
    )
  })

  it('RFC 2617 section 3.5', () => {
    const [asked] = parseChallenges(
      'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
    )
    const header = authorization(asked!, { username: 'Mufasa', password: 'Circle Of Life' }, get, {
      count: 1,
      nonce: '0a4f113b',
    })
    expect(digestOf(header)).toBe('6629fae49393a05397450978507c4ef1')
  })
})

describe('an answer', () => {
  it('signs the body only if auth-int is the only offered qop', () => {
    const session = new DigestSession({ username: 'u', password: 'p' }, () => 'c')
    const answer = session.answer(response(401, 'Digest realm="r", nonce="n", qop="auth-int"'), request)
    const expected = md5(
      `${md5('u:r:p')}:n:00000001:c:auth-int:${md5(`INVITE:${request.uri}:${md5(request.body)}`)}`,
    )
    expect('headers' in answer && digestOf(answer.headers.Authorization!)).toBe(expected)
  })

  it('has no counter without qop', () => {
    const session = new DigestSession({ username: 'u', password: 'p' })
    const answer = session.answer(response(407, 'Digest realm="r", nonce="n"'), request)
    if (!('headers' in answer)) throw new Error(answer.why)
    expect(digestOf(answer.headers['Proxy-Authorization']!)).toBe(
      md5(`${md5('u:r:p')}:n:${md5(`INVITE:${request.uri}`)}`),
    )
    expect(answer.headers['Proxy-Authorization']).not.toMatch(/qop|nc=|cnonce/)
  })

  it('uses the strongest of several challenges', () => {
    const session = new DigestSession({ username: 'u', password: 'p' })
    const answer = session.answer(
      response(
        401,
        'Digest realm="r", nonce="1", algorithm=MD5, Digest realm="r", nonce="2", algorithm=SHA-256, Digest realm="r", nonce="3", algorithm=SHA-1',
      ),
      request,
    )
    expect('headers' in answer && answer.headers.Authorization).toContain('nonce="2"')
  })

  it('hashes and returns nonce and opaque unchanged, with their escapes', () => {
    const session = new DigestSession({ username: 'u', password: 'p' })
    const answer = session.answer(response(401, 'Digest realm="r", nonce="a\\"b", opaque="c\\d"'), request)
    if (!('headers' in answer)) throw new Error(answer.why)
    const header = answer.headers.Authorization!
    expect(header).toContain('nonce="a\\"b"')
    expect(header).toContain('opaque="c\\d"')
    expect(digestOf(header)).toBe(md5(`${md5('u:r:p')}:a\\"b:${md5(`INVITE:${request.uri}`)}`))
  })

  it('is given only for the configured realm', () => {
    const session = new DigestSession({ username: 'u', password: 'p', realms: ['carrier'] })
    expect(session.answer(response(401, 'Digest realm="evil", nonce="n"'), request)).toEqual({
      why: 'another realm',
    })
    expect(session.realms).toEqual([])
    const both = 'Digest realm="evil", nonce="1", algorithm=SHA-256, Digest realm="carrier", nonce="2"'
    const answer = session.answer(response(401, both), request)
    expect('headers' in answer && answer.headers.Authorization).toContain('realm="carrier", nonce="2"')
  })

  it('is given only for the realm whose answer was accepted first', () => {
    const credentials = { username: 'u', password: 'p', learned: {} }
    const session = () => new DigestSession(credentials)
    const asked = (realm: string) => response(401, `Digest realm="${realm}", nonce="n"`)
    // The request is finally rejected, so the realm stays unknown.
    expect(session().answer(asked('callee'), request)).toHaveProperty('headers')
    const first = session()
    expect(first.answer(asked('carrier'), request)).toHaveProperty('headers')
    expect(first.answer(response(407, 'Digest realm="callee", nonce="n"'), request)).toEqual({
      why: 'another realm',
    })
    first.accepted()
    const next = session()
    expect(next.answer(asked('callee'), request)).toEqual({ why: 'another realm' })
    expect(next.answer(asked('carrier'), request)).toHaveProperty('headers')
  })

  it('is repeated for a stale nonce, but not for a wrong password', () => {
    const session = new DigestSession({ username: 'u', password: 'p' })
    session.answer(response(401, 'Digest realm="r", nonce="1"'), request)
    expect(session.answer(response(401, 'Digest realm="r", nonce="2", stale=TRUE'), request)).toHaveProperty(
      'headers',
    )
    expect(session.answer(response(401, 'Digest realm="r", nonce="3"'), request)).toEqual({ why: 'rejected' })
  })

  it('is given once to a proxy and once to the far side behind it', () => {
    const session = new DigestSession({ username: 'u', password: 'p' })
    session.answer(response(407, 'Digest realm="proxy", nonce="1", qop="auth"'), request)
    const second = session.answer(response(401, 'Digest realm="far", nonce="2"'), request)
    expect('headers' in second && Object.keys(second.headers)).toEqual([
      'Proxy-Authorization',
      'Authorization',
    ])
    // The nonce of the proxy is used a second time.
    expect('headers' in second && second.headers['Proxy-Authorization']).toContain('nc=00000002')
    expect(session.answer(response(401, 'Digest realm="far", nonce="3", stale=true'), request)).toEqual({
      why: 'too many',
    })
  })

  it('is sent with the next request, with an increasing counter', () => {
    const session = new DigestSession({ username: 'u', password: 'p' })
    expect(session.begin(request)).toEqual({})
    session.answer(response(401, 'Digest realm="r", nonce="1", qop="auth"'), request)
    expect(session.begin(request).Authorization).toContain('nc=00000002')
    // A new challenge, with the same or another nonce, is answered once more, because the sent answer was
    // only a guess.
    expect(session.answer(response(401, 'Digest realm="r", nonce="2", qop="auth"'), request)).toHaveProperty(
      'headers',
    )
  })

  it('is not given without credentials', () => {
    expect(
      new DigestSession(undefined).answer(response(401, 'Digest realm="r", nonce="1"'), request),
    ).toEqual({ why: 'no credentials' })
  })

  it('escapes quoted values, and hashes them unescaped', () => {
    const session = new DigestSession({ username: 'a"b', password: 'p' }, () => 'c')
    const answer = session.answer(response(401, 'Digest realm="x \\"y\\" \\\\", nonce="n"'), request)
    if (!('headers' in answer)) throw new Error(answer.why)
    expect(answer.headers.Authorization).toContain('username="a\\"b", realm="x \\"y\\" \\\\"')
    expect(digestOf(answer.headers.Authorization!)).toBe(
      md5(`${md5('a"b:x "y" \\:p')}:n:${md5(`INVITE:${request.uri}`)}`),
    )
  })
})

describe('a challenge', () => {
  it('can have blanks, capitals and commas in quotes', () => {
    expect(
      parseChallenges(' DIGEST  Realm = "a, b" ,nonce="n,=",QOP="auth" , opaque="" ,domain="sip:x, sip:y"'),
    ).toEqual([{ realm: 'a, b', nonce: 'n,=', opaque: '', algorithm: 'MD5', qop: ['auth'], isStale: false }])
  })

  it('of another scheme is ignored', () => {
    expect(parseChallenges('Bearer scope="x", Digest realm="r", nonce="n"')).toHaveLength(1)
  })

  it.each([
    '',
    'Digest',
    'Digest realm="r"',
    'Digest nonce="n"',
    'Digest realm="r, nonce="n"',
    'Digest realm="r" nonce="n"',
    'Digest realm="r", realm="s", nonce="n"',
    'Digest realm="r", nonce="n", algorithm=MD5-sess',
    'Digest realm="r", nonce="n", algorithm=AKAv1-MD5',
    'Digest realm="r", nonce="n", qop="auth-conf"',
    'Digest realm="r", nonce="n", ???',
  ])('that cannot be answered is ignored: %s', (value) => {
    expect(parseChallenges(value)).toEqual([])
  })

  it('of more than 8 KB is ignored', () => {
    expect(parseChallenges(`Digest realm="${'r'.repeat(9_000)}", nonce="n"`)).toEqual([])
  })
})

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { generate } from 'selfsigned'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { loadCertificate } from './certificate.ts'
import { readOrMakeKey } from './key.ts'
import { SessionStates } from './states.ts'
import { SubscriberTokens } from './subscriber-tokens.ts'

const alice = { id: 'sub-alice', projectId: 'project-1' }
const quiet = { info: () => {}, warn: () => {} }
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-auth-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the key', () => {
  it('is made once, readable by its owner alone, and the same after that', () => {
    const file = join(folder, 'key')
    const key = readOrMakeKey(file)
    expect(key).toHaveLength(32)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readOrMakeKey(file)).toEqual(key)
  })

  it('is refused when the file holds something else', () => {
    const file = join(folder, 'key')
    writeFileSync(file, 'short')
    expect(() => readOrMakeKey(file)).toThrow(/does not hold a key of 32 bytes/)
  })

  it('names the key file that cannot be created', () => {
    expect(() => readOrMakeKey(join(folder, 'none', 'key'))).toThrow(/none\/key cannot be created/)
  })
})

describe('subscriber tokens', () => {
  const secret = new Uint8Array(32).fill(7)

  it('carry the header and the claims that the browser SDK looks at', async () => {
    const clock = new FakeClock(1_700_000_000_000)
    const { token, expiresAt } = await new SubscriberTokens(secret, clock, 'gw.example.test:8443').issue(
      alice,
      3600,
    )
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'SAT', ch: 'gw.example.test:8443' })
    expect(decodeJwt(token)).toMatchObject({ sub: 'sub-alice', project: 'project-1', iat: 1_700_000_000 })
    expect(expiresAt).toBe(1_700_003_600)
  })

  it('leave out the host where none is configured', async () => {
    const { token } = await new SubscriberTokens(secret, new FakeClock()).issue(alice, 60)
    expect(decodeProtectedHeader(token)).not.toHaveProperty('ch')
  })

  it('are valid until they expire', async () => {
    const clock = new FakeClock()
    const tokens = new SubscriberTokens(secret, clock)
    const { token } = await tokens.issue(alice, 60)
    expect(await tokens.verify(token)).toMatchObject({ subscriberId: 'sub-alice', projectId: 'project-1' })
    clock.advance(61_000)
    await expect(tokens.verify(token)).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('expired'),
    })
  })

  it('that were checked end and are taken back all the same', async () => {
    const clock = new FakeClock()
    let isRevoked = false
    const revocations = { has: () => isRevoked, watch: () => () => {} }
    const tokens = new SubscriberTokens(secret, clock, undefined, revocations)
    const { token } = await tokens.issue(alice, 60)
    for (let i = 0; i < 3; i++) await tokens.verify(token)
    expect(tokens.checked).toBe(1)
    isRevoked = true
    await expect(tokens.verify(token)).rejects.toThrow('revoked')
    isRevoked = false
    clock.advance(59_999)
    await tokens.verify(token)
    clock.advance(1)
    await expect(tokens.verify(token)).rejects.toThrow('expired')
    expect(tokens.checked).toBe(0)
  })

  it('that were checked are remembered up to a bound, and others never', async () => {
    const tokens = new SubscriberTokens(secret, new FakeClock(), undefined, undefined, 2)
    const made = await Promise.all(Array.from({ length: 3 }, () => tokens.issue(alice, 60)))
    for (const { token } of [...made, ...made])
      expect(await tokens.verify(token)).toMatchObject({ subscriberId: 'sub-alice' })
    const [head, body] = made[0]!.token.split('.')
    await expect(tokens.verify(`${head}.${body}.${made[1]!.token.split('.')[2]}`)).rejects.toThrow()
    expect(tokens.checked).toBe(2)
  })

  it('are refused when another key signed them, when they lack claims, and when they are no tokens', async () => {
    const tokens = new SubscriberTokens(secret, new FakeClock())
    const { token } = await new SubscriberTokens(new Uint8Array(32).fill(8), new FakeClock()).issue(alice, 60)
    const unsigned = `${Buffer.from('{"alg":"none","typ":"SAT"}').toString('base64url')}.${token.split('.')[1]}.`
    const bare = await new SignJWT({}).setProtectedHeader({ alg: 'HS256', typ: 'SAT' }).sign(secret)
    for (const bad of [token, unsigned, bare, 'nonsense', ''])
      await expect(tokens.verify(bad)).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

describe('session states', () => {
  const states = new SessionStates(new Uint8Array(32).fill(1))
  const state = { protocol: 'signalwire_a_b_c', holder: 's', online: true }

  it('come back as they were sealed', () => {
    expect(states.open(states.seal(state))).toEqual(state)
  })

  it('are refused when another key signed them', () => {
    const forged = new SessionStates(new Uint8Array(32).fill(2)).seal(state)
    const [, signature] = states.seal({ ...state, online: false }).split('.')
    const swapped = `${states.seal(state).split('.')[0]}.${signature}`
    for (const bad of [forged, swapped, '', 'a', 'a.b']) expect(states.open(bad)).toBeUndefined()
  })
})

describe('the certificate', () => {
  const clock = new FakeClock(1_700_000_000_000)
  const self = (hosts: string[], at = clock) => loadCertificate({ hosts, dataDir: folder }, at, quiet)

  it('is made for the hosts, kept with a private key file, and used again', async () => {
    const first = await self(['localhost', 'gw.example.test', '127.0.0.1', '::1'])
    expect(statSync(join(folder, 'tls-key.pem')).mode & 0o777).toBe(0o600)
    expect(first.cert).toBe(readFileSync(join(folder, 'tls-certificate.pem'), 'utf8'))
    expect((await self(['localhost', 'gw.example.test', '127.0.0.1', '::1'])).cert).toBe(first.cert)
  })

  it('is made again for other hosts, near its end, and when it is damaged', async () => {
    const first = await self(['localhost'])
    const second = await self(['localhost', 'fabric.example.test'])
    expect(second.cert).not.toBe(first.cert)
    const later = new FakeClock(clock.now() + 370 * 86_400_000)
    const third = await self(['localhost', 'fabric.example.test'], later)
    expect(third.cert).not.toBe(second.cert)
    writeFileSync(join(folder, 'tls-certificate.pem'), 'broken')
    expect((await self(['localhost', 'fabric.example.test'], later)).cert).toContain('BEGIN CERTIFICATE')
  })

  it("is the operator's where files are named, and what is wrong with them is said", async () => {
    const [cert, key, other] = ['cert.pem', 'key.pem', 'other.pem'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    const made = await generate([{ name: 'commonName', value: 'x' }], {
      keyType: 'ec',
      notBeforeDate: new Date(clock.now()),
      notAfterDate: new Date(clock.now() + 90 * 86_400_000),
    })
    writeFileSync(cert, made.cert)
    writeFileSync(key, made.private)
    writeFileSync(other, (await generate([], { keyType: 'ec' })).private)
    const load = (certificate?: string, keyFile?: string, at = clock) =>
      loadCertificate({ certificate, key: keyFile, hosts: [], dataDir: folder }, at, quiet)
    expect(await load(cert, key)).toEqual({ cert: made.cert, key: made.private })
    await expect(load(cert, other)).rejects.toThrow(/does not belong/)
    await expect(load(cert)).rejects.toThrow(/belong together/)
    await expect(load(cert, join(folder, 'none.pem'))).rejects.toThrow(/none.pem cannot be read/)
    await expect(load(key, key)).rejects.toThrow(/holds no PEM certificate/)
    await expect(load(cert, cert)).rejects.toThrow(/holds no PEM private key/)
    const later = new FakeClock(clock.now() + 91 * 86_400_000)
    await expect(load(cert, key, later)).rejects.toThrow(/expired on/)
  })
})

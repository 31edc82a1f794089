import { beforeEach, expect, it } from 'vitest'
import type { FakeClock } from '../../core/clock.ts'
import type { Store } from '../../directory/store/sqlite.ts'
import { describeEngines } from '../../directory/testing/engines.ts'
import { adapterOf } from './adapter.ts'
import { OAuthPayloads } from './payloads.ts'

describeEngines('what OAuth keeps', (engine) => {
  let store: Store
  let clock: FakeClock
  let payloads: OAuthPayloads
  let revoked: string[]
  beforeEach(async () => {
    clock = engine.clock
    store = (await engine.open()).store
    revoked = []
    payloads = new OAuthPayloads({
      store,
      revocations: { revoke: async ({ id }) => void revoked.push(id) },
      now: () => clock.now(),
    })
  })

  const rows = () => store.selectFrom('oauth_payload').selectAll().execute()
  const grant = (id: string) => payloads.save('Grant', id, { accountId: 'alice' }, 600)

  it('gives back what it keeps, by the id alone that it does not keep', async () => {
    const payload = { jti: 'the-code', accountId: 'alice', grantId: 'g', exp: 1 }
    await payloads.save('AuthorizationCode', 'the-code', payload, 60)
    expect(await payloads.find('AuthorizationCode', 'the-code')).toEqual(payload)
    expect(await payloads.find('RefreshToken', 'the-code')).toBeUndefined()
    const [row] = await rows()
    expect(JSON.stringify(row)).not.toContain('the-code')
    expect(await payloads.find('AuthorizationCode', row?.id ?? '')).toBeUndefined()
  })

  it('saves again what is there, and what was used stays so', async () => {
    await payloads.save('RefreshToken', 'r', { scope: 'openid' }, 60)
    expect(await payloads.consume('RefreshToken', 'r')).toBe(true)
    await payloads.save('RefreshToken', 'r', { scope: 'openid email' }, 60)
    expect(await payloads.find('RefreshToken', 'r')).toEqual({
      jti: 'r',
      scope: 'openid email',
      consumed: Math.floor(clock.now() / 1000),
    })
    expect(await rows()).toHaveLength(1)
  })

  it('finds a session by what refers to it, without the id that the browser has', async () => {
    await payloads.save('Session', 'cookie', { uid: 'u', accountId: 'alice' }, 60)
    expect(await payloads.findByUid('Session', 'u')).toEqual({ uid: 'u', accountId: 'alice' })
    expect(await payloads.findByUid('Interaction', 'u')).toBeUndefined()
  })

  it.each(['web', 'a"b\\c', '100%_'])(
    'ends everything that client %s was given, and nothing else',
    async (clientId) => {
      const expiresAt = clock.now() / 1000 + 60
      for (const of of [clientId, 'wEb1', 'another']) {
        await payloads.save('Grant', `grant of ${of}`, { accountId: 'alice', clientId: of }, 600)
        const grantId = `grant of ${of}`
        await payloads.save('RefreshToken', `renews ${of}`, { grantId, clientId: of }, 600)
        const token = { id: `token of ${of}`, grantId, subscriberId: 'alice', clientId: of, expiresAt }
        await payloads.addAccessToken(token)
      }
      await payloads.revokeClient(clientId)
      expect(revoked).toEqual([`token of ${clientId}`])
      expect((await rows()).map(({ model }) => model).sort()).toEqual(
        ['AccessToken', 'Grant', 'RefreshToken'].flatMap((model) => [model, model]),
      )
      expect(await payloads.find('RefreshToken', `renews ${clientId}`)).toBeUndefined()
    },
  )

  it('uses once what many ask for in one moment, and ends its grant', async () => {
    await grant('g')
    await grant('other')
    await payloads.save('RefreshToken', 'r', { grantId: 'g' }, 60)
    await payloads.save('RefreshToken', 'next', { grantId: 'g' }, 60)
    await payloads.save('RefreshToken', 'others', { grantId: 'other' }, 60)
    await payloads.addAccessToken({
      id: 'jti-1',
      grantId: 'g',
      subscriberId: 'alice',
      clientId: 'web',
      expiresAt: clock.now() / 1000 + 60,
    })
    const used = await Promise.all(Array.from({ length: 5 }, () => payloads.consume('RefreshToken', 'r')))
    expect(used.filter(Boolean)).toHaveLength(1)
    expect(new Set(revoked)).toEqual(new Set(['jti-1']))
    for (const id of ['r', 'next']) expect(await payloads.find('RefreshToken', id)).toBeUndefined()
    expect(await payloads.find('Grant', 'g')).toBeUndefined()
    expect(await payloads.find('RefreshToken', 'others')).toBeDefined()
  })

  it('tells oidc-provider that something was used already', async () => {
    const adapter = adapterOf(payloads, { find: async () => undefined })('AuthorizationCode')
    await adapter.upsert('c', { grantId: 'g' }, 60)
    await adapter.consume('c')
    await expect(adapter.consume('c')).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(adapter.consume('none')).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  it('lets no access token out of a grant that is revoked, before or after', async () => {
    await grant('g')
    const token = { grantId: 'g', subscriberId: 'alice', clientId: 'web', expiresAt: clock.now() / 1000 + 60 }
    expect(await payloads.addAccessToken({ ...token, id: 'first' })).toBe(true)
    await payloads.revokeGrant('g')
    expect(revoked).toEqual(['first'])
    expect(await payloads.addAccessToken({ ...token, id: 'second' })).toBe(false)
    await payloads.revokeGrant('g')
    expect(revoked).toEqual(['first', 'second'])
  })

  it('removes what has ended, and nothing else', async () => {
    await payloads.save('AuthorizationCode', 'short', {}, 60)
    await payloads.save('RefreshToken', 'long', {}, 3600)
    clock.advance(60_000)
    await payloads.removeEnded()
    expect((await rows()).map(({ model }) => model)).toEqual(['RefreshToken'])
  })
})

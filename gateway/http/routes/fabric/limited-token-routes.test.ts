import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everythingOf } from '../../../directory/testing/directories.ts'
import { ApiTestSite, ours, theirs } from '../../testing/api-test-site.ts'

const tokens = '/api/fabric/subscribers/tokens'
const refresh = `${tokens}/refresh`
const guests = '/api/fabric/guests/tokens'
const invites = '/api/fabric/subscriber/invites'
const info = '/api/fabric/subscriber/info'
let rig: ApiTestSite
let count = 0

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

interface Pair {
  readonly subscriber_id: string
  readonly token: string
  readonly refresh_token: string
}

/** Tokens of a new subscriber. */
const pairFor = async (): Promise<Pair> => {
  const answer = await rig.ask('POST', tokens, { reference: `new-${++count}@example.test` })
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

/** Sends a request for the holder of a token, and returns the status. */
const statusWith = async (token: string): Promise<number> =>
  (await rig.askAs({ url: info, token })).statusCode

const fieldOf = (answer: { json(): { errors: { attribute: string }[] } }) =>
  answer.json().errors[0]?.attribute

const addressOf = (email: string, project = ours): string =>
  rig.directory.subscriberByEmail(project.id, email)!.addressId

describe('limited tokens', () => {
  const guestToken = async (ids: readonly string[]): Promise<string> => {
    const answer = await rig.ask('POST', guests, { allowed_addresses: ids })
    expect(answer.statusCode).toBe(201)
    return answer.json().token
  }
  const addresses = async (token: string): Promise<string[]> => {
    const answer = await rig.askAs({ url: '/api/fabric/addresses', token })
    return answer.json().data.map(({ id }: { id: string }) => id)
  }

  it('for guests give access to their addresses, and to no details of subscribers', async () => {
    const id = addressOf('alice@example.test')
    const token = await guestToken([id])
    expect(await addresses(token)).toEqual([id])
    const hidden = everythingOf(rig.directory, 'p1').find(({ address }) => address.id !== id)!
    expect((await rig.askAs({ url: `/api/fabric/addresses/${hidden.address.id}`, token })).statusCode).toBe(
      404,
    )
    expect((await rig.askAs({ url: info, token })).json()).toMatchObject({
      email: null,
      display_name: 'Guest',
      push_notification_key: null,
      fabric_addresses: [],
    })
  })

  it('are rejected for addresses of another project, for no address, and for too many', async () => {
    const foreign = addressOf('alice@example.test', theirs)
    const own = addressOf('alice@example.test')
    const refused = async (ids: readonly string[]) => {
      const answer = await rig.ask('POST', guests, { allowed_addresses: ids })
      return [answer.statusCode, fieldOf(answer)]
    }
    expect(await refused([own, foreign])).toEqual([422, 'allowed_addresses.1'])
    expect(await refused([])).toEqual([422, 'allowed_addresses'])
    expect(await refused([own, own])).toEqual([422, 'allowed_addresses'])
    expect(await refused(Array.from({ length: 11 }, (_, i) => `${i}`))).toEqual([422, 'allowed_addresses'])
  })

  it('for an invitation act for the subscriber by name, and give no further rights', async () => {
    const id = addressOf('alice@example.test')
    const alice = await rig.tokenOf('alice@example.test')
    const made = await rig.askAs({ method: 'POST', url: invites, token: alice, payload: { address_id: id } })
    expect(made.statusCode).toBe(201)
    const { token } = made.json()
    expect(await addresses(token)).toEqual([id])
    expect((await rig.askAs({ url: info, token })).json()).toMatchObject({
      email: null,
      display_name: 'Alice',
      push_notification_key: null,
      fabric_addresses: [],
    })
    const foreign = { address_id: addressOf('alice@example.test', theirs) }
    const refused = await rig.askAs({ method: 'POST', url: invites, token: alice, payload: foreign })
    expect([refused.statusCode, fieldOf(refused)]).toEqual([422, 'address_id'])
  })

  it('cannot create further tokens or register devices', async () => {
    const id = addressOf('alice@example.test')
    const invite = await rig.askAs({ method: 'POST', url: invites, payload: { address_id: id } })
    for (const token of [await guestToken([id]), invite.json().token]) {
      const again = { method: 'POST', url: invites, token, payload: { address_id: id } } as const
      expect((await rig.askAs(again)).statusCode).toBe(403)
      const payload = { device_token: 't', device_type: 'iOS' }
      expect(
        (await rig.askAs({ method: 'POST', url: '/subscriber/devices', token, payload })).statusCode,
      ).toBe(403)
    }
  })

  it('for an invitation end with the inviting subscriber', async () => {
    const { token, subscriber_id: id } = await pairFor()
    const own = rig.directory.subscriber(id)!.addressId
    const made = await rig.askAs({ method: 'POST', url: invites, token, payload: { address_id: own } })
    await rig.directory.resources.remove('p1', 'subscriber', id)
    expect(await statusWith(made.json().token)).toBe(401)
  })
})

describe('embed tokens', () => {
  const exchange = (token: string, origin?: string, remoteAddress = '192.0.2.1') =>
    rig.site.inject({
      method: 'POST',
      url: '/api/fabric/embeds/tokens',
      payload: { token },
      remoteAddress,
      ...(origin && { headers: { origin } }),
    })
  const made = async (more: object = {}): Promise<string> => {
    const body = { address_id: addressOf('alice@example.test'), ...more }
    const answer = await rig.ask('POST', '/api/fabric/embeds', body)
    expect(answer.statusCode).toBe(201)
    return answer.json().token
  }

  it('give every visitor a guest token for one address', async () => {
    const token = await made()
    const one = await exchange(token)
    const other = await exchange(token)
    expect([one.statusCode, other.statusCode]).toEqual([201, 201])
    const read = await rig.tokens.verify(one.json().token)
    expect(read).toMatchObject({ kind: 'guest', addressIds: [addressOf('alice@example.test')] })
    expect((await rig.tokens.verify(other.json().token)).subscriberId).not.toBe(read.subscriberId)
  })

  it('cannot be used as other tokens, nor other tokens as embed tokens', async () => {
    const token = await made()
    expect((await rig.ask('POST', refresh, { refresh_token: token })).statusCode).toBe(401)
    expect(await statusWith(token)).toBe(401)
    const pair = await pairFor()
    for (const text of [pair.token, pair.refresh_token, 'x'])
      expect((await exchange(text)).statusCode).toBe(422)
    expect((await exchange(token)).statusCode).toBe(201)
  })

  it('expire, end with their address, and can be revoked', async () => {
    const ending = await made({ expire_at: Math.floor(rig.clock.now() / 1000) + 60 })
    const id = (await pairFor()).subscriber_id
    const gone = await made({ address_id: rig.directory.subscriber(id)!.addressId })
    const revoked = await made()
    rig.clock.advance(60_000)
    await rig.directory.resources.remove('p1', 'subscriber', id)
    const other = await rig.ask('POST', `${tokens}/revoke`, { token: revoked }, theirs)
    expect([other.statusCode, (await exchange(revoked)).statusCode]).toEqual([204, 201])
    await rig.ask('POST', `${tokens}/revoke`, { token: revoked })
    for (const token of [ending, gone, revoked]) expect((await exchange(token)).statusCode).toBe(422)
  })

  it('give a limited number of guest tokens per minute, each embed token separately', async () => {
    const few = await made({ max_guests_per_minute: 2 })
    const other = await made({ max_guests_per_minute: 2 })
    for (const token of [few, few, other]) expect((await exchange(token)).statusCode).toBe(201)
    const refused = await exchange(few)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60'])
    rig.clock.advance(60_000)
    expect((await exchange(few)).statusCode).toBe(201)
    const usual = await made()
    for (let i = 0; i < 600; i++) await exchange(usual, undefined, `192.0.2.${i % 20}`)
    expect((await exchange(usual, undefined, '192.0.2.200')).statusCode).toBe(429)
  })

  it('give one network a share of the guest tokens, so that visitors of other networks still get theirs', async () => {
    const token = await made()
    for (let i = 0; i < 60; i++)
      expect((await exchange(token, undefined, `2001:db8::${i + 1}`)).statusCode).toBe(201)
    expect((await exchange(token, undefined, '2001:db8::f00')).statusCode).toBe(429)
    expect((await exchange(token, undefined, '2001:db8:1::1')).statusCode).toBe(201)
    rig.clock.advance(60_000)
    expect((await exchange(token, undefined, '2001:db8::1')).statusCode).toBe(201)
  })

  it('can be restricted to pages of certain origins', async () => {
    const token = await made({ origins: ['https://WWW.example.com', 'http://localhost:8080/'] })
    for (const origin of ['https://www.example.com', 'http://localhost:8080'])
      expect((await exchange(token, origin)).statusCode).toBe(201)
    for (const origin of ['https://example.com', 'http://www.example.com', 'null', undefined]) {
      const refused = await exchange(token, origin)
      expect([refused.statusCode, refused.json().errors[0].code]).toEqual([403, 'origin_refused'])
    }
    for (const origins of [
      [],
      ['example.com'],
      ['https://a.example/path'],
      ['ftp://a.example'],
      ['https://u@a.example'],
    ]) {
      const body = { address_id: addressOf('alice@example.test'), origins }
      const answer = await rig.ask('POST', '/api/fabric/embeds', body)
      expect([answer.statusCode, fieldOf(answer)?.split('.')[0]]).toEqual([422, 'origins'])
    }
  })

  it('are only for addresses of the project', async () => {
    const body = { address_id: addressOf('alice@example.test', theirs) }
    const answer = await rig.ask('POST', '/api/fabric/embeds', body)
    expect([answer.statusCode, fieldOf(answer)]).toEqual([422, 'address_id'])
  })
})

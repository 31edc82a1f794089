import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DeviceRows } from '../../directory/tables/devices.ts'
import { ApiTestSite } from '../testing/api-test-site.ts'

let rig: ApiTestSite

/** Token of a subscriber without devices before the test. */
let own: string
let count = 0

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())
beforeEach(async () => {
  own = await tokenOf(`own-${++count}@example.test`)
})

const bases = ['/subscriber/devices', '/api/fabric/subscriber/devices'] as const
const phone = { device_token: 'token-of-the-push-service', device_type: 'iOS' }
const tokenOf = async (reference: string): Promise<string> =>
  (await rig.ask('POST', '/api/fabric/subscribers/tokens', { reference })).json().token

describe.each(bases)('%s', (base) => {
  const register = (payload: object = phone, token = own) =>
    rig.askAs({ method: 'POST', url: base, payload, token })

  it('registers a device, with the push key of the subscriber', async () => {
    const answer = await register()
    expect(answer.statusCode).toBe(201)
    const device = answer.json()
    expect(device).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      ...phone,
      device_name: null,
      push_notification_key: expect.any(String),
      date_registered: new Date(rig.clock.now()).toISOString(),
    })
    expect(Buffer.from(device.push_notification_key, 'base64')).toHaveLength(32)
    const info = (await rig.askAs({ url: '/api/fabric/subscriber/info', token: own })).json()
    expect(info.push_notification_key).toBe(device.push_notification_key)
  })

  it('keeps the id of a known device, and lists only the subscriber’s own devices', async () => {
    const first = (await register()).json()
    const again = (await register({ ...phone, device_type: 'Desktop' })).json()
    expect(again).toMatchObject({ id: first.id, device_type: 'Desktop' })
    const other = await tokenOf(`other-${count}@example.test`)
    const theirs = (await register(phone, other)).json()
    expect(theirs.id).not.toBe(first.id)
    expect(theirs.push_notification_key).not.toBe(first.push_notification_key)
    // The device belongs to another subscriber now, so the first one has none.
    expect((await rig.askAs({ url: base, token: own })).json().data).toEqual([])
    expect((await rig.askAs({ url: base, token: other })).json().data).toEqual([theirs])
  })

  it('removes only a device of the subscriber', async () => {
    const { id } = (await register()).json()
    const url = `${base}/${id}`
    const other = await tokenOf(`other-${count}@example.test`)
    expect((await rig.askAs({ method: 'DELETE', url, token: other })).statusCode).toBe(404)
    const removed = await rig.askAs({ method: 'DELETE', url, token: own })
    expect([removed.statusCode, removed.json()]).toEqual([200, {}])
    expect((await rig.askAs({ method: 'DELETE', url, token: own })).statusCode).toBe(404)
    expect((await rig.askAs({ url: base, token: own })).json().data).toEqual([])
  })

  it.each<[object, string]>([
    [{ device_type: 'iOS' }, 'device_token'],
    [{ ...phone, device_type: 'ios' }, 'device_type'],
    [{ ...phone, device_token: '' }, 'device_token'],
    [{ ...phone, id: 'x' }, 'id'],
    [{ ...phone, device_token: 'x'.repeat(4097) }, 'device_token'],
  ])('rejects %j', async (payload, field) => {
    const answer = await register(payload)
    expect([answer.statusCode, answer.json().errors[0].attribute]).toEqual([422, field])
  })

  it('requires a subscriber token', async () => {
    const anonymous = await rig.site.inject({ method: 'POST', url: base, payload: phone })
    expect(anonymous.statusCode).toBe(401)
    expect((await rig.ask('POST', base, phone)).statusCode).toBe(401)
  })
})

describe('devices', () => {
  it('are limited to fifty per subscriber, with one per token', async () => {
    const register = (device_token: string) =>
      rig.askAs({
        method: 'POST',
        url: bases[0],
        token: own,
        payload: { device_token, device_type: 'Android' },
      })
    for (let count = 0; count < 50; count++) expect((await register(`${count}`)).statusCode).toBe(201)
    expect((await register('one more')).statusCode).toBe(403)
    expect((await register('7')).statusCode).toBe(201)
  })

  it('share one key, also if two are registered at the same time', async () => {
    const keys = await Promise.all(
      ['a', 'b', 'c'].map(async (device_token) => {
        const payload = { device_token, device_type: 'iOS' }
        return (await rig.askAs({ method: 'POST', url: bases[0], token: own, payload })).json()
          .push_notification_key
      }),
    )
    expect(new Set(keys).size).toBe(1)
  })

  const register = async () => {
    const reference = `own-${count}@example.test`
    await rig.askAs({ method: 'POST', url: bases[0], payload: phone, token: own })
    const { id } = rig.directory.subscriberByEmail('p1', reference)!
    const left = () => new DeviceRows(rig.directory.store).of(id)
    expect(await left()).toHaveLength(1)
    return { id, left }
  }

  it('are removed when all tokens of their subscriber are revoked', async () => {
    const { id, left } = await register()
    const answer = await rig.ask('DELETE', `/api/fabric/subscribers/${id}/tokens`)
    expect(answer.statusCode).toBe(204)
    expect(await left()).toEqual([])
  })

  it('are removed when the subscriber’s password changes', async () => {
    const { id, left } = await register()
    await rig.directory.resources.update('p1', 'subscriber', id, { displayName: 'Another' })
    expect(await left()).toHaveLength(1)
    await rig.directory.resources.update('p1', 'subscriber', id, { password: 'another-9' })
    expect(await left()).toEqual([])
  })

  it('are removed when their subscriber is disabled, and stay when a subscriber is enabled', async () => {
    const { id, left } = await register()
    await rig.directory.changeSubscriber('p1', id, { disabled: false })
    expect(await left()).toHaveLength(1)
    await rig.directory.changeSubscriber('p1', id, { disabled: true })
    expect(await left()).toEqual([])
  })

  it('stay when one token is revoked, because they belong to the subscriber', async () => {
    const { left } = await register()
    await rig.ask('POST', '/api/fabric/subscribers/tokens/revoke', { token: own })
    expect((await rig.askAs({ url: bases[0], token: own })).statusCode).toBe(401)
    expect(await left()).toHaveLength(1)
  })

  it('are removed with their subscriber', async () => {
    const reference = `other-${count}@example.test`
    const token = await tokenOf(reference)
    await rig.askAs({ method: 'POST', url: bases[0], payload: phone, token })
    const { id } = rig.directory.subscriberByEmail('p1', reference)!
    await rig.directory.resources.remove('p1', 'subscriber', id)
    const left = rig.directory.store.selectFrom('device').selectAll().where('subscriber_id', '=', id)
    expect(await left.execute()).toEqual([])
  })
})

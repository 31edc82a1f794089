import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ours, theirs } from '../../testing/api-test-site.ts'
import { base, ChatTestSite, type Person } from '../../testing/chat-test-site.ts'

let rig: ChatTestSite
let nora: Person
let otto: Person

beforeAll(async () => {
  rig = await ChatTestSite.open()
})
afterAll(() => rig.api.close())
beforeEach(async () => {
  nora = await rig.person('Nora')
  otto = await rig.person('Otto')
})

describe('an attempted misuse of conversations', () => {
  it('with another project’s addresses and conversations gets 404', async () => {
    const stranger = await rig.person('Stranger', theirs)
    const other = await rig.person('Other', theirs)
    const { group_id } = await rig.sent(stranger, other.addressId, 'theirs')
    for (const id of [stranger.addressId, group_id]) {
      expect((await rig.send(nora, id)).status).toBe(404)
      expect((await rig.ask(nora, `${base}/${id}`)).status).toBe(404)
      expect((await rig.ask(nora, `${base}/${id}/messages`)).status).toBe(404)
      expect((await rig.join(nora, { conversation_id: id })).status).toBe(404)
      expect((await rig.join(nora, { fabric_address_ids: [otto.addressId, id] })).status).toBe(404)
    }
    expect(await rig.textsOf(stranger, group_id)).toEqual(['theirs'])
  })

  it('with a conversation of others gets 404', async () => {
    const { group_id } = await rig.sent(nora, otto.addressId, 'secret')
    const third = await rig.person('Third')
    expect((await rig.ask(third, `${base}/${group_id}`)).status).toBe(404)
    expect((await rig.ask(third, `${base}/${group_id}/messages`)).status).toBe(404)
    expect((await rig.send(third, group_id)).status).toBe(404)
    expect((await rig.join(third, { conversation_id: group_id })).status).toBe(404)
    expect((await rig.ask(third, '/api/fabric/messages')).body.data).toEqual([])
  })

  it('with another subscriber’s address as sender is rejected', async () => {
    for (const name of ['from_address_id', 'from_fabric_address_id']) {
      const answer = await rig.send(nora, otto.addressId, 'x', { [name]: otto.addressId })
      expect([answer.status, answer.body.errors[0].attribute]).toEqual([422, name])
    }
    const forged = { from_fabric_address_id: otto.addressId, fabric_address_ids: [otto.addressId] }
    expect((await rig.join(nora, forged)).status).toBe(422)
    const visitor = await rig.guest(otto.addressId)
    expect((await rig.send(visitor, otto.addressId, 'x', { from_address_id: nora.addressId })).status).toBe(
      422,
    )
    expect((await rig.ask(otto, base)).body.data).toEqual([])
  })

  it.each<[object, string]>([
    [{ text: 'x'.repeat(4097) }, 'text'],
    [{ text: '' }, 'text'],
    [{ text: 'a\u0000b' }, 'text'],
    [{ metadata: { a: 'x'.repeat(4096) } }, 'metadata'],
    [{ details: [] }, 'details'],
    [{ user_id: 'x' }, 'user_id'],
    [{ text: 7 }, 'text'],
  ])('with an invalid message is rejected: %j', async (changes, field) => {
    const answer = await rig.send(nora, otto.addressId, 'x', changes)
    expect([answer.status, answer.body.errors[0].attribute]).toEqual([422, field])
  })

  it('with both ids or none, or to an address without conversations, is rejected', async () => {
    const url = '/api/fabric/messages'
    const conversation_id = otto.addressId
    const group_id = otto.addressId
    expect((await rig.ask(nora, url, { text: 'x' })).status).toBe(422)
    expect((await rig.ask(nora, url, { text: 'x', conversation_id, group_id })).status).toBe(422)
    expect((await rig.join(nora, {})).status).toBe(422)
    const script = rig.api.directory.resources.findByAddress(ours.id, 'public', 'help')!.address.id
    const answer = await rig.send(nora, script)
    expect([answer.status, answer.body.errors[0].attribute]).toEqual([422, 'conversation_id'])
  })

  it('with an invitation token or the project’s token is rejected', async () => {
    const body = { address_id: otto.addressId }
    const invited = (await rig.ask(nora, '/api/fabric/subscriber/invites', body)).body
    await rig.sent(nora, otto.addressId, 'secret')
    expect((await rig.ask(invited, base)).status).toBe(403)
    expect((await rig.ask(invited, '/api/fabric/messages')).status).toBe(403)
    expect((await rig.send(invited, otto.addressId)).status).toBe(403)
    expect((await rig.api.ask('GET', base)).statusCode).toBe(401)
  })

  it('with too many messages per minute is rejected, for a sender and for a conversation', async () => {
    const id = await rig.room()
    const many = await Promise.all(Array.from({ length: 61 }, () => rig.send(nora, id)))
    expect(many.filter(({ status }) => status === 429)).toHaveLength(1)
    expect((await rig.send(otto, id)).status).toBe(201)
    for (let n = 0; n < 4; n++) {
      const another = await rig.person(`P${n}`)
      await Promise.all(Array.from({ length: 60 }, () => rig.send(another, id)))
    }
    expect((await rig.send(otto, id)).status).toBe(429)
    rig.api.clock.advance(60_000)
    expect((await rig.send(otto, id)).status).toBe(201)
  })
})

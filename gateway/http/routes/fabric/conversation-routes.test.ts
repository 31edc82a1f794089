import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
  rig.api.events.splice(0)
})

describe('two subscribers', () => {
  it('have one conversation, which is the other’s address for each of them', async () => {
    const first = await rig.sent(nora, otto.addressId, 'Hello Otto')
    expect(first).toEqual({
      id: expect.any(String),
      address_id: otto.addressId,
      conversation_id: otto.addressId,
      group_id: expect.any(String),
      user_id: nora.id,
      from_address_id: nora.addressId,
      from_fabric_address_id: nora.addressId,
      ts: rig.api.clock.now() / 1000,
      metadata: {},
      details: {},
      type: 'message',
      subtype: 'chat',
      kind: null,
      text: 'Hello Otto',
      hidden: false,
      user_name: 'Nora',
      conversation_name: 'Otto',
      table: { conversation_id: otto.addressId, text: 'Hello Otto' },
    })
    const answer = await rig.sent(otto, nora.addressId, 'Hello Nora')
    expect(answer).toMatchObject({ group_id: first.group_id, conversation_id: nora.addressId })
    for (const id of [otto.addressId, first.group_id])
      expect(await rig.textsOf(nora, id)).toEqual(['Hello Nora', 'Hello Otto'])
    const { body } = await rig.ask(otto, base)
    expect(body.data).toEqual([
      {
        id: nora.addressId,
        address_id: nora.addressId,
        group_id: first.group_id,
        name: 'Nora',
        from_fabric_address_id: otto.addressId,
        metadata: {},
        created_at: first.ts * 1000,
        fabric_address_ids: expect.arrayContaining([nora.addressId, otto.addressId]),
        last_message_at: answer.ts * 1000,
      },
    ])
    expect((await rig.ask(otto, `${base}/${nora.addressId}`)).body).toEqual(body.data[0])
  })

  it('receive new messages on all pages, each from their own point of view', async () => {
    const { table: _, ...message } = await rig.sent(nora, otto.addressId)
    const event = 'conversation.message'
    expect(rig.api.events).toHaveLength(2)
    expect(rig.api.events).toContainEqual({ to: nora.id, event, params: message })
    const seen = { ...message, address_id: nora.addressId, conversation_id: nora.addressId }
    expect(rig.api.events).toContainEqual({
      to: otto.id,
      event,
      params: { ...seen, conversation_name: 'Nora' },
    })
  })

  it('can use the field names of newer clients too', async () => {
    const { body } = await rig.join(nora, {
      from_fabric_address_id: nora.addressId,
      fabric_address_ids: [otto.addressId, nora.addressId],
    })
    expect(body).toMatchObject({
      from_fabric_address_id: nora.addressId,
      fabric_address_ids: expect.arrayContaining([nora.addressId, otto.addressId]),
    })
    const { group_id } = body
    const more = { metadata: { a: 1 }, details: { b: ['c'] } }
    for (const name of ['from_address_id', 'from_fabric_address_id']) {
      const written = { group_id, text: 'x', [name]: nora.addressId, ...more }
      const answer = await rig.ask(nora, '/api/fabric/messages', written)
      expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ group_id, ...more })])
    }
    expect(await rig.textsOf(otto, group_id)).toEqual(['x', 'x'])
  })

  it('have no messages before the first one, and no conversation with themselves', async () => {
    expect(await rig.textsOf(nora, otto.addressId)).toEqual([])
    expect((await rig.ask(nora, `${base}/${otto.addressId}`)).status).toBe(404)
    expect((await rig.send(nora, nora.addressId)).status).toBe(422)
    expect((await rig.join(nora, { fabric_address_ids: [nora.addressId] })).status).toBe(422)
  })
})

describe('a room', () => {
  it('is a conversation of all members, who join by a request or by writing', async () => {
    const id = await rig.room()
    expect((await rig.join(nora, { conversation_id: id })).body).toMatchObject({
      fabric_address_ids: [id],
      from_fabric_address_id: nora.addressId,
      table: { conversation_id: id },
    })
    expect((await rig.ask(nora, `${base}/${id}`)).body).toMatchObject({
      name: 'The room',
      last_message_at: null,
    })
    const { group_id } = await rig.sent(nora, id, 'one')
    // Not before the room is joined.
    expect(await rig.textsOf(otto, id)).toEqual([])
    expect((await rig.ask(otto, `${base}/${group_id}/messages`)).status).toBe(404)
    await rig.sent(otto, id, 'two')
    expect(await rig.textsOf(otto, id)).toEqual(['two', 'one'])
    expect(rig.api.events.map(({ to }) => to)).toEqual(expect.arrayContaining([nora.id, otto.id]))
    expect(rig.api.events.at(-1)?.params).toMatchObject({
      conversation_id: id,
      conversation_name: 'The room',
    })
  })
})

describe('a group of subscribers', () => {
  it('has one conversation, whichever member starts it', async () => {
    const third = await rig.person('Third')
    const all = [nora, otto, third].map(({ addressId }) => addressId)
    const first = (await rig.join(nora, { fabric_address_ids: all })).body
    const again = (await rig.join(third, { fabric_address_ids: all.slice(0, 2) })).body
    expect(again.group_id).toBe(first.group_id)
    expect(first).toMatchObject({ table: { conversation_id: first.group_id } })
    await rig.sent(otto, first.group_id, 'all')
    expect(rig.api.events.map(({ to }) => to).sort()).toEqual([nora.id, otto.id, third.id].sort())
    expect(await rig.textsOf(third, first.group_id)).toEqual(['all'])
    expect((await rig.ask(nora, `${base}/${first.group_id}`)).body.name.split(', ').sort()).toEqual([
      'Otto',
      'Third',
    ])
  })

  it('can contain only subscribers', async () => {
    const answer = await rig.join(nora, { fabric_address_ids: [otto.addressId, await rig.room()] })
    expect([answer.status, answer.body.errors[0].attribute]).toEqual([422, 'fabric_address_ids'])
  })
})

describe('a guest', () => {
  it('can write only to the addresses of the token', async () => {
    const visitor = await rig.guest(otto.addressId)
    const message = await rig.sent(visitor, otto.addressId, 'Hello')
    expect(message).toMatchObject({ from_address_id: null, user_name: 'Guest', conversation_name: 'Otto' })
    const toOtto = rig.api.events.find(({ to }) => to === otto.id)?.params
    // There is no address to write to: the conversation is known by its own id.
    const { group_id } = message
    expect(toOtto).toMatchObject({ conversation_id: group_id, address_id: null, conversation_name: 'Guest' })
    await rig.sent(otto, group_id, 'Good day')
    expect(await rig.textsOf(visitor, otto.addressId)).toEqual(['Good day', 'Hello'])
    expect((await rig.send(visitor, nora.addressId)).status).toBe(404)
    expect((await rig.ask(visitor, `${base}/${nora.addressId}/messages`)).status).toBe(404)
    expect((await rig.join(visitor, { conversation_id: nora.addressId })).status).toBe(404)
  })

  it('reads messages since joining, and sees only the addresses of the token', async () => {
    const id = await rig.room()
    await rig.sent(nora, id, 'before')
    const visitor = await rig.guest(id, otto.addressId)
    rig.api.clock.advance(1)
    await rig.join(visitor, { conversation_id: id })
    await rig.sent(nora, id, 'after')
    const { data } = (await rig.ask(visitor, `${base}/${id}/messages`)).body
    expect(data).toEqual([
      expect.objectContaining({ text: 'after', user_name: 'Nora', from_address_id: null }),
    ])
    const toGuest = rig.api.events.filter(({ to }) => to !== nora.id)
    expect(toGuest).toHaveLength(1)
    expect(JSON.stringify(toGuest)).not.toContain(nora.addressId)
    expect((await rig.join(visitor, { fabric_address_ids: [id, otto.addressId] })).status).toBe(403)
  })

  it('is a different person from another guest', async () => {
    const one = await rig.guest(otto.addressId)
    const other = await rig.guest(otto.addressId)
    const { group_id } = await rig.sent(one, otto.addressId, 'private')
    expect(await rig.textsOf(other, otto.addressId)).toEqual([])
    expect((await rig.ask(other, `${base}/${group_id}/messages`)).status).toBe(404)
    expect((await rig.ask(other, '/api/fabric/messages')).body.data).toEqual([])
  })
})

describe('pages of messages', () => {
  it('go back in time, for one conversation and for all', async () => {
    const id = await rig.room()
    for (let n = 1; n <= 5; n++) {
      await rig.sent(nora, id, `${n}`)
      rig.api.clock.advance(1000)
    }
    for (const start of [`${base}/${id}/messages`, '/api/fabric/messages']) {
      const texts: string[][] = []
      for (let url: string | undefined = `${start}?page_size=2`; url; ) {
        const { body } = await rig.ask(nora, url)
        texts.push(body.data.map(({ text }: { text: string }) => text))
        expect(body.links).toMatchObject({ self: url, first: `${start}?page_size=2` })
        url = body.links.next
      }
      expect(texts).toEqual([['5', '4'], ['3', '2'], ['1']])
    }
    const listed = (await rig.ask(nora, `${base}?page_size=1`)).body
    expect([listed.data.length, listed.links.next]).toEqual([1, undefined])
  })

  it('reject a cursor of another list or person, and an invented one', async () => {
    const id = await rig.room()
    for (const who of [nora, otto]) for (const text of ['1', '2']) await rig.sent(who, id, text)
    const url = `${base}/${id}/messages?page_size=1`
    const { next } = (await rig.ask(nora, url)).body.links
    const cursor = new URLSearchParams(next.split('?')[1]).get('cursor')!
    const bad = [
      [otto, next],
      [nora, `/api/fabric/messages?cursor=${cursor}`],
      [nora, `${url}&cursor=${Buffer.from('1.x.y').toString('base64url')}`],
      [nora, `${url}&cursor=`],
      [nora, `${url}&cursor=${'A'.repeat(300)}`],
    ] as const
    for (const [who, asked] of bad) {
      const answer = await rig.ask(who, asked)
      expect([answer.status, answer.body.errors[0].attribute]).toEqual([422, 'cursor'])
    }
    expect((await rig.ask(nora, `${base}/${id}/messages?page_size=101`)).status).toBe(422)
  })
})

describe('a subscriber who is deleted', () => {
  it('is removed with all written messages and conversations of two', async () => {
    const id = await rig.room()
    for (const who of [nora, otto]) await rig.sent(who, id, `of ${who.id}`)
    const { group_id } = await rig.sent(nora, otto.addressId, 'between us')
    await rig.api.ask('DELETE', `/api/fabric/subscribers/${nora.id}`)
    expect(await rig.textsOf(otto, id)).toEqual([`of ${otto.id}`])
    expect((await rig.ask(otto, `${base}/${group_id}/messages`)).status).toBe(404)
    expect((await rig.ask(otto, '/api/fabric/messages')).body.data).toHaveLength(1)
    expect((await rig.ask(nora, base)).status).toBe(401)
  })
})

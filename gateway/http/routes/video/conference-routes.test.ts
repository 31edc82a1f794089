import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, theirs } from '../../testing/api-test-site.ts'

const url = '/api/video/conferences'
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

describe('a conference of the video API', () => {
  it('is a room with a size, which has the name of its display name', async () => {
    const made = await rig.make(url, {
      display_name: 'Board meeting',
      layout: '3x3',
      enable_chat: true,
      dark_primary: '#000000',
    })
    expect(made).toMatchObject({
      name: 'board-meeting',
      address: '/public/board-meeting',
      display_name: 'Board meeting',
      size: 'medium',
      max_members: 50,
      layout: '3x3',
      record_on_start: false,
      enable_chat: false,
      enable_room_previews: false,
      managed_by: 'api',
    })
    expect((await rig.send('GET', `/api/video/rooms/${made.id}`)).body).toMatchObject({
      name: 'board-meeting',
      max_members: 50,
    })
    expect((await rig.send('GET', `${url}/board-meeting`)).body).toEqual(made)
    const changed = await rig.send('PUT', `${url}/${made.id}`, { size: 'small', description: 'Weekly' })
    expect(changed).toMatchObject({
      status: 200,
      body: { size: 'small', max_members: 10, description: 'Weekly', layout: '3x3' },
    })
    expect((await rig.send('PATCH', `${url}/${made.id}`, { description: null })).body).toMatchObject({
      max_members: 10,
      description: null,
    })
    expect((await rig.send('DELETE', `${url}/${made.id}`)).status).toBe(204)
    expect((await rig.send('GET', `/api/video/rooms/${made.id}`)).status).toBe(404)
  })

  it('is also each room, with the smallest size that holds its members', async () => {
    const sizes: Record<string, string> = {}
    for (const [name, max_members] of [
      ['a', 5],
      ['b', null],
      ['c', 51],
      ['d', 300],
    ] as const) {
      await rig.make('/api/video/rooms', { name, max_members })
      sizes[name] = (await rig.send('GET', `${url}/${name}`)).body.size
    }
    expect(sizes).toEqual({ a: 'small', b: 'medium', c: 'large', d: 'large' })
    const { body } = await rig.send('GET', `${url}?page_size=2`)
    expect(body.data).toHaveLength(2)
    expect(body.links.next).toContain(`${url}?`)
  })

  it('is rejected with the name of each wrong field', async () => {
    await rig.make(url, { name: 'taken', display_name: 'Taken' })
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'display_name'],
      [{ display_name: 'x', size: 'huge' }, 'size'],
      [{ display_name: 'x', max_members: 5 }, 'max_members'],
      [{ display_name: 'x', name: 'a b' }, 'name'],
      [{ display_name: 'x', name: 'taken' }, 'name'],
      [{ display_name: 'x', layout: 'round' }, 'layout'],
      [{ display_name: 'x', meta: { long: 'x'.repeat(2_048) } }, 'meta'],
    ]
    for (const [body, field] of wrong) {
      const answer = await rig.send('POST', url, body)
      expect([answer.status, attributes(answer)]).toEqual([422, [field]])
    }
  })

  it('is found by its project alone', async () => {
    const { id } = await rig.make(url, { display_name: 'Ours' })
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const) {
      const body = method === 'PUT' || method === 'PATCH' ? {} : undefined
      expect((await rig.send(method, `${url}/${id}`, body, theirs)).status).toBe(404)
    }
    expect((await rig.send('GET', `${url}/${id}`)).status).toBe(200)
  })
})

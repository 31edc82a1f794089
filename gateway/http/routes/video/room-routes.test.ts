import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, theirs } from '../../testing/api-test-site.ts'

const url = '/api/video/rooms'
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

describe('a room of the video API', () => {
  it('is the conference room of the same id, with flat fields and the defaults of the family', async () => {
    const made = await rig.make(url, {
      name: 'lounge',
      max_members: 5,
      join_from: '2030-01-01T00:00:00+01:00',
      status_callback_url: 'https://app.example/rooms',
      quality: '1080p',
      fps: 30,
    })
    expect(made).toEqual({
      id: expect.any(String),
      name: 'lounge',
      address: '/public/lounge',
      display_name: 'lounge',
      description: null,
      max_members: 5,
      join_from: '2029-12-31T23:00:00.000Z',
      join_until: null,
      remove_at: null,
      remove_after_seconds_elapsed: null,
      layout: null,
      record_on_start: false,
      record_members: false,
      recording_storage_url: null,
      recording_storage_url_method: null,
      tone_on_entry_and_exit: true,
      user_join_video_off: false,
      names: false,
      prioritize_handraise: false,
      meta: null,
      status_callback_url: 'https://app.example/rooms',
      status_callback_method: null,
      quality: '720p',
      fps: null,
      room_join_video_off: false,
      enable_room_previews: false,
      sync_audio_video: null,
      managed_by: 'api',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const fabric = await rig.send('GET', `/api/fabric/resources/conference_rooms/${made.id}`)
    expect(fabric.body.room).toMatchObject({
      max_members: 5,
      status_callback_url: 'https://app.example/rooms',
    })
    const withSession = { ...made, active_session: null }
    expect((await rig.send('GET', `${url}/${made.id}`)).body).toEqual(withSession)
    expect((await rig.send('GET', `${url}/lounge`)).body).toEqual(withSession)
    const changed = await rig.send('PUT', `${url}/${made.id}`, { max_members: 7, status_callback_url: null })
    expect(changed).toMatchObject({
      status: 200,
      body: { max_members: 7, join_from: made.join_from, status_callback_url: null },
    })
    const renamed = await rig.send('PATCH', `${url}/lounge`, { name: 'bar' })
    expect(renamed.body).toMatchObject({ id: made.id, name: 'bar', address: '/public/bar' })
    expect((await rig.send('GET', `${url}/lounge`)).status).toBe(404)
    expect((await rig.send('DELETE', `${url}/bar`)).status).toBe(204)
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect((await rig.send(method, `${url}/${made.id}`, method === 'PUT' ? {} : undefined)).status).toBe(
        404,
      )
  })

  it('is rejected with the name of each wrong field', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'name'],
      [{ name: 'a b' }, 'name'],
      [{ name: 'x', max_members: 301 }, 'max_members'],
      [{ name: 'x', layout: 'round' }, 'layout'],
      [{ name: 'x', join_until: 'soon' }, 'join_until'],
      [{ name: 'x', status_callback_url: 'ftp://app.example/' }, 'status_callback_url'],
      [{ name: 'x', status_callback_method: 'PUT' }, 'status_callback_method'],
      [{ name: 'x', meta: { long: 'x'.repeat(2_048) } }, 'meta'],
      [{ name: 'x', address: '/private/x' }, 'address'],
      [{ name: 'x', colour: 'red' }, 'colour'],
    ]
    for (const [body, field] of wrong) {
      const answer = await rig.send('POST', url, body)
      expect([answer.status, attributes(answer)]).toEqual([422, [field]])
    }
    await rig.make(url, { name: 'taken' })
    const again = await rig.send('POST', url, { name: 'taken' })
    expect([again.status, again.body.errors[0].code, attributes(again)]).toEqual([
      422,
      'address_taken',
      ['name'],
    ])
    const other = await rig.make(url, { name: 'other' })
    expect(attributes(await rig.send('PUT', `${url}/${other.id}`, { name: 'taken' }))).toEqual(['name'])
    expect((await rig.send('GET', `${url}/help`)).status).toBe(404)
  })

  it('is listed by the times of joining, with its session if the query wants it', async () => {
    const early = await rig.make(url, { name: 'early', join_from: '2030-01-01T08:00:00Z' })
    const late = await rig.make(url, {
      name: 'late',
      join_from: '2030-01-02T08:00:00Z',
      join_until: '2030-01-02T09:00:00Z',
    })
    const list = async (query: string) => (await rig.send('GET', `${url}?${query}`)).body
    const names = async (query: string) => (await list(query)).data.map(({ name }: { name: string }) => name)
    expect(await names('starts_after=2030-01-01')).toEqual(['early', 'late'])
    expect(await names('starts_after=2030-01-01T08:00:01Z')).toEqual(['late'])
    expect(await names('ends_before=2030-01-02T09:00:00Z')).toEqual(['late'])
    expect(await names('ends_before=2030-01-02T08:59:59Z')).toEqual([])
    const second = await list('starts_after=2030-01-01&page_size=1&page_number=1')
    expect([second.data[0].name, second.links.next]).toEqual(['late', undefined])
    const room = rig.openRoom({ projectId: 'p1', id: early.id, name: 'early' })
    room.join(randomUUID())
    const { data } = await list('starts_after=2030-01-01&include_active_session=true')
    expect(data).toMatchObject([
      { id: early.id, active_session: { id: room.session.id, status: 'in-progress', members_present: 1 } },
      { id: late.id, active_session: null },
    ])
    expect((await list('starts_after=2030-01-01')).data[0].active_session).toBeUndefined()
    expect((await rig.send('GET', `${url}/early`)).body.active_session.id).toBe(room.session.id)
    room.session.end()
    expect((await rig.send('GET', `${url}/early`)).body.active_session).toBeNull()
    for (const query of ['starts_after=soon', 'ends_before=x', 'include_active_session=maybe', 'sort=1'])
      expect((await rig.send('GET', `${url}?${query}`)).status).toBe(422)
  })

  it('belongs to one project', async () => {
    const made = await rig.make(url, { name: 'ours' })
    for (const key of [made.id, 'ours']) {
      expect((await rig.send('GET', `${url}/${key}`, undefined, theirs)).status).toBe(404)
      expect((await rig.send('PUT', `${url}/${key}`, { name: 'theirs' }, theirs)).status).toBe(404)
      expect((await rig.send('DELETE', `${url}/${key}`, undefined, theirs)).status).toBe(404)
    }
    expect(JSON.stringify((await rig.send('GET', url, undefined, theirs)).body)).not.toContain(made.id)
  })
})

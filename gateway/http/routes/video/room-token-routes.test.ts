import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleGrant } from '../../../auth/testing/sample-grant.ts'
import { defaultPermissions } from '../../../rooms/permissions.ts'
import { ApiTestSite } from '../../testing/api-test-site.ts'

const url = '/api/video/room_tokens'
const day = 86_400_000
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

/** Returns the content of the token that a body makes. */
const made = async (body: object) => {
  const answer = await rig.ask('POST', url, { room_name: 'lounge', ...body })
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['cache-control']).toBe('no-store')
  return rig.roomTokens.verify(answer.json().token)
}

const inMs = (ms: number) => new Date(rig.clock.now() + ms).toISOString()

/** Returns the status, the faulty field and the message of a rejected body. */
const refused = async (body: object) => {
  const answer = await rig.ask('POST', url, body)
  const [error] = answer.json().errors
  return [answer.statusCode, error.attribute, error.message]
}

describe('a room token of the API', () => {
  it('has the rights on its own member, for a day, unless the body says otherwise', async () => {
    const token = await made({})
    expect(token).toMatchObject({
      projectId: 'p1',
      expiresAt: Math.floor((rig.clock.now() + day) / 1000) + 3600,
    })
    expect(token.grant).toEqual(sampleGrant({ userName: '', permissions: defaultPermissions }))
  })

  it('has the fields of the body, and grants what a room can do, in order', async () => {
    const { grant } = await made({
      user_name: 'Vera',
      permissions: ['room.unlock', 'room.recording', 'room.lock'],
      join_from: inMs(1000),
      join_until: inMs(2000),
      remove_at: inMs(3000),
      remove_after_seconds_elapsed: 60,
      join_audio_muted: true,
      join_video_muted: true,
      auto_create_room: false,
      room_display_name: 'The lounge',
      end_room_session_on_leave: true,
      join_as: 'audience',
      media_allowed: 'audio-only',
      room_meta: { a: 1 },
      meta: { b: 2 },
      enable_room_previews: true,
    })
    const now = rig.clock.now()
    expect(grant).toEqual({
      room: 'lounge',
      userName: 'Vera',
      permissions: ['room.unlock', 'room.recording', 'room.lock'],
      joinFrom: now + 1000,
      joinUntil: now + 2000,
      removeAt: now + 3000,
      removeAfterMs: 60_000,
      isAudioMuted: true,
      isVideoMuted: true,
      mayCreateRoom: false,
      roomDisplayName: 'The lounge',
      endsSessionOnLeave: true,
      role: 'audience',
      media: 'audio-only',
      roomMeta: { a: 1 },
      meta: { b: 2 },
    })
  })

  it('is valid from a later time on, until the latest time of joining', async () => {
    const { expiresAt } = await made({ join_from: inMs(7 * day), join_until: inMs(9 * day) })
    expect(expiresAt * 1000 - rig.clock.now()).toBeGreaterThanOrEqual(9 * day)
  })

  it('is rejected with the name of the wrong field', async () => {
    const room_name = 'lounge'
    expect((await refused({})).slice(0, 2)).toEqual([422, 'room_name'])
    expect((await refused({ room_name: 'a b' })).slice(0, 2)).toEqual([422, 'room_name'])
    expect((await refused({ room_name, permissions: ['room.fly'] })).slice(0, 2)).toEqual([
      422,
      'permissions.0',
    ])
    expect((await refused({ room_name, join_as: 'owner' })).slice(0, 2)).toEqual([422, 'join_as'])
    expect((await refused({ room_name, join_from: 'soon' })).slice(0, 2)).toEqual([422, 'join_from'])
    expect(await refused({ room_name, join_until: inMs(-1) })).toEqual([
      422,
      'join_until',
      'join_until: expected a time in the future',
    ])
    expect((await refused({ room_name, join_from: inMs(day), remove_at: inMs(day) })).slice(0, 2)).toEqual([
      422,
      'remove_at',
    ])
    expect((await refused({ room_name, join_from: inMs(31 * day) })).slice(0, 2)).toEqual([422, 'join_from'])
    expect((await refused({ room_name, meta: { long: 'x'.repeat(2048) } })).slice(0, 2)).toEqual([
      422,
      'meta',
    ])
  })

  it('gives no access to the API of subscribers, and ends by its revocation', async () => {
    const { token } = (await rig.ask('POST', url, { room_name: 'lounge' })).json()
    const answer = await rig.askAs({ url: '/api/fabric/subscriber/info', token })
    expect(answer.statusCode).toBe(401)
    const revoked = await rig.ask('POST', '/api/fabric/subscribers/tokens/revoke', { token })
    expect(revoked.statusCode).toBe(204)
    await expect(rig.roomTokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

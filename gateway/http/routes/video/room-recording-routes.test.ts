import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MemberPlace } from '../../../calls/audio/recording-store.ts'
import { FakeRoomRecording } from '../../../calls/testing/fake-room-recorder.ts'
import { FakeRecorder, wanted } from '../../../recordings/testing/fake-recorder.ts'
import { ApiTestSite, asProject, theirs } from '../../testing/api-test-site.ts'

const ours = asProject()
let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const { projectId } = wanted
const order = { projectId, callId: 'c', legId: 'l' }

/** Starts a recording of a room session. */
const started = (roomSessionId: string, hasMembers = false) => {
  let media: FakeRoomRecording | undefined
  let members: MemberPlace | undefined
  const stored = rig.recordings.startRoom(
    (request, place) => {
      members = place
      media = new FakeRoomRecording(request)
      return media
    },
    { ...order, roomSessionId, hasMembers },
  )
  return { ...stored, media: media!, members }
}

const completed = async (roomSessionId: string) => {
  const recording = started(roomSessionId)
  await writeFile(recording.media.request.path, 'x')
  recording.stop()
  await recording.done
  return recording
}

const get = (url: string, headers: Record<string, string> = ours) => rig.site.inject({ url, headers })
const base = '/api/video/room_recordings'

describe('recordings of rooms', () => {
  it('have their fields, and a link to the file', async () => {
    const { id } = await completed('s1')
    const answer = (await get(`${base}/${id}`)).json()
    expect(answer).toMatchObject({
      id,
      room_session_id: 's1',
      status: 'completed',
      duration: 1.5,
      size_in_bytes: 1,
      format: 'video/webm',
      cost_in_dollars: 0,
    })
    const file = await get(answer.uri.replace('https://gw.example', ''), {})
    expect([file.statusCode, file.headers['content-type'], file.body]).toEqual([200, 'video/webm', 'x'])
    const part = await get(`/api/recordings/${id}/audio`, { ...ours, range: 'bytes=0-0' })
    expect(part.statusCode).toBe(206)
  })

  it('are listed, of one session too, with links of the requested age', async () => {
    rig.clock.advance(1)
    const room = rig.openRoom({ projectId })
    room.join('A')
    const { id: session } = room.session
    const { id } = await completed(session)
    rig.recordings.start(new FakeRecorder(), wanted)
    const all = (await get(base)).json().data as { id: string; format: string }[]
    expect(all[0]).toMatchObject({ id })
    expect(new Set(all.map(({ format }) => format))).toEqual(new Set(['video/webm']))
    const answer = (await get(`/api/video/room_sessions/${session}/recordings?media_ttl=60`)).json()
    expect(answer.data).toMatchObject([{ id, room_session_id: session }])
    const link = answer.data[0].uri.replace('https://gw.example', '')
    rig.clock.advance(61_000)
    expect((await get(link, {})).statusCode).toBe(401)
    expect((await get(`/api/video/room_sessions/${session}/recordings?media_ttl=0`)).statusCode).toBe(422)
  })

  it('tell whether they are paused, and cannot be removed in progress', async () => {
    const recording = started('s3')
    const url = `${base}/${recording.id}`
    const status = async () => (await get(url)).json().status
    await expect.poll(status).toBe('recording')
    recording.pause()
    expect(await status()).toBe('paused')
    const remove = () => rig.site.inject({ method: 'DELETE', url, headers: ours })
    expect((await remove()).statusCode).toBe(409)
    recording.stop()
    await recording.done
    expect((await remove()).statusCode).toBe(204)
    expect((await get(url)).statusCode).toBe(404)
  })

  it('that fail are failed, with the code of the fault and the part that was kept', async () => {
    const recording = started('s5')
    await writeFile(recording.media.request.path, 'x')
    recording.media.finish({ kind: 'error', code: 'ENOSPC', message: 'no space' })
    await recording.done
    const answer = (await get(`${base}/${recording.id}`)).json()
    expect(answer).toMatchObject({ status: 'failed', error: 'recording_failed', uri: expect.any(String) })
  })

  it('that wait for their conversion are processing, with a link to the WebM', async () => {
    const { id } = await completed('s6')
    const row = (await rig.recordings.find(id))!
    await rig.directory.recordings.save({ ...row, conversion: 'pending' })
    const { status, uri, format } = (await get(`${base}/${id}`)).json()
    expect([status, format]).toEqual(['processing', 'video/webm'])
    const file = await get(uri.replace('https://gw.example', ''), {})
    expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'video/webm'])
    await rig.directory.recordings.save({ ...row, error: 'recording_not_converted' })
    expect((await get(`${base}/${id}`)).json()).toMatchObject({
      status: 'completed',
      error: 'recording_not_converted',
      format: 'video/webm',
    })
  })

  it('have the files of members, with links of their own', async () => {
    const recording = started('s7', true)
    const file = { name: '001-audio.wav', member_id: 'm', kind: 'audio' as const, start: 1.5 }
    recording.members!.save({
      room_session_id: 's7',
      room_name: 'lounge',
      started_at: '2026-01-01T00:00:00.000Z',
      members: [],
      files: [file],
      timeline: [],
      is_truncated: false,
    })
    await writeFile(recording.members!.pathOf(file.name), Buffer.alloc(32_044))
    recording.stop()
    await recording.done
    const { files, manifest_uri } = (await get(`${base}/${recording.id}`)).json()
    expect(files).toEqual([
      { ...file, format: 'audio/wav', duration: 1, size_in_bytes: 32_044, uri: expect.any(String) },
    ])
    const path = (uri: string) => uri.replace('https://gw.example', '')
    const fetched = await get(path(files[0].uri), {})
    expect([fetched.statusCode, fetched.headers['content-type'], fetched.rawPayload.length]).toEqual([
      200,
      'audio/wav',
      32_044,
    ])
    const manifest = await get(path(manifest_uri), {})
    expect(manifest.headers['content-type']).toContain('application/json')
    expect(manifest.json()).toMatchObject({ files: [{ ...file, duration: 1 }] })
    const at = `/api/recordings/${recording.id}/files`
    expect((await get(`${at}/001-audio.wav`)).statusCode).toBe(200)
    expect((await get(`${at}/001-audio.wav`, asProject(theirs))).statusCode).toBe(404)
    expect((await get(`${at}/001-audio.wav`, {})).statusCode).toBe(401)
    const query = new URL(files[0].uri).search
    expect((await get(`${at}/manifest.json${query}`, {})).statusCode).toBe(401)
    expect((await get(`/api/recordings/${recording.id}/audio${query}`, {})).statusCode).toBe(401)
    for (const name of ['002-audio.wav', '..%2fx.webm', '%2e%2e%2f%2e%2e%2fsecret.key'])
      expect((await get(`${at}/${name}`)).statusCode).toBe(404)
  })

  it('are those of rooms, and of the own project', async () => {
    const { id } = await completed('s4')
    const call = rig.recordings.start(new FakeRecorder(), wanted)
    for (const [of, headers] of [
      [call.id, ours],
      [id, asProject(theirs)],
      ['unknown', ours],
    ] as const)
      expect((await get(`${base}/${of}`, headers)).statusCode).toBe(404)
    expect((await get('/api/video/room_sessions/s4/recordings')).statusCode).toBe(404)
    expect((await get(base, {})).statusCode).toBe(401)
  })
})

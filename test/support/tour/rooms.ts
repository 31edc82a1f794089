import { script } from '../applications.ts'
import { noFfmpeg } from '../film.ts'
import { rest } from '../rest.ts'
import { until } from '../until.ts'
import { callee } from './calls.ts'
import type { ApiRecorder } from './recorder.ts'

const rooms = '/api/video/rooms'
const conferences = '/api/video/conferences'
const sessions = '/api/video/room_sessions'
const streams = '/api/video/streams'
const conferenceTokens = '/api/video/conference_tokens'
/** Port without a server: a stream to it is tried again for 44 s. */
const streamServer = 'rtmp://127.0.0.1:9'

/** Operations of streams, which need ffmpeg. */
export const streamOperations = /_(?:video|video_room|video_conference|room_session)_streams?$/

/** Video rooms, and a session with two members that is controlled, ended and found in the history. */
export const tourRooms = async (api: ApiRecorder): Promise<void> => {
  const create = { name: 'planning', display_name: 'Planning', max_members: 12 }
  const { id } = await api.json('POST', rooms, create)
  await api.json('POST', rooms, { name: 'planning', max_members: 0 }, { status: 422 })
  await api.json('PATCH', `${rooms}/${id}`, { status_callback_url: 'https://app.example.com/rooms' })
  await api.json('PUT', `${rooms}/${id}`, create)
  await tourSession(api, id)
  await tourConferences(api)
  if (noFfmpeg === undefined) await tourStreams(api, id)
  await api.json('DELETE', `${rooms}/${id}`)
  for (const method of ['GET', 'DELETE'] as const)
    await api.json(method, `${rooms}/${id}`, undefined, { status: 404 })
  for (const method of ['PATCH', 'PUT'] as const)
    await api.json(method, `${rooms}/${id}`, create, { status: 404 })
}

/** Rooms in the form of conferences. */
const tourConferences = async (api: ApiRecorder): Promise<void> => {
  const create = { display_name: 'Board meeting', size: 'small' }
  const { id } = await api.json('POST', conferences, create)
  await api.json('POST', conferences, { size: 'huge' }, { status: 422 })
  await api.json('GET', `${conferences}?page_size=1`)
  await api.json('GET', `${conferences}/${id}`)
  await api.json('PATCH', `${conferences}/${id}`, { size: 'large' })
  await api.json('PUT', `${conferences}/${id}`, create)
  await tourConferenceTokens(api, `${conferences}/${id}/conference_tokens`)
  await api.json('DELETE', `${conferences}/${id}`)
  for (const method of ['GET', 'DELETE'] as const)
    await api.json(method, `${conferences}/${id}`, undefined, { status: 404 })
  for (const method of ['PATCH', 'PUT'] as const)
    await api.json(method, `${conferences}/${id}`, create, { status: 404 })
}

/** Tokens of a conference, one of which is exchanged and reset. */
const tourConferenceTokens = async (api: ApiRecorder, path: string): Promise<void> => {
  const { data } = await api.json('GET', path)
  const { id, token } = data[1]
  const missing = crypto.randomUUID()
  await api.json('GET', path.replace(/[^/]+(?=\/conference_tokens$)/, missing), undefined, { status: 404 })
  await api.json('GET', `${conferenceTokens}/${id}`)
  await api.json('GET', `${conferenceTokens}/${missing}`, undefined, { status: 404 })
  await api.json('POST', `${conferenceTokens}/exchange`, { token, user_name: 'Vera' })
  await api.json('POST', `${conferenceTokens}/${id}/reset`)
  await api.json('POST', `${conferenceTokens}/${missing}/reset`, undefined, { status: 404 })
  await api.json('POST', `${conferenceTokens}/exchange`, { token }, { status: 403 })
  await api.json('POST', `${conferenceTokens}/exchange`, {}, { status: 422 })
}

/** Streams that start with the sessions of a room. */
const tourStreams = async (api: ApiRecorder, room: string): Promise<void> => {
  const create = { url: 'rtmps://live.example.com/app/key' }
  for (const path of [`${conferences}/${room}/streams`, `${rooms}/${room}/streams`]) {
    const { id } = await api.json('POST', path, create)
    await api.json('POST', path, { url: 'https://live.example.com/' }, { status: 422 })
    await api.json('GET', `${path}?page_size=1`)
    await api.json('GET', `${path.replace(room, crypto.randomUUID())}`, undefined, { status: 404 })
    await api.json('GET', `${streams}/${id}`)
    await api.json('PATCH', `${streams}/${id}`, create)
    await api.json('PUT', `${streams}/${id}`, create)
    await api.json('DELETE', `${streams}/${id}`)
    for (const method of ['GET', 'DELETE'] as const)
      await api.json(method, `${streams}/${id}`, undefined, { status: 404 })
    for (const method of ['PATCH', 'PUT'] as const)
      await api.json(method, `${streams}/${id}`, create, { status: 404 })
  }
}

/** Streams of a session in progress. */
const tourSessionStreams = async (api: ApiRecorder, session: string): Promise<void> => {
  api.stable.rename(streamServer, 'rtmp://live.example.com')
  const { id } = await api.json('POST', `${session}/streams`, { url: `${streamServer}/live/key` })
  await api.json('POST', `${session}/streams`, { url: 'rtmp://live.example.com/key' }, { status: 422 })
  await api.json('GET', `${session}/streams`)
  await api.json('GET', `${session}/streams/${id}`)
  await api.json('GET', `${session}/streams/${crypto.randomUUID()}`, undefined, { status: 404 })
  await api.json('DELETE', `${session}/streams/${id}`)
  await api.json('DELETE', `${session}/streams/${id}`, undefined, { status: 404 })
}

const tourSession = async (api: ApiRecorder, room: string): Promise<void> => {
  const callees = [await joins(api), await joins(api)]
  const { data } = await until(
    'two members are in the room',
    () => api.json('GET', `${sessions}?room_name=planning`),
    (answer) => answer.data[0]?.members_present === 2,
  )
  const session = `${sessions}/${data[0].id}`
  await api.json('GET', `${rooms}?include_active_session=true&page_size=1`)
  await api.json('GET', `${rooms}/${room}`)
  await tourMembers(api, session)
  if (noFfmpeg === undefined) await tourSessionStreams(api, session)
  await api.json('PATCH', session, { layout: 'spiral' }, { status: 422 })
  await api.json('PATCH', session, { locked: true })
  await api.json('PATCH', session, { status: 'completed' })
  await api.json('PATCH', session, { status: 'completed' }, { status: 409 })
  for (const callee of callees) await callee.done()
  await api.gateway.settled()
  await api.json('GET', session)
  await api.json('GET', `${session}/events`)
  await api.json('GET', `${sessions}/${crypto.randomUUID()}`, undefined, { status: 404 })
  await api.json('GET', '/api/video/logs?page_size=1')
  await api.json('GET', `/api/video/logs/${data[0].id}`)
}

const tourMembers = async (api: ApiRecorder, session: string): Promise<void> => {
  await until(
    'the figures of both members are measured',
    () => rest(api.gateway, 'GET', `${session}/members`),
    ({ body }) => body.data.every(({ figures }: { readonly figures: unknown }) => figures !== null),
  )
  const { data } = await api.json('GET', `${session}/members`)
  const [first, second] = data.map(({ id }: { readonly id: string }) => `${session}/members/${id}`)
  await api.json('GET', first)
  await api.json('PATCH', first, { audio_muted: true })
  await api.json('DELETE', second)
  await api.json('DELETE', second, undefined, { status: 404 })
}

/** Calls a telephone, which then joins the room. */
const joins = async (api: ApiRecorder) => {
  const carrier = await callee(api)
  const swml = script({ join_room: { name: 'planning' } }, 'hangup')
  await api.json('POST', '/api/calling/calls', {
    command: 'dial',
    params: { from: '+15550100', to: carrier.uri, swml },
  })
  await carrier.sipp.event('confirmed')
  return carrier
}

import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { OpenConference } from '../../calls/conference/open-conferences.ts'
import { FakeRoomRecording } from '../../calls/testing/fake-room-recorder.ts'
import { callSummaryOf, legOf, startedCall } from '../../cdr/testing/call-summaries.ts'
import { FakeRecorder, silentWav, wanted } from '../../recordings/testing/fake-recorder.ts'
import { type ApiTestSite, asProject, type TestProject } from './api-test-site.ts'

/** One of everything that paths name, by path: `/api/fabric/carriers/{id}`. */
export type SampleResources = ReadonlyMap<string, string>

const url = 'https://customer.example/document'
/** Server that receives streams of rooms. */
const server = 'rtmp://live.example/app/key'
const script = { version: '1.0.0', sections: { main: ['answer'] } }

/** Bodies with which each kind is made, by where; `n` keeps names apart that are unique over all projects. */
export const bodiesOf = (n: string): Readonly<Record<string, object>> => ({
  '/api/fabric/resources/subscribers': { email: `carol-${n}@example.test`, password: 'long enough' },
  '/api/fabric/resources/sip_endpoints': { username: `one-${n}`, password: 'long enough' },
  '/api/fabric/resources/swml_scripts': { name: `script ${n}`, contents: script },
  '/api/fabric/resources/swml_webhooks': { name: `hook ${n}`, primary_request_url: url },
  '/api/fabric/resources/cxml_scripts': { display_name: `xml ${n}`, contents: '<Response/>' },
  '/api/fabric/resources/cxml_webhooks': { name: `xml hook ${n}`, primary_request_url: url },
  '/api/fabric/resources/call_flows': { title: `flow ${n}`, relayml: script },
  '/api/fabric/resources/relay_applications': { name: `app ${n}`, topic: `topic-${n}` },
  '/api/fabric/resources/sip_gateways': { name: `gateway ${n}`, uri: 'sip:desk@pbx.example' },
  '/api/fabric/resources/conference_rooms': { name: `room-${n}` },
  '/api/fabric/resources/ai_agents': { name: `agent ${n}`, prompt: { text: 'Help callers.' } },
  '/api/video/rooms': { name: `video-room-${n}` },
  '/api/video/conferences': { display_name: `Video conference ${n}` },
  '/api/fabric/subscribers': { email: `dave-${n}@example.test`, password: 'long enough' },
  '/api/fabric/subscribers/{id}/sip_endpoints': { username: `two-${n}`, password: 'long enough' },
  '/api/relay/rest/domain_applications': { name: `domain ${n}`, identifier: `domain-${n}` },
  '/api/relay/rest/endpoints/sip': { username: `three-${n}`, password: 'long enough' },
  '/api/fabric/carriers': { name: `carrier-${n}`, targets: ['sip:carrier.example'] },
  '/api/project/tokens': { name: `token ${n}`, permissions: ['calling'] },
  '/api/oauth_clients': { name: `client ${n}`, redirect_uris: ['https://app.example/back'] },
  '/api/fabric/subscriber/devices': { device_token: `device ${n}`, device_type: 'Android' },
  '/api/laml/2010-04-01/Accounts/{account}/Applications': { VoiceUrl: url, FriendlyName: `app ${n}` },
  '/api/laml/2010-04-01/Accounts/{account}/LamlBins': { Name: `bin ${n}`, Contents: '<Response/>' },
})

/** Paths that reach the same resources. */
const aliases: Readonly<Record<string, string>> = {
  '/api/fabric/domain_applications/{id}': '/api/relay/rest/domain_applications/{id}',
  '/subscriber/devices/{id}': '/api/fabric/subscriber/devices/{id}',
  '/api/fabric/resources/{id}': '/api/fabric/resources/swml_scripts/{id}',
  '/api/fabric/resources/subscribers/{id}': '/api/fabric/subscribers/{id}',
  '/api/fabric/resources/call_flow/{id}': '/api/fabric/resources/call_flows/{id}',
  '/api/fabric/resources/subscribers/{id}/sip_endpoints/{endpoint_id}':
    '/api/fabric/subscribers/{id}/sip_endpoints/{endpoint_id}',
}

/**
 * Makes one of everything in a project, through the API where it can be; `n` is part of their names. Throws
 * where something is rejected.
 */
export const makeSampleResources = async (
  rig: ApiTestSite,
  project: TestProject,
  n = project.id,
): Promise<SampleResources> => {
  const things = new Map([['/api/laml/2010-04-01/Accounts/{account}', project.id]])
  for (const [path, body] of Object.entries(bodiesOf(n)))
    things.set(`${path}/{${nameOf(path)}}`, await make(rig, project, pathOf(things, path), body))
  const { id, address } = rig.directory.subscriberByEmail(project.id, `dave-${n}@example.test`)!
  const resource = rig.directory.resources.find(project.id, undefined, id)
  if (!resource) throw new Error(`${address} is no resource.`)
  things.set('/api/fabric/addresses/{id}', resource.address.id)
  const agentPath = '/api/fabric/resources/ai_agents/{id}'
  const [version] = await rig.directory.resources.agentVersions(project.id, things.get(agentPath)!)
  things.set(`${agentPath}/versions/{version_id}`, version!.id)
  await addConversation(rig, project, things)
  await addCalls(rig, project, things)
  addRooms(rig, project, things)
  await addVideoRoom(rig, project, things)
  for (const [alias, path] of Object.entries(aliases)) things.set(alias, things.get(path)!)
  return things
}

/** Returns a path with the ids of sample resources. Throws if a kind has no sample; a new route needs one. */
export const pathOf = (things: SampleResources, path: string): string =>
  path.replaceAll(/\{\w+\}/g, (_name, at: number) => {
    const upTo = path.slice(0, path.indexOf('}', at) + 1)
    const id = things.get(upTo)
    if (id === undefined)
      throw new Error(`gateway/http/testing/sample-resources.ts makes nothing for ${upTo}.`)
    return encodeURIComponent(id)
  })

const nameOf = (path: string): string => {
  if (path.includes('/Accounts/')) return 'sid'
  return path.includes('{id}') ? 'endpoint_id' : 'id'
}

const make = async (rig: ApiTestSite, project: TestProject, path: string, body: object): Promise<string> => {
  const isForm = path.includes('/Accounts/')
  const bearer = `Bearer ${await rig.tokenOf('alice@example.test', project)}`
  const reply = await rig.site.inject({
    method: 'POST',
    url: path,
    headers: {
      ...(path.includes('/subscriber/') ? { authorization: bearer } : asProject(project)),
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    },
    payload: isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body),
  })
  if (reply.statusCode >= 300) throw new Error(`POST ${path}: ${reply.statusCode} ${reply.body}`)
  const { id, sid } = reply.json()
  return id ?? sid
}

/** Creates a conversation of Alice with the sample address. */
const addConversation = async (
  rig: ApiTestSite,
  project: TestProject,
  things: Map<string, string>,
): Promise<void> => {
  const reply = await rig.askAs({
    method: 'POST',
    url: '/api/fabric/messages',
    token: await rig.tokenOf('alice@example.test', project),
    payload: { conversation_id: things.get('/api/fabric/addresses/{id}'), text: 'Hello' },
  })
  if (reply.statusCode !== 201)
    throw new Error(`POST /api/fabric/messages: ${reply.statusCode} ${reply.body}`)
  things.set('/api/fabric/conversations/{id}', reply.json().group_id)
}

/** A call that is over, its records, and a recording of it. */
const addCalls = async (
  { records, recordings }: ApiTestSite,
  { id: projectId }: TestProject,
  things: Map<string, string>,
): Promise<void> => {
  const id = randomUUID()
  const leg = randomUUID()
  records.began(startedCall({ id, projectId }))
  records.ended(id, { status: 'completed', endedAt: 1_700_000_010_000, code: 'normal' })
  records.keep(callSummaryOf({ call: id, projectId, legs: [legOf({ leg })] }))
  await records.settled()
  const port = new FakeRecorder()
  const kept = recordings.start(port, { ...wanted, projectId, callId: id })
  const file = silentWav(100)
  await writeFile(port.last.request.path, file)
  port.last.finish({ end: { kind: 'silence' }, durationMs: 100, bytes: file.length, hasFile: true })
  await kept.done
  const account = '/api/laml/2010-04-01/Accounts/{account}'
  for (const path of ['/api/records/calls/{id}', '/api/voice/logs/{id}', `${account}/Calls/{sid}`])
    things.set(path, id)
  things.set('/api/records/legs/{id}', leg)
  for (const path of ['/api/recordings/{id}', `${account}/Recordings/{sid}`]) things.set(path, kept.id)
  things.set(`${account}/Calls/{sid}/Recordings/{part}`, kept.id)
  // No call is in progress, so there is no stream.
  things.set(`${account}/Calls/{sid}/Streams/{part}`, randomUUID())
}

/** Adds a conference with one participant, and a queue with one waiting caller. */
const addRooms = (rig: ApiTestSite, { id: projectId }: TestProject, things: Map<string, string>): void => {
  const [conference, queue, call, waiting] = Array.from({ length: 4 }, () => randomUUID())
  const attendee: OpenConference['participants'][number] = {
    callId: call!,
    joinedAt: 0,
    isMuted: false,
    isHeld: false,
    options: {} as never,
    mute: () => {},
    hold: () => {},
    announce: () => {},
    change: () => {},
    remove: () => {},
  }
  const room = { id: conference!, name: 'meeting', openedAt: 0, isStarted: true, end: () => {} }
  rig.conferences.set(projectId, [{ ...room, participants: [attendee] }])
  const members = [{ callId: waiting!, since: 0 }]
  rig.queues.set(projectId, [
    { id: queue!, name: 'help', openedAt: 0, maxSize: 10, averageWaitMs: 0, members },
  ])
  const account = '/api/laml/2010-04-01/Accounts/{account}'
  things.set(`${account}/Conferences/{sid}`, conference!)
  things.set(`${account}/Conferences/{sid}/Participants/{part}`, call!)
  things.set(`${account}/Queues/{sid}`, queue!)
  things.set(`${account}/Queues/{sid}/Members/{part}`, waiting!)
}

/** Adds a video room with one member, and a recording of it that has ended. */
const addVideoRoom = async (
  rig: ApiTestSite,
  project: TestProject,
  things: Map<string, string>,
): Promise<void> => {
  const { id: projectId } = project
  const id = things.get('/api/video/rooms/{id}')!
  things.set(
    '/api/video/streams/{id}',
    await make(rig, project, `/api/video/rooms/${id}/streams`, { url: server }),
  )
  const conference = things.get('/api/video/conferences/{id}')!
  const [token] = await rig.conferenceTokens.ofRoom(projectId, conference)
  things.set('/api/video/conference_tokens/{id}', token!.id)
  const room = rig.openRoom({ projectId, id })
  const memberId = randomUUID()
  room.join(memberId)
  for (const path of ['/api/video/room_sessions/{id}', '/api/video/logs/{id}'])
    things.set(path, room.session.id)
  things.set('/api/video/room_sessions/{id}/members/{member_id}', memberId)
  things.set('/api/video/room_sessions/{id}/streams/{stream_id}', room.session.streams.start(server).id)
  const roomSessionId = room.session.id
  const order = { projectId, callId: randomUUID(), legId: randomUUID(), roomSessionId, hasMembers: true }
  // Another name in each project, as ids are.
  const name = `${randomUUID()}.wav`
  const recording = rig.recordings.startRoom((request, members) => {
    writeFileSync(request.path, 'x')
    writeFileSync(members!.pathOf(name), 'x')
    members!.save({
      room_session_id: roomSessionId,
      room_name: 'room',
      started_at: new Date(0).toISOString(),
      members: [],
      files: [{ name, member_id: memberId, kind: 'audio', start: 0 }],
      timeline: [],
      is_truncated: false,
    })
    return new FakeRoomRecording(request)
  }, order)
  recording.stop()
  await recording.done
  things.set('/api/video/room_recordings/{id}', recording.id)
  things.set('/api/recordings/{id}', recording.id)
  things.set('/api/recordings/{id}/files/{name}', name)
}

import type { ApiRecorder } from './recorder.ts'

/** A kind of resource: the object of the tour, and a change of it. */
interface Kind {
  readonly path: string
  readonly create: object
  readonly change: object
  /** A body with faults, for the example of a rejected request. */
  readonly wrong: object
}

const script = {
  version: '1.0.0',
  sections: { main: ['answer', { play: { url: 'say:Welcome to Example Shop.' } }, 'hangup'] },
}
const xml = '<Response><Say>Welcome to Example Shop.</Say><Hangup/></Response>'
const flow = {
  nodes: {
    in: { kind: 'start', edges: { next: 'welcome' } },
    welcome: { kind: 'play', options: { url: 'say:Welcome to Example Shop.' } },
  },
}

const kinds: readonly Kind[] = [
  {
    path: 'subscribers',
    create: {
      email: 'carol@example.com',
      password: 'correct-horse',
      first_name: 'Carol',
      last_name: 'Clark',
    },
    change: { job_title: 'Support', may_dial_out: true, max_calls: 2 },
    wrong: { email: 'carol' },
  },
  {
    path: 'sip_endpoints',
    create: {
      username: 'desk-12',
      password: 'correct-horse-12',
      caller_id: '+15550100',
      codecs: ['PCMA', 'PCMU'],
    },
    change: { encryption: 'required' },
    wrong: { username: 'desk 12', codecs: ['G729'] },
  },
  {
    path: 'swml_scripts',
    create: { name: 'Welcome', contents: script },
    change: { status_callback_url: 'https://app.example.com/status' },
    wrong: { name: 'Welcome', contents: { version: '1.0.0', sections: { main: [{ dail: {} }] } } },
  },
  {
    path: 'swml_webhooks',
    create: { name: 'Shop', primary_request_url: 'https://app.example.com/call.json' },
    change: { fallback_request_url: 'https://backup.example.com/call.json', fallback_request_method: 'GET' },
    wrong: { primary_request_url: 'ftp://app.example.com' },
  },
  {
    path: 'cxml_scripts',
    create: { display_name: 'Welcome', contents: xml },
    change: { contents: xml.replace('Welcome', 'Good morning. Welcome') },
    wrong: { display_name: 'Welcome', contents: '<Response><Say>Hello</Response>' },
  },
  {
    path: 'cxml_webhooks',
    create: { name: 'Shop', primary_request_url: 'https://app.example.com/call.xml' },
    change: { primary_request_method: 'GET' },
    wrong: { name: 'Shop' },
  },
  {
    path: 'call_flows',
    create: { title: 'Reception', flow_data: flow },
    change: { title: 'Reception of the shop' },
    wrong: { flow_data: { nodes: {} } },
  },
  {
    path: 'relay_applications',
    create: { name: 'Voice bot', topic: 'support' },
    change: { call_status_callback_url: 'https://app.example.com/status' },
    wrong: { name: 'Voice bot' },
  },
  {
    path: 'sip_gateways',
    create: { name: 'Head office', uri: 'sip:pbx.example.com', encryption: 'optional' },
    change: { codecs: ['PCMA'] },
    wrong: { name: 'Head office', uri: 'pbx' },
  },
  {
    path: 'conference_rooms',
    create: { name: 'standup', display_name: 'Daily stand-up', max_members: 12 },
    change: { record_on_start: true },
    wrong: { name: 'standup', max_members: 0 },
  },
  {
    path: 'ai_agents',
    create: { name: 'Receptionist', prompt: { text: 'You answer the calls of Example Shop.' } },
    change: { hints: ['Example Shop'] },
    wrong: { prompt: { text: 'You answer.' } },
  },
]

/** Creates, reads, changes and removes an object of each kind of resource. */
export const tourResources = async (api: ApiRecorder): Promise<void> => {
  const ids: string[] = []
  for (const kind of kinds) ids.push(await tourKind(api, `/api/fabric/resources/${kind.path}`, kind))
  await tourKind(api, '/api/fabric/subscribers', {
    ...kinds[0]!,
    create: { email: 'dave@example.com', password: 'correct-horse', first_name: 'Dave' },
  })
  await tourAll(api, ids)
}

/** Leaves one object of the kind, and returns its id. */
const tourKind = async (api: ApiRecorder, path: string, { create, change, wrong }: Kind): Promise<string> => {
  const { id } = await api.json('POST', path, create)
  await api.json('POST', path, wrong, { status: 422 })
  await api.json('GET', `${path}?page_size=2`)
  await api.json('GET', `${path}/${id}`)
  await api.json('PATCH', `${path}/${id}`, change)
  await api.json('PATCH', `${path}/${id}`, { pasword: 'correct-horse' }, { status: 422 })
  await api.json('PUT', `${path}/${id}`, create)
  await api.json('GET', `${path}/${id}/addresses`)
  await api.json('DELETE', `${path}/${id}`)
  for (const method of ['GET', 'DELETE'] as const)
    await api.json(method, `${path}/${id}`, undefined, { status: 404 })
  for (const method of ['PATCH', 'PUT'] as const)
    await api.json(method, `${path}/${id}`, create, { status: 404 })
  return (await api.json('POST', path, create)).id
}

/** Routes over all kinds of resources, and their addresses. */
const tourAll = async (api: ApiRecorder, ids: readonly string[]): Promise<void> => {
  const resources = '/api/fabric/resources'
  await api.json('GET', `${resources}?page_size=2`)
  const { data } = await api.json('GET', `${resources}?page_size=100`)
  const idOf = (type: string): string => data.find((each: { type: string }) => each.type === type).id
  const room = ids[9]!
  await api.json('GET', `${resources}/${room}`)
  await api.json('GET', `${resources}/${room}/addresses`)
  await tourFlowVersions(api, idOf('call_flow'))
  await tourAgentVersions(api, idOf('ai_agent'))
  await tourEndpoints(api, idOf('subscriber'))
  await api.json('DELETE', `${resources}/${ids[10]}`)
  await api.json('DELETE', `${resources}/${ids[10]}`, undefined, { status: 404 })
  await api.json('GET', resources, undefined, { status: 401, credentials: 'Basic ZGVtbzp3cm9uZw==' })
}

const tourFlowVersions = async (api: ApiRecorder, id: string): Promise<void> => {
  for (const path of ['call_flow', 'call_flows']) {
    const flow = `/api/fabric/resources/${path}/${id}`
    await api.json('POST', `${flow}/versions`, { document_version: 1 })
    await api.json('GET', `${flow}/versions`)
  }
  await api.json('GET', `/api/fabric/resources/call_flow/${id}/addresses`)
}

const tourAgentVersions = async (api: ApiRecorder, id: string): Promise<void> => {
  const versions = `/api/fabric/resources/ai_agents/${id}/versions`
  const { data } = await api.json('GET', versions)
  await api.json('GET', `${versions}/${data[0].id}`)
  await api.json('GET', `${versions}/${id}`, undefined, { status: 404 })
  await api.json('POST', versions, { document_version: 1 })
  await api.json('POST', versions, { document_version: 9 }, { status: 422 })
}

/** SIP endpoints of a subscriber, and the assignment of one that exists. */
const tourEndpoints = async (api: ApiRecorder, subscriber: string): Promise<void> => {
  for (const [at, base] of ['/api/fabric/subscribers', '/api/fabric/resources/subscribers'].entries()) {
    const path = `${base}/${subscriber}/sip_endpoints`
    const { id } = await api.json('POST', path, { username: `carol-${at}`, password: 'correct-horse-13' })
    await api.json('GET', path)
    await api.json('GET', `${path}/${id}`)
    await api.json('PUT', `${path}/${id}`, { caller_id: '+15550101' })
    await api.json('PATCH', `${path}/${id}`, { codecs: ['OPUS', 'PCMU'] })
    await api.json('DELETE', `${path}/${id}`)
  }
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, ours, theirs } from '../../testing/api-test-site.ts'

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const hello = { version: '1.0.0', sections: { main: [{ answer: {} }, { play: { url: 'say:Hello' } }] } }
const url = 'https://app.example/a?b=c'

/** Body that creates each kind of resource, additional response fields, and a change. */
const kinds: readonly [path: string, type: string, body: object, shown: object, change: object][] = [
  [
    'subscribers',
    'subscriber',
    { email: 'Carol@Example.test', password: 'long-enough', first_name: 'Carol', timezone: 'Europe/Berlin' },
    { email: 'carol@example.test', display_name: 'Carol', timezone: 'Europe/Berlin', country: null },
    { job_title: 'Chief', first_name: null },
  ],
  [
    'swml_scripts',
    'swml_script',
    { name: 'Hello', contents: hello, status_callback_url: url },
    { name: 'Hello', contents: hello, status_callback_url: url, request_url: null },
    { name: 'Hello again', status_callback_url: null },
  ],
  [
    'swml_webhooks',
    'swml_webhook',
    { primary_request_url: url },
    { name: 'app.example', primary_request_url: url, primary_request_method: 'POST' },
    { name: 'Named', fallback_request_url: `${url}&d`, fallback_request_method: 'GET' },
  ],
  [
    'cxml_scripts',
    'cxml_script',
    { display_name: 'Bye', contents: '<Response><Hangup/></Response>' },
    { display_name: 'Bye', contents: '<Response><Hangup/></Response>' },
    { contents: '<Response/>' },
  ],
  [
    'cxml_webhooks',
    'cxml_webhook',
    { name: 'Menu', primary_request_url: url, primary_request_method: 'GET' },
    { name: 'Menu', used_for: 'calling', primary_request_method: 'GET', fallback_request_url: null },
    { primary_request_method: 'POST' },
  ],
  [
    'call_flows',
    'call_flow',
    { title: 'Menu', relayml: hello },
    { title: 'Menu', relayml: hello, flow_data: null, document_version: 1, deployed_version: null },
    { title: 'Main menu' },
  ],
  [
    'relay_applications',
    'relay_application',
    { name: 'App', topic: 'office' },
    { name: 'App', topic: 'office', call_status_callback_url: null },
    { topic: 'home' },
  ],
  [
    'sip_endpoints',
    'sip_endpoint',
    { username: 'desk7', password: 'long-enough', codecs: ['OPUS', 'PCMA'], call_handler: 'passthrough' },
    { username: 'desk7', caller_id: 'desk7', codecs: ['OPUS', 'PCMA'], call_handler: 'passthrough' },
    { caller_id: '+4930123', call_handler: 'default', send_as: null },
  ],
  [
    'sip_gateways',
    'sip_gateway',
    { name: 'Branch', uri: 'sip:branch@pbx.example;transport=tls', encryption: 'required' },
    { name: 'Branch', uri: 'sip:branch@pbx.example;transport=tls', encryption: 'required' },
    { codecs: ['G722'] },
  ],
  [
    'conference_rooms',
    'room',
    { name: 'lounge', display_name: 'The lounge', max_members: 5, quality: '1080p' },
    { name: 'lounge', display_name: 'The lounge', max_members: 5, record_on_start: false },
    { max_members: null, record_on_start: true },
  ],
  [
    'ai_agents',
    'ai_agent',
    { name: 'Agent', prompt: { text: 'Be kind.' }, multilingual: { start_language: 'en' } },
    { name: 'Agent', prompt: { text: 'Be kind.' }, multilingual: { start_language: 'en' } },
    { hints: ['kind'], post_prompt_url: 'https://app.example/report', global_data: { tier: 1 } },
  ],
]

describe.each(kinds)('%s', (path, type, body, shown, change) => {
  const base = `/api/fabric/resources/${path}`

  it('can be created, read, listed, changed and removed', async () => {
    const made = await rig.make(base, body)
    expect(made).toMatchObject({
      project_id: 'p1',
      type,
      managed_by: 'api',
      [type]: { id: made.id, ...shown },
    })
    expect(JSON.stringify(made)).not.toContain('long-enough')
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toEqual(made)
    expect((await rig.send('GET', `/api/fabric/resources/${made.id}`)).body).toEqual(made)
    const listed = (await rig.send('GET', `${base}?page_size=1000`)).body
    expect(listed.data.filter(({ id }: { id: string }) => id === made.id)).toEqual([made])
    const changed = await rig.send('PUT', `${base}/${made.id}`, change)
    expect(changed).toMatchObject({ status: 200, body: { id: made.id, [type]: change } })
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toEqual(changed.body)
    const addresses = (await rig.send('GET', `${base}/${made.id}/addresses`)).body
    expect(addresses.data).toMatchObject([{ resource_id: made.id, locked: false }])
    expect((await rig.send('GET', `/api/fabric/resources/${made.id}/addresses`)).body.data).toEqual(
      addresses.data,
    )
    expect((await rig.send('DELETE', `${base}/${made.id}`)).status).toBe(204)
    expect((await rig.send('GET', `${base}/${made.id}`)).status).toBe(404)
    expect((await rig.send('DELETE', `${base}/${made.id}`)).status).toBe(404)
  })

  it('belong to one project', async () => {
    const made = await rig.make(base, body)
    for (const at of [
      `${base}/${made.id}`,
      `/api/fabric/resources/${made.id}`,
      `${base}/${made.id}/addresses`,
    ])
      expect((await rig.send('GET', at, undefined, theirs)).status, at).toBe(404)
    expect((await rig.send('PATCH', `${base}/${made.id}`, change, theirs)).status).toBe(404)
    expect((await rig.send('DELETE', `${base}/${made.id}`, undefined, theirs)).status).toBe(404)
    expect(JSON.stringify((await rig.send('GET', base, undefined, theirs)).body)).not.toContain(made.id)
    expect((await rig.send('DELETE', `${base}/${made.id}`)).status).toBe(204)
  })

  it('are rejected with the name of every missing or wrong field', async () => {
    const { status, body: faults } = await rig.send('POST', base, { id: 'mine', project_id: 'p2' })
    expect(status).toBe(422)
    const named = faults.errors.map((e: { attribute: string }) => e.attribute)
    expect(named).toEqual(expect.arrayContaining(['id', 'project_id']))
    expect((await rig.send('GET', `${base}/not-an-id`)).status).toBe(404)
    expect((await rig.send('GET', base, undefined, { ...ours, apiToken: 'wrong' })).status).toBe(401)
  })
})

describe('resources', () => {
  it('have addresses that can be chosen and changed, and keep their ids', async () => {
    const room = await rig.make('/api/fabric/resources/conference_rooms', { name: 'north' })
    expect(room.address).toBe('/public/north')
    const moved = await rig.send('PATCH', `/api/fabric/resources/conference_rooms/${room.id}`, {
      address: '/private/north-wing',
    })
    expect(moved.body).toMatchObject({ id: room.id, address: '/private/north-wing', display_name: 'north' })
    expect(rig.directory.resolve('/public/north', 'p1')).toBeUndefined()
    expect(rig.directory.resolve('/private/north-wing', 'p1')).toMatchObject({ kind: 'handler' })
    const taken = await rig.send('POST', '/api/fabric/resources/relay_applications', {
      name: 'x',
      topic: 'x',
      address: '/private/north-wing',
    })
    expect(taken).toMatchObject({ status: 422, body: { errors: [{ code: 'address_taken' }] } })
    for (const address of ['north', '/a', '/a/b/c', '/a/b?c', '/a b/c', '//', `/a/${'b'.repeat(101)}`])
      expect(
        attributes(await rig.send('PATCH', `/api/fabric/resources/conference_rooms/${room.id}`, { address })),
      ).toContain('address')
  })

  it('are listed by kind, part of the name, and page', async () => {
    for (const name of ['red-1', 'red-2', 'red-3'])
      await rig.make('/api/fabric/resources/conference_rooms', { name })
    const base = '/api/fabric/resources?type=room&display_name=RED&page_size=2'
    const first = (await rig.send('GET', base)).body
    expect(first.data).toHaveLength(2)
    const second = (await rig.send('GET', first.links.next)).body
    expect(second.data.map((r: { display_name: string }) => r.display_name)).toEqual(['red-3'])
    expect(second.links.next).toBeUndefined()
    expect((await rig.send('GET', `${base}&page_token=1`)).body).toEqual(second)
    expect((await rig.send('GET', second.links.prev)).body.data).toEqual(first.data)
    const last = await rig.send('GET', `${base}&sort_by=name&sort_order=desc`)
    expect(last.body.data[0].room.name).toBe('red-3')
    expect((await rig.send('GET', '/api/fabric/resources?type=nothing')).status).toBe(422)
  })

  it('accept fields without effect, and log them', async () => {
    await rig.make('/api/fabric/resources/conference_rooms', { name: 'noted', quality: '720p', fps: 20 })
    expect(rig.lines.at(-1)).not.toContain('720p')
    expect(rig.lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ msg: 'fields without effect', fields: ['quality', 'fps'] }),
    )
  })

  it('of the configuration file are listed, and cannot be changed', async () => {
    const { body } = await rig.send('GET', '/api/fabric/resources?address=/public/help')
    const [help] = body.data
    expect(help).toMatchObject({ managed_by: 'file', type: 'swml_script', address: '/public/help' })
    const at = `/api/fabric/resources/swml_scripts/${help.id}`
    for (const answer of [
      await rig.send('PATCH', at, { name: 'Mine' }),
      await rig.send('DELETE', at),
      await rig.send('DELETE', `/api/fabric/resources/${help.id}`),
    ])
      expect(answer).toMatchObject({ status: 409, body: { errors: [{ code: 'managed_by_file' }] } })
  })

  it('cannot be removed as another kind, nor subscribers with a token for resources only', async () => {
    const carol = await rig.make('/api/fabric/subscribers', { email: 'c@x.test', password: 'long-enough' })
    expect((await rig.send('DELETE', `/api/fabric/resources/sip_gateways/${carol.id}`)).status).toBe(404)
    const limited = { name: 'resources', scopes: ['resources'] } as const
    const { secret } = await rig.directory.projects.addToken(ours.id, limited)
    const only = { ...ours, apiToken: secret }
    const at = `/api/fabric/resources/${carol.id}`
    expect((await rig.send('DELETE', at, undefined, only)).status).toBe(403)
    expect((await rig.send('GET', '/api/fabric/subscribers', undefined, only)).status).toBe(403)
    expect((await rig.send('DELETE', at)).status).toBe(204)
  })
})

it('a resource whose address is taken gets a numbered address, in the response and the log', async () => {
  const make = (more: object) =>
    rig.send('POST', '/api/fabric/resources/cxml_scripts', {
      display_name: 'Front desk',
      contents: '<Response/>',
      ...more,
    })
  const logged = () =>
    rig.lines.filter((line) => line.includes('resource.numbered')).map((line) => JSON.parse(line))
  expect((await make({})).body.address).toBe('/public/front-desk')
  expect(logged()).toEqual([])
  expect((await make({})).body.address).toBe('/public/front-desk-2')
  expect(logged()).toMatchObject([{ address: '/public/front-desk-2', taken: '/public/front-desk' }])
  expect((await make({ display_name: 'Front desk-3' })).body.address).toBe('/public/front-desk-3')
  expect(logged()).toHaveLength(1)
  const chosen = await make({ address: '/public/front-desk' })
  expect([chosen.status, chosen.body.errors[0].code]).toEqual([422, 'address_taken'])
})

it.each(['ftp://a.example/', 'http://', 'http://a.example:99999/', 'http://[1::2/', '/document'])(
  'a URL is rejected: %s',
  async (primary_request_url) => {
    const answer = await rig.send('POST', '/api/fabric/resources/swml_webhooks', { primary_request_url })
    expect([answer.status, ...attributes(answer)]).toContain('primary_request_url')
  },
)

describe('documents', () => {
  it.each<[string, object, string, string]>([
    [
      'swml_scripts',
      { name: 'x', contents: { version: '1.0.0', sections: { main: [{ plai: {} }] } } },
      'contents',
      '/sections/main/0',
    ],
    [
      'swml_scripts',
      { name: 'x', contents: 'version: 1.0.0\nsections:\n  main:\n    - hangup: { reason: 1 }' },
      'contents',
      'line 4',
    ],
    ['cxml_scripts', { display_name: 'x', contents: '<Response><Dial>' }, 'contents', 'line 1'],
    ['call_flows', { title: 'x', relayml: { sections: {} } }, 'relayml', '/sections'],
    [
      'call_flows',
      { title: 'x', flow_data: { nodes: { a: { kind: 'start', edges: { next: 'b' } } } } },
      'flow_data',
      '/nodes/a/edges/next',
    ],
  ])('%s are checked: %j', async (path, body, attribute, place) => {
    const { status, body: answer } = await rig.send('POST', `/api/fabric/resources/${path}`, body)
    expect(status).toBe(422)
    expect(answer.errors).toMatchObject([{ code: 'document_invalid', attribute }])
    expect(answer.errors[0].message).toContain(place)
  })

  it('are rejected if too large, and accepted up to 64 kB', async () => {
    const xml = (size: number) => `<Response><!--${'"'.repeat(size - 27)}--></Response>`
    const post = (contents: string) =>
      rig.send('POST', '/api/fabric/resources/cxml_scripts', { display_name: 'x', contents })
    expect((await post(xml(65_000))).status).toBe(201)
    expect(attributes(await post(xml(70_000)))).toEqual(['contents'])
  })

  it('can be YAML, and stay as they were written', async () => {
    const contents = '# Greets.\nsections:\n  main:\n    - answer: {}\n'
    const made = await rig.make('/api/fabric/resources/swml_scripts', { name: 'Yaml', contents })
    expect(made.swml_script.contents).toBe(contents)
  })

  it('are rejected with characters that databases cannot store', async () => {
    const contents = 'sections: { main: [] } #\u0000'
    const answer = await rig.send('POST', '/api/fabric/resources/swml_scripts', { name: 'x', contents })
    expect(answer.status).toBe(422)
  })
})

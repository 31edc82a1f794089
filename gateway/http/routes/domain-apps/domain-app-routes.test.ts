import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, type TestProject, theirs } from '../../testing/api-test-site.ts'

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const base = '/api/relay/rest/domain_applications'
const url = 'https://app.example/a'

describe('domain applications', () => {
  it('are created with defaults, and can be read, changed and removed', async () => {
    const made = await rig.make(base, { name: 'Shop', identifier: 'Shop' })
    expect(made).toMatchObject({
      type: 'domain_application',
      name: 'Shop',
      identifier: 'shop',
      domain: 'p1-shop.dapp.localhost',
      user: '*',
      ip_auth_enabled: false,
      ip_auth: [],
      encryption: 'optional',
      codecs: ['PCMU', 'PCMA'],
      call_handler: null,
      calling_handler_resource_id: null,
      call_request_url: null,
      call_request_method: 'POST',
      call_flow_version: 'working_copy',
      managed_by: 'api',
    })
    expect(made.ciphers).toContain('AES_CM_128_HMAC_SHA1_80')
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toEqual(made)
    expect(rig.directory.domainApp(made.domain)).toMatchObject({
      id: made.id,
      allow: undefined,
      handler: undefined,
    })
    const changed = await rig.send('PUT', `${base}/${made.id}`, {
      name: 'Shop 2',
      ip_auth_enabled: true,
      ip_auth: ['192.0.2.1', '2001:db8::/32'],
      user: 'sales',
      codecs: ['OPUS'],
      ciphers: ['AEAD_AES_256_GCM_8'],
      encryption: 'required',
      call_handler: 'laml_webhooks',
      call_request_url: url,
      call_request_method: 'GET',
    })
    expect(changed).toMatchObject({
      status: 200,
      body: {
        id: made.id,
        name: 'Shop 2',
        identifier: 'shop',
        user: 'sales',
        codecs: ['OPUS'],
        ip_auth: ['192.0.2.1/32', '2001:db8::/32'],
        ciphers: ['AEAD_AES_256_GCM'],
        call_handler: 'laml_webhooks',
        call_request_url: url,
        call_request_method: 'GET',
      },
    })
    expect(rig.directory.domainApp(made.domain)).toMatchObject({
      allow: ['192.0.2.1/32', '2001:db8::/32'],
      user: 'sales',
      encryption: 'required',
      codecs: ['opus'],
      handler: { kind: 'xml', url, method: 'GET' },
    })
    const cleared = await rig.send('PUT', `${base}/${made.id}`, { call_handler: null, codecs: null })
    expect(cleared.body).toMatchObject({
      call_handler: null,
      call_request_url: null,
      codecs: ['PCMU', 'PCMA'],
    })
    expect(rig.directory.domainApp(made.domain)?.handler).toBeUndefined()
    const moved = await rig.send('PATCH', `${base}/${made.id}`, { identifier: 'store' })
    expect(moved.body).toMatchObject({ id: made.id, domain: 'p1-store.dapp.localhost' })
    expect(rig.directory.domainApp(made.domain)).toBeUndefined()
    expect((await rig.send('DELETE', `${base}/${made.id}`)).status).toBe(204)
    expect(rig.directory.domainApp('p1-store.dapp.localhost')).toBeUndefined()
    expect((await rig.send('GET', `${base}/${made.id}`)).status).toBe(404)
  })

  it('are also available beside other resources, with the errors of that family', async () => {
    const made = await rig.make('/api/fabric/domain_applications', { name: 'Fabric', identifier: 'fabric' })
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toEqual(made)
    const { links } = (await rig.send('GET', '/api/fabric/domain_applications')).body
    expect(links.self).toMatch(/^\/api\/fabric\/domain_applications\?/)
    const refused = await rig.send('POST', '/api/fabric/domain_applications', { name: 'x' })
    expect(attributes(refused)).toEqual(['identifier'])
    expect((await rig.send('DELETE', `/api/fabric/domain_applications/${made.id}`)).status).toBe(204)
  })

  it('can be sent back completely as they were read', async () => {
    const room = await rig.make('/api/fabric/resources/conference_rooms', { name: 'hall' })
    const made = await rig.make(base, {
      name: 'x',
      identifier: 'back',
      call_handler: 'video_room',
      call_video_room_id: room.id,
    })
    const { id, type, domain, managed_by, created_at, updated_at, ...fields } = made
    const again = await rig.send('PUT', `${base}/${id}`, fields)
    expect(again).toMatchObject({
      status: 200,
      body: { ...fields, id, type, domain, managed_by, created_at },
    })
    expect(Date.parse(again.body.updated_at)).toBeGreaterThanOrEqual(Date.parse(updated_at))
  })

  it('can be handled by an assigned resource, until it is removed', async () => {
    const contents = { sections: { main: [{ hangup: {} }] } }
    const script = await rig.make('/api/fabric/resources/swml_scripts', { name: 'Bye', contents })
    const made = await rig.make(base, { name: 'x', identifier: 'assigned' })
    const assign = (body: object, project?: TestProject) =>
      rig.send('POST', `/api/fabric/resources/${script.id}/domain_applications`, body, project)
    const answer = await assign({ domain_application_id: made.id })
    expect(answer).toMatchObject({ status: 200, body: { data: [{ resource_id: script.id }] } })
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toMatchObject({
      call_handler: 'relay_script',
      call_relay_script_url: null,
      calling_handler_resource_id: script.id,
    })
    expect(rig.directory.domainApp(made.domain)?.handler).toMatchObject({ kind: 'script' })
    expect((await assign({ domain_application_id: script.id })).status).toBe(422)
    expect((await assign({ domain_application_id: made.id }, theirs)).status).toBe(404)
    await rig.send('DELETE', `/api/fabric/resources/${script.id}`)
    expect(rig.directory.domainApp(made.domain)?.handler).toBeUndefined()
    expect((await rig.send('GET', `${base}/${made.id}`)).body.call_handler).toBeNull()
  })

  it('send their calls to an agent', async () => {
    const agent = await rig.make('/api/fabric/resources/ai_agents', { name: 'A', prompt: { text: 'Hi' } })
    const fields = { call_handler: 'ai_agent', call_ai_agent_id: agent.id }
    const made = await rig.make(base, { name: 'x', identifier: 'to-agent', ...fields })
    expect(made).toMatchObject({ ...fields, calling_handler_resource_id: agent.id })
    const handler = rig.directory.domainApp(made.domain)?.handler
    expect(JSON.parse((handler as { document: string }).document).sections.main).toEqual([
      { answer: {} },
      { ai: { prompt: { text: 'Hi' }, params: { end_of_speech_timeout: 300, enable_turn_detection: true } } },
    ])
    const other = await rig.make(base, { name: 'y', identifier: 'agent-assigned' })
    const assigned = await rig.send('POST', `/api/fabric/resources/${agent.id}/domain_applications`, {
      domain_application_id: other.id,
    })
    expect(assigned.status).toBe(200)
    expect(rig.directory.domainApp(other.domain)?.handler).toEqual(handler)
  })

  it.each<[object, string]>([
    [{ identifier: 'no spaces' }, 'identifier'],
    [{ identifier: '-a' }, 'identifier'],
    [{ ip_auth: ['300.1.1.1'] }, 'ip_auth'],
    [{ codecs: ['G729'] }, 'codecs'],
    [{ call_handler: 'dialogflow' }, 'call_handler'],
    [{ call_handler: 'ai_agent' }, 'call_ai_agent_id'],
    [{ call_handler: 'relay_script', call_relay_script_url: 'ftp://x' }, 'call_relay_script_url'],
    [{ call_request_url: 'javascript:alert(1)' }, 'call_request_url'],
    [{ domain: 'mine.example' }, 'domain'],
    [{ id: 'x' }, 'id'],
  ])('are rejected with the name of the field, in the form of their family: %j', async (fields, field) => {
    const { status, body } = await rig.send('POST', base, { name: 'x', identifier: 'wrong', ...fields })
    expect(status).toBe(422)
    expect(body.errors[0]).toEqual({
      status: '422',
      title: expect.any(String),
      code: expect.any(String),
      detail: expect.stringContaining(field),
    })
  })

  it('are listed by name and domain, only for their project', async () => {
    const made = await rig.make(base, { name: 'Bakery', identifier: 'bakery' })
    expect((await rig.send('GET', `${base}?filter_name=BAK`)).body.data).toEqual([made])
    expect((await rig.send('GET', `${base}?filter_domain=bakery.dapp`)).body.data).toEqual([made])
    expect((await rig.send('GET', base, undefined, theirs)).body.data).toEqual([])
    expect((await rig.send('GET', `${base}/${made.id}`, undefined, theirs)).status).toBe(404)
    expect((await rig.send('PUT', `${base}/${made.id}`, { name: 'x' }, theirs)).status).toBe(404)
    expect((await rig.send('DELETE', `${base}/${made.id}`, undefined, theirs)).status).toBe(404)
    const again = await rig.send('POST', base, { name: 'x', identifier: 'bakery' })
    expect(again).toMatchObject({ status: 422, body: { errors: [{ code: 'domain_taken' }] } })
    expect((await rig.send('GET', `${base}/x`)).body).toMatchObject({ errors: [{ status: '404' }] })
  })

  it('of the configuration file are listed, and cannot be changed', async () => {
    const demo = rig.directory.domainApp('demo.example')!
    const shown = (await rig.send('GET', `${base}/${demo.id}`)).body
    expect(shown).toMatchObject({ managed_by: 'file', call_handler: 'relay_script', ip_auth_enabled: true })
    expect((await rig.send('PUT', `${base}/${demo.id}`, { name: 'x' })).status).toBe(409)
    expect((await rig.send('DELETE', `${base}/${demo.id}`)).status).toBe(409)
  })
})

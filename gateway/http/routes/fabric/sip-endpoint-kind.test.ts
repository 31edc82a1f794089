import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everythingOf } from '../../../directory/testing/directories.ts'
import { ApiTestSite, attributes, ours, theirs } from '../../testing/api-test-site.ts'

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const hello = { sections: { main: [{ answer: {} }] } }

describe('SIP endpoints', () => {
  const base = '/api/fabric/resources/sip_endpoints'

  it('store only data for digest authentication, and can be renamed with the password', async () => {
    const made = await rig.make(base, { username: 'kitchen', password: 'Kitchen-1' })
    const secrets = rig.directory.endpointByName('kitchen')?.secrets
    expect(rig.directory.endpointByName('kitchen')).toMatchObject({ maxCalls: 10, callsPerSecond: 2 })
    expect([...(secrets?.keys() ?? [])]).toEqual(['phones.example', 'sip.example'])
    const at = `${base}/${made.id}`
    expect(attributes(await rig.send('PATCH', at, { username: 'cellar' }))).toEqual(['password'])
    const renamed = await rig.send('PATCH', at, { username: 'cellar', password: 'Cellar-22' })
    expect(renamed.body).toMatchObject({ display_name: 'cellar', sip_endpoint: { username: 'cellar' } })
    expect(rig.directory.endpointByName('kitchen')).toBeUndefined()
    expect(rig.directory.endpointByName('cellar')?.id).toBe(made.id)
    const again = await rig.send('POST', base, { username: 'cellar', password: 'long-enough' }, theirs)
    expect(again).toMatchObject({ status: 422, body: { errors: [{ code: 'username_taken' }] } })
  })

  it('and gateways have the given encryption and codecs', async () => {
    const made = await rig.make(base, { username: 'safe', password: 'long-enough', encryption: 'required' })
    expect(rig.directory.endpoint(made.id)).toMatchObject({ encryption: 'required' })
    await rig.send('PATCH', `${base}/${made.id}`, { encryption: 'optional' })
    expect(rig.directory.endpoint(made.id)).not.toHaveProperty('encryption')
    const uri = 'sip:branch@pbx.example;transport=tls'
    const gateway = { name: 'Safe', uri, encryption: 'required', codecs: ['OPUS'] }
    await rig.make('/api/fabric/resources/sip_gateways', gateway)
    expect(rig.directory.resolve('/public/safe-2', 'p1')).toEqual({
      kind: 'sip',
      address: '/public/safe-2',
      uri,
      encryption: 'required',
      codecs: ['opus'],
    })
  })

  it('can run a resource when they call', async () => {
    const script = await rig.make('/api/fabric/resources/swml_scripts', { name: 'Out', contents: hello })
    const made = await rig.make(base, {
      username: 'out1',
      password: 'long-enough',
      calling_handler_resource_id: script.id,
    })
    expect(made.sip_endpoint).toMatchObject({
      call_handler: 'resource',
      calling_handler_resource_id: script.id,
    })
    expect(rig.directory.endpoint(made.id)?.handler).toMatchObject({ kind: 'script' })
    const foreign = everythingOf(rig.directory, theirs.id)[0]!.id
    const elsewhere = await rig.send('PATCH', `${base}/${made.id}`, { calling_handler_resource_id: foreign })
    expect(attributes(elsewhere)).toEqual(['calling_handler_resource_id'])
    await rig.send('PATCH', `${base}/${made.id}`, { call_handler: 'default' })
    expect(rig.directory.endpoint(made.id)).toMatchObject({ handler: undefined, mayDialOut: false })
    expect(attributes(await rig.send('PATCH', `${base}/${made.id}`, { call_handler: 'resource' }))).toEqual([
      'calling_handler_resource_id',
    ])
  })

  it('can be handled by an assigned resource', async () => {
    const script = await rig.make('/api/fabric/resources/swml_scripts', { name: 'Assigned', contents: hello })
    const made = await rig.make(base, {
      username: 'assigned1',
      password: 'long-enough',
      call_handler: 'passthrough',
    })
    const at = `/api/fabric/resources/${script.id}/sip_endpoints`
    const assign = (body: object, project = ours) => rig.send('POST', at, body, project)
    expect(await assign({ sip_endpoint_id: made.id })).toMatchObject({
      status: 200,
      body: { data: [{ resource_id: script.id }] },
    })
    expect(rig.directory.endpoint(made.id)).toMatchObject({ mayDialOut: false, handler: { kind: 'script' } })
    expect(attributes(await assign({ sip_endpoint_id: script.id }))).toEqual(['sip_endpoint_id'])
    expect(attributes(await assign({}))).toEqual(['sip_endpoint_id'])
    expect((await assign({ sip_endpoint_id: made.id }, theirs)).status).toBe(404)
    const agent = await rig.make('/api/fabric/resources/ai_agents', { name: 'A', prompt: { text: 'Hi' } })
    const call = { call_handler: 'resource', calling_handler_resource_id: agent.id }
    expect((await rig.send('PUT', `/api/fabric/resources/sip_endpoints/${made.id}`, call)).status).toBe(200)
    expect(rig.directory.endpoint(made.id)?.handler).toMatchObject({ kind: 'script', name: '/public/a' })
  })

  it('can belong to a subscriber, and are removed with the subscriber', async () => {
    const dave = await rig.make('/api/fabric/subscribers', { email: 'dave@x.test', password: 'long-enough' })
    const other = await rig.make('/api/fabric/subscribers', { email: 'eve@x.test', password: 'long-enough' })
    const own = `/api/fabric/subscribers/${dave.id}/sip_endpoints`
    const made = await rig.make(own, { username: 'dave-desk', password: 'long-enough' })
    expect(made).toMatchObject({ username: 'dave-desk', call_handler: 'default' })
    expect((await rig.send('GET', own)).body.data).toEqual([made])
    const same = `/api/fabric/resources/subscribers/${dave.id}/sip_endpoints/${made.id}`
    expect((await rig.send('GET', same)).body).toEqual(made)
    expect(
      (await rig.send('GET', `/api/fabric/subscribers/${other.id}/sip_endpoints/${made.id}`)).status,
    ).toBe(404)
    expect((await rig.send('PUT', same, { caller_id: 'Dave' })).body).toMatchObject({ caller_id: 'Dave' })
    expect((await rig.send('GET', `/api/fabric/subscribers/${other.id}/sip_endpoints`)).body.data).toEqual([])
    expect((await rig.send('DELETE', `/api/fabric/subscribers/${dave.id}`)).status).toBe(204)
    expect(rig.directory.endpointByName('dave-desk')).toBeUndefined()
  })

  it('are also available in the relay family', async () => {
    const legacy = '/api/relay/rest/endpoints/sip'
    const made = await rig.make(legacy, { username: 'old1', password: 'long-enough' })
    expect(made).toMatchObject({ type: 'sip_endpoint', username: 'old1' })
    expect((await rig.send('GET', `${base}/${made.id}`)).body.sip_endpoint.username).toBe('old1')
    expect((await rig.send('GET', `${legacy}?filter_username=old`)).body.data).toEqual([made])
    expect((await rig.send('PUT', `${legacy}/${made.id}`, { send_as: '+49301' })).body.send_as).toBe('+49301')
    const refused = await rig.send('POST', legacy, { username: 'old2' })
    expect(refused).toMatchObject({
      status: 422,
      body: { errors: [{ status: '422', detail: 'password is missing.' }] },
    })
    expect((await rig.send('DELETE', `${legacy}/${made.id}`)).status).toBe(204)
    expect((await rig.send('GET', `${legacy}/${made.id}`)).status).toBe(404)
  })
})

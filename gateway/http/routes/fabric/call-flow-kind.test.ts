import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, theirs } from '../../testing/api-test-site.ts'

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const base = '/api/fabric/resources/call_flows'
const versions = (id: string) => `/api/fabric/resources/call_flow/${id}/versions`
const saying = (text: string) => ({ sections: { main: [{ play: { url: `say:${text}` } }] } })
const graph = (text: string) => ({
  nodes: {
    in: { kind: 'start', edges: { next: 'say' } },
    say: { kind: 'play', options: { url: `say:${text}` }, edges: {} },
  },
})

describe('call flows', () => {
  it('have either a graph or a script, not both', async () => {
    const made = await rig.make(base, { title: 'Flow', flow_data: graph('one') })
    expect(made.call_flow).toMatchObject({ flow_data: graph('one'), relayml: null, document_version: 1 })
    const scripted = await rig.send('PUT', `${base}/${made.id}`, { relayml: saying('two') })
    expect(scripted.body.call_flow).toMatchObject({
      flow_data: null,
      relayml: saying('two'),
      document_version: 2,
    })
    const both = { flow_data: graph('x'), relayml: saying('x') }
    expect(attributes(await rig.send('PUT', `${base}/${made.id}`, both))).toEqual(['relayml'])
    expect(attributes(await rig.send('POST', base, { title: 'x', ...both }))).toEqual(['relayml'])
  })

  it('have versions that only increase', async () => {
    const { id } = await rig.make(base, { title: 'Flow', relayml: saying('one'), document_version: 5 })
    const put = (body: object) => rig.send('PUT', `${base}/${id}`, body)
    expect(attributes(await put({ relayml: saying('x'), document_version: 5 }))).toEqual(['document_version'])
    expect((await put({ relayml: saying('two'), document_version: 9 })).body.call_flow.document_version).toBe(
      9,
    )
    expect((await put({ relayml: saying('three') })).body.call_flow.document_version).toBe(10)
    const both = await Promise.all(
      [20, 20].map((version) => put({ relayml: saying('four'), document_version: version })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
    expect((await put({ title: 'Renamed' })).body.call_flow).toMatchObject({
      title: 'Renamed',
      document_version: 20,
    })
  })

  it('are deployed unchanged, and stay so while the working copy changes', async () => {
    const { id } = await rig.make(base, { title: 'Flow', relayml: saying('one') })
    const apps = new Map<string, string>()
    for (const version of ['working_copy', 'current_deployed']) {
      const app = await rig.make('/api/relay/rest/domain_applications', {
        name: version,
        identifier: version.replace('_', '-'),
        call_handler: 'call_flow',
        call_flow_id: id,
        call_flow_version: version,
      })
      apps.set(version, app.domain)
    }
    const handler = (version: string) => rig.directory.domainApp(apps.get(version) ?? '')?.handler
    expect(handler('current_deployed')).toBeUndefined()
    const first = await rig.make(versions(id), {})
    expect(first).toMatchObject({ document_version: 1, current: true, relayml: saying('one') })
    await rig.send('PUT', `${base}/${id}`, { relayml: saying('two') })
    expect(handler('current_deployed')).toMatchObject({ document: JSON.stringify(saying('one')) })
    expect(handler('working_copy')).toMatchObject({ document: JSON.stringify(saying('two')) })
    const second = await rig.make(versions(id), { document_version: 2 })
    expect((await rig.send('GET', `${base}/${id}`)).body.call_flow.deployed_version).toBe(2)
    expect(handler('current_deployed')).toMatchObject({ document: JSON.stringify(saying('two')) })
    const back = await rig.make(versions(id), { call_flow_version_id: first.id })
    expect(back).toMatchObject({ id: first.id, document_version: 1, current: true })
    expect(handler('current_deployed')).toMatchObject({ document: JSON.stringify(saying('one')) })
    const { data } = (await rig.send('GET', `${base}/${id}/versions`)).body
    expect(data.map((v: { id: string; current: boolean }) => [v.id, v.current])).toEqual([
      [first.id, true],
      [second.id, false],
    ])
  })

  it('cannot be deployed at unknown versions, nor by another project', async () => {
    const { id } = await rig.make(base, { title: 'Flow', relayml: saying('one') })
    const unknown = '00000000-0000-4000-8000-000000000000'
    const post = (body: object) => rig.send('POST', versions(id), body)
    expect(attributes(await post({ document_version: 7 }))).toEqual(['document_version'])
    expect(attributes(await post({ call_flow_version_id: unknown }))).toEqual(['call_flow_version_id'])
    expect(attributes(await post({ call_flow_version_id: 'x' }))).toEqual(['call_flow_version_id'])
    expect(attributes(await post({ document_version: 1, call_flow_version_id: unknown }))).toEqual([
      'call_flow_version_id',
    ])
    expect((await rig.send('POST', versions(id), {}, theirs)).status).toBe(404)
    expect((await rig.send('GET', versions(id), undefined, theirs)).status).toBe(404)
    expect((await rig.send('GET', `/api/fabric/resources/call_flow/${id}/addresses`)).body.data).toHaveLength(
      1,
    )
  })
})

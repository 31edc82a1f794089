import { expect, it } from 'vitest'
import type { DomainApps } from './model/ports.ts'
import { config, script } from './testing/directories.ts'
import { describeEngines } from './testing/engines.ts'

const p = 'project-1'
const other = 'project-2'
const both = [p, other].map((id) => ({ id, name: id, signingKeys: [] }))
type NewApp = Parameters<DomainApps['create']>[1]

const app: NewApp = {
  name: 'Main line',
  identifier: 'Main',
  user: '*',
  ipAuthEnabled: false,
  ipAuth: ['192.0.2.0/24'],
  encryption: 'optional',
}

describeEngines('domain applications', (engine) => {
  it('have a domain that is made of the project’s name and their identifier', async () => {
    const directory = await engine.open({ domainSuffix: 'dapp.example', config: config({ projects: both }) })
    const { domainApps } = directory
    const made = await domainApps.create(p, { ...app, handler: script, maxCalls: 3 })
    expect(made.domain).toBe('project-1-main.dapp.example')
    expect(domainApps.find(p, made.id)).toBe(made)
    expect(directory.domainApp('PROJECT-1-main.dapp.example.')).toMatchObject({
      id: made.id,
      projectId: p,
      allow: undefined,
      handler: script,
      maxCalls: 3,
    })
    await expect(domainApps.create(p, { ...app, identifier: 'MAIN' })).rejects.toMatchObject({
      code: 'domain_taken',
      facts: { attribute: 'identifier' },
    })
    expect((await domainApps.create(other, app)).domain).toBe('project-2-main.dapp.example')
    for (const identifier of ['', 'a.b', '-a', 'a b', 'x'.repeat(40)])
      await expect(domainApps.create(p, { ...app, identifier })).rejects.toMatchObject({
        code: 'invalid_field',
      })
  })

  it('of one project cannot have a domain that another project can make', async () => {
    const projects = ['acme', 'acme-east'].map((id) => ({ id, name: id, signingKeys: [] }))
    const suffix = { domainSuffix: 'dapp.example' }
    const { domainApps } = await engine.open({ ...suffix, config: config({ project: 'acme', projects }) })
    await expect(domainApps.create('acme', { ...app, identifier: 'East-main' })).rejects.toMatchObject({
      code: 'domain_taken',
      facts: { attribute: 'identifier' },
    })
    const { id, domain } = await domainApps.create('acme', { ...app, identifier: 'eastern' })
    expect(domain).toBe('acme-eastern.dapp.example')
    await expect(domainApps.update('acme', id, { identifier: 'east-x' })).rejects.toMatchObject({
      code: 'domain_taken',
    })
    const east = await domainApps.create('acme-east', { ...app, identifier: 'main' })
    expect(east.domain).toBe('acme-east-main.dapp.example')
  })

  it('change, and what is null goes', async () => {
    const directory = await engine.open({ domainSuffix: 'dapp.example' })
    const { domainApps } = directory
    const status = { url: 'https://a.example/told', method: 'POST' } as const
    const { id } = await domainApps.create(p, {
      ...app,
      handler: script,
      statusCallback: status,
      codecs: ['PCMA'],
    })
    expect(directory.domainApp('project-1-main.dapp.example')?.handler?.status).toMatchObject({
      ...status,
      dialect: 'json',
    })
    const change = {
      ipAuthEnabled: true,
      identifier: 'second',
      handler: null,
      statusCallback: null,
      codecs: null,
    }
    const changed = await domainApps.update(p, id, change)
    expect(changed).toMatchObject({
      id,
      name: 'Main line',
      ipAuthEnabled: true,
      domain: 'project-1-second.dapp.example',
    })
    for (const key of ['handler', 'statusCallback', 'codecs']) expect(changed).not.toHaveProperty(key)
    expect(directory.domainApp('project-1-main.dapp.example')).toBeUndefined()
    expect(directory.domainApp('project-1-second.dapp.example')).toMatchObject({
      allow: ['192.0.2.0/24'],
      handler: undefined,
    })
    expect(domainApps.list(p, { number: 0, size: 9, name: 'LINE' }).items).toEqual([changed])
    await domainApps.remove(p, id)
    expect(directory.domainApp('project-1-second.dapp.example')).toBeUndefined()
    await expect(domainApps.remove(p, id)).rejects.toMatchObject({ code: 'unknown_resource' })
  })

  it('of the file, and of another project, are not changed', async () => {
    const { domainApps } = await engine.open({ config: config({ projects: both }) })
    const [demo] = domainApps.list(p, { number: 0, size: 9 }).items
    expect(demo).toMatchObject({ domain: 'demo.example', managedByFile: true, ipAuth: ['127.0.0.0/8'] })
    const id = demo?.id ?? ''
    await expect(domainApps.update(p, id, { name: 'x' })).rejects.toMatchObject({ code: 'managed_by_file' })
    await expect(domainApps.remove(p, id)).rejects.toMatchObject({ code: 'managed_by_file' })
    await expect(domainApps.update(other, id, { name: 'x' })).rejects.toMatchObject({
      code: 'unknown_resource',
    })
    await expect(domainApps.remove(other, id)).rejects.toMatchObject({ code: 'unknown_resource' })
    expect(domainApps.find(other, id)).toBeUndefined()
  })

  it('are handled by what a resource of their project is at the moment', async () => {
    const directory = await engine.open({ domainSuffix: 'dapp.example', config: config({ projects: both }) })
    const { domainApps, resources } = directory
    const flow = await resources.create({
      projectId: p,
      type: 'call_flow',
      displayName: 'F',
      details: { flow: '{}', version: 1 },
    })
    const source = { kind: 'resource', resourceId: flow.id } as const
    const { id } = await domainApps.create(p, { ...app, handler: source })
    const handler = () => directory.domainApp('project-1-main.dapp.example')?.handler
    expect(handler()).toMatchObject({ kind: 'flow', document: '{}' })
    await domainApps.update(p, id, { handler: { ...source, version: 'current_deployed' } })
    expect(handler()).toBeUndefined()
    await resources.deployFlow(p, flow.id)
    await resources.update(p, 'call_flow', flow.id, { details: { flow: '{"x":1}' } })
    expect(handler()).toMatchObject({ document: '{}' })
    // What belongs to another project handles nothing here.
    await domainApps.create(other, { ...app, handler: source })
    expect(directory.domainApp('project-2-main.dapp.example')).toMatchObject({ handler: undefined })
  })
})

describeEngines('handlers', (engine) => {
  it('of every kind of resource are documents, URLs, topics, or a call of its address', async () => {
    const directory = await engine.open({ domainSuffix: 'dapp.example' })
    const { domainApps, resources } = directory
    const { id } = await domainApps.create(p, app)
    const run = async (resource: Parameters<typeof resources.create>[0]) => {
      const made = await resources.create(resource)
      await domainApps.update(p, id, { handler: { kind: 'resource', resourceId: made.id } })
      return directory.domainApp('project-1-main.dapp.example')?.handler
    }
    const common = { projectId: p, displayName: 'Thing' }
    const webhook = {
      url: 'https://a.example/1',
      method: 'GET',
      fallbackUrl: 'https://a.example/2',
      statusCallbackUrl: 'https://a.example/3',
    } as const
    expect(await run({ ...common, type: 'cxml_webhook', details: webhook })).toMatchObject({
      kind: 'xml',
      url: webhook.url,
      method: 'GET',
      fallbackUrl: webhook.fallbackUrl,
      status: { url: webhook.statusCallbackUrl, method: 'POST', dialect: 'form' },
    })
    expect(await run({ ...common, type: 'cxml_script', details: { document: '<Response/>' } })).toEqual({
      kind: 'xml',
      document: '<Response/>',
      name: '/public/thing-2',
    })
    const room = await run({ ...common, type: 'room', details: { recordOnStart: true, maxMembers: 5 } })
    expect(JSON.parse((room as { document: string }).document).sections.main).toEqual([
      { join_room: { name: '/public/thing-3' } },
    ])
    const gateway = { uri: 'sip:pbx@gw.example', encryption: 'optional' } as const
    const called = await run({ ...common, type: 'sip_gateway', details: gateway })
    expect(called).toMatchObject({ kind: 'script', name: '/public/thing-4' })
    expect((called as { document: string }).document).toContain('"to":"/public/thing-4"')
    expect(directory.resolve('/public/thing-4', p)).toEqual({
      kind: 'sip',
      uri: gateway.uri,
      encryption: 'optional',
      address: '/public/thing-4',
    })
    const settings = { prompt: { text: 'Hi' }, params: { ai_name: 'Eve', enable_turn_detection: false } }
    const agent = await run({ ...common, type: 'ai_agent', details: { settings } })
    expect(agent).toMatchObject({ kind: 'script', name: '/public/thing-5' })
    expect(JSON.parse((agent as { document: string }).document).sections.main).toEqual([
      { answer: {} },
      { ai: { ...settings, params: { end_of_speech_timeout: 300, ...settings.params } } },
    ])
  })
})

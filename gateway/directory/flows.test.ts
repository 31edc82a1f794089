import { expect, it } from 'vitest'
import { describeEngines } from './testing/engines.ts'

const p = 'project-1'

describeEngines('call flows', (engine) => {
  it('run the version that was deployed, and keep the others', async () => {
    const directory = await engine.open()
    const { resources } = directory
    const made = await resources.create({
      projectId: p,
      type: 'call_flow',
      displayName: 'Menu',
      details: { flow: '{"a":1}', version: 1 },
    })
    const running = () => directory.resolve('/public/menu', p)
    expect(running()).toMatchObject({ handler: { kind: 'flow', document: '{"a":1}' } })
    expect(await resources.deployFlow(p, made.id)).toMatchObject({
      version: 1,
      flow: '{"a":1}',
      current: true,
    })
    const second = { details: { flow: undefined, script: '{"b":2}' } }
    const changed = await resources.update(p, 'call_flow', made.id, second as never)
    expect(changed.details).toEqual({ script: '{"b":2}', version: 2, deployedVersion: 1 })
    expect(running()).toMatchObject({ handler: { kind: 'flow', document: '{"a":1}' } })
    await resources.deployFlow(p, made.id, 2)
    expect(running()).toMatchObject({ handler: { kind: 'script', document: '{"b":2}' } })
    const versions = await resources.flowVersions(p, made.id)
    expect(versions.map(({ version, current }) => [version, current])).toEqual([
      [1, false],
      [2, true],
    ])
    await resources.deployFlow(p, made.id, { id: versions[0]!.id })
    expect(running()).toMatchObject({ handler: { document: '{"a":1}' } })
    expect(resources.find(p, 'call_flow', made.id)?.details).toMatchObject({ version: 2, deployedVersion: 1 })
    const unknown = { code: 'unknown_resource' }
    await expect(resources.deployFlow(p, made.id, 9)).rejects.toMatchObject(unknown)
    await expect(resources.deployFlow(p, made.id, { id: 'x' })).rejects.toMatchObject(unknown)
    expect(await resources.flowVersions('project-2', made.id)).toEqual([])
  })
})

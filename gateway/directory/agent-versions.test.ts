import { expect, it } from 'vitest'
import { describeEngines } from './testing/engines.ts'

const p = 'project-1'
const unknown = { code: 'unknown_resource' }

describeEngines('voice agents', (engine) => {
  const make = async () => {
    const directory = await engine.open()
    const { resources } = directory
    const settingsOf = (text: string) => ({ prompt: { text } })
    const { id } = await resources.create({
      projectId: p,
      type: 'ai_agent',
      displayName: 'Desk',
      details: { settings: settingsOf('one') },
    })
    const change = (text: string) =>
      resources.update(p, 'ai_agent', id, { details: { settings: settingsOf(text) } })
    const versions = async () => {
      const all = await resources.agentVersions(p, id)
      return all.map(({ version, current }) => `${version}${current ? ' current' : ''}`)
    }
    const prompt = () => {
      const target = directory.resolve('/public/desk', p)
      const document =
        target?.kind === 'handler' && 'document' in target.handler ? target.handler.document : '{}'
      return JSON.parse(document).sections?.main[1].ai.prompt.text
    }
    return { directory, resources, id, change, versions, prompt }
  }

  it('keep each of their settings as a version, and run an earlier one again', async () => {
    const { resources, id, change, versions, prompt } = await make()
    expect(await versions()).toEqual(['1 current'])
    await change('two')
    await change('two')
    await resources.update(p, 'ai_agent', id, { displayName: 'Front desk' })
    expect(await versions()).toEqual(['1', '2 current'])
    const [first] = await resources.agentVersions(p, id)
    expect(await resources.agentVersion(p, id, first!.id)).toMatchObject({
      version: 1,
      settings: { prompt: { text: 'one' } },
    })
    const restored = await resources.restoreAgent(p, id, { id: first!.id })
    expect(restored).toMatchObject({ version: 1, current: true, settings: { prompt: { text: 'one' } } })
    expect([await versions(), prompt()]).toEqual([['1 current', '2'], 'one'])
    await change('three')
    expect([await versions(), prompt()]).toEqual([['1', '2', '3 current'], 'three'])
    await resources.restoreAgent(p, id, 2)
    expect(prompt()).toBe('two')
  })

  it('have no unknown versions, nor those of another project', async () => {
    const { resources, id } = await make()
    const [first] = await resources.agentVersions(p, id)
    await expect(resources.restoreAgent(p, id, 7)).rejects.toMatchObject(unknown)
    await expect(resources.restoreAgent(p, id, { id: 'x' })).rejects.toMatchObject(unknown)
    await expect(resources.restoreAgent('project-2', id, 1)).rejects.toMatchObject(unknown)
    expect(await resources.agentVersions('project-2', id)).toEqual([])
    expect(await resources.agentVersion('project-2', id, first!.id)).toBeUndefined()
  })

  it('lose their oldest versions beyond a hundred, and all of them with the agent', async () => {
    const { resources, id, change, versions } = await make()
    for (let i = 0; i < 101; i++) await change(`number ${i}`)
    const all = await versions()
    expect([all.length, all[0], all.at(-1)]).toEqual([100, '3', '102 current'])
    await resources.remove(p, 'ai_agent', id)
    expect(await versions()).toEqual([])
  })
})

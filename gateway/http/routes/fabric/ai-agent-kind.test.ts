import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes, theirs } from '../../testing/api-test-site.ts'
import { aiAgents } from './ai-agent-kind.ts'

let rig: ApiTestSite
beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

const base = '/api/fabric/resources/ai_agents'

/** Body with every setting. */
const complete = {
  name: 'Complete',
  prompt: { text: 'Help callers.', temperature: 0.3 },
  post_prompt: { text: 'Summarize.' },
  post_prompt_url: 'https://user:word@app.example/report',
  post_prompt_auth_user: 'user',
  post_prompt_auth_password: 'word',
  params: { end_of_speech_timeout: '500', unheard_of: [1] },
  pronounce: [{ replace: 'SIP', with: 'sip' }],
  hints: ['Trunkline'],
  languages: [{ name: 'English', code: 'en-US', voice: 'openai.alloy' }],
  multilingual: { start_language: 'en', languages: [{ language: 'default', voice: 'openai.alloy' }] },
  global_data: { tier: 'gold' },
  SWAIG: {
    functions: [{ function: 'look_up', description: 'Looks up.', web_hook_url: 'https://a.example/' }],
  },
}

describe('agents', () => {
  it('keep every setting as it was given', async () => {
    const made = await rig.make(base, complete)
    expect(made.ai_agent).toEqual({ id: made.id, ...complete })
    const { name: _, ...settings } = complete
    expect(rig.directory.resources.find('p1', 'ai_agent', made.id)?.details).toEqual({ settings })
  })

  it('can be called at their address, with their own turn-taking or the default', async () => {
    const made = await rig.make(base, { name: 'Called', prompt: { text: 'Hi' }, params: { ai_name: 'Eve' } })
    const scriptOf = () => {
      const target = rig.directory.resolve('/public/called', 'p1')
      if (target?.kind !== 'handler' || !('document' in target.handler)) throw new Error('no script')
      return JSON.parse(target.handler.document).sections.main
    }
    const params = { end_of_speech_timeout: 300, enable_turn_detection: true, ai_name: 'Eve' }
    expect(scriptOf()).toEqual([{ answer: {} }, { ai: { prompt: { text: 'Hi' }, params } }])
    const change = { params: { end_of_speech_timeout: 900 } }
    await rig.send('PATCH', `${base}/${made.id}`, change)
    expect(scriptOf()[1].ai.params).toEqual({ end_of_speech_timeout: 900, enable_turn_detection: true })
    const addresses = await rig.send('GET', `${base}/${made.id}/addresses`)
    expect(addresses.body.data).toMatchObject([{ channels: { audio: '/public/called?channel=audio' } }])
  })

  it('may have prompts that are texts', async () => {
    const made = await rig.make(base, { name: 'Texts', prompt: 'Help callers.', post_prompt: 'Summarize.' })
    expect(made.ai_agent).toMatchObject({ prompt: 'Help callers.', post_prompt: 'Summarize.' })
    const empty = await rig.send('PATCH', `${base}/${made.id}`, { prompt: ' ' })
    expect([empty.status, attributes(empty)]).toEqual([422, ['prompt']])
  })

  it('lose a setting by null', async () => {
    const made = await rig.make(base, { ...complete, name: 'Less' })
    const less = await rig.send('PATCH', `${base}/${made.id}`, { post_prompt: null, hints: null })
    const { post_prompt: _, hints: _hints, ...rest } = complete
    expect(less.body.ai_agent).toEqual({ id: made.id, ...rest, name: 'Less' })
  })

  it.each<[object, string, string]>([
    [{}, 'prompt', '/prompt'],
    [{ prompt: {} }, 'prompt', '/prompt'],
    [{ prompt: { text: 'Hi', contexts: { a: { steps: [] } } } }, 'prompt.contexts', '/prompt/contexts'],
  ])('are rejected with the place of the fault: %j', async (fields, field, place) => {
    const { status, body } = await rig.send('POST', base, { name: 'Faulty', ...fields })
    expect(status).toBe(422)
    expect(body.errors[0]).toMatchObject({
      code: 'document_invalid',
      attribute: expect.stringContaining(field),
      message: expect.stringContaining(place),
    })
  })

  it('keep the settings of two requests that read the agent at the same time', async () => {
    const { id } = await rig.make(base, { name: 'Two requests', prompt: { text: 'Hi' }, hints: ['old'] })
    const present = rig.directory.resources.find('p1', 'ai_agent', id)!
    const changes = [{ hints: ['new'] }, { post_prompt: 'Summarize.' }].map((body) =>
      aiAgents.change({ name: 'Two requests', ...body }, present, () => undefined),
    )
    await Promise.all(changes.map((change) => rig.directory.resources.update('p1', 'ai_agent', id, change)))
    const { ai_agent } = (await rig.send('GET', `${base}/${id}`)).body
    expect(ai_agent).toMatchObject({ prompt: { text: 'Hi' }, hints: ['new'], post_prompt: 'Summarize.' })
    const { data } = (await rig.send('GET', `${base}/${id}/versions`)).body
    expect(data.map(({ current }: { current: boolean }) => current)).toEqual([false, false, true])
  })

  it('are checked as a whole with what another request has just changed', async () => {
    const { id } = await rig.make(base, { name: 'Checked', prompt: { text: 'Hi' }, hints: ['old'] })
    const present = rig.directory.resources.find('p1', 'ai_agent', id)!
    const large = { global_data: { text: 'x'.repeat(40_000) } }
    const [first, second] = [large, { params: { text: 'x'.repeat(40_000) } }].map((body) =>
      aiAgents.change({ name: 'Checked', ...body }, present, () => undefined),
    )
    const { resources } = rig.directory
    await resources.update('p1', 'ai_agent', id, first!)
    await expect(resources.update('p1', 'ai_agent', id, second!)).rejects.toMatchObject({
      code: 'invalid_field',
    })
    expect((await rig.send('GET', `${base}/${id}`)).body.ai_agent).not.toHaveProperty('params')
  })

  it('are checked as a whole when a part changes', async () => {
    const made = await rig.make(base, { name: 'Whole', prompt: { text: 'Hi' } })
    const changed = await rig.send('PATCH', `${base}/${made.id}`, { prompt: null })
    expect(changed.status).toBe(422)
    expect(attributes(changed)).toEqual(['prompt'])
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toEqual(made)
  })

  it.each([
    [{ prompt: ['text'] }, 'prompt'],
    [{ post_prompt_auth_password: 7 }, 'post_prompt_auth_password'],
    [{ languages: {} }, 'languages'],
    [{ post_prompt_url: 7 }, 'post_prompt_url'],
    [{ voice: 'alloy' }, 'voice'],
    [{ prompt: { text: 'x'.repeat(70_000) } }, 'prompt'],
  ])('are rejected for a field of another form', async (fields, field) => {
    const answer = await rig.send('POST', base, { name: 'Wrong', prompt: { text: 'Hi' }, ...fields })
    expect(answer.status).toBe(422)
    expect(attributes(answer)).toEqual([field])
  })
})

describe('versions of agents', () => {
  const make = async (name: string) => {
    const { id } = await rig.make(base, { name, prompt: { text: 'one' } })
    return { id, versions: `${base}/${id}/versions` }
  }

  it('are listed, read, and restored', async () => {
    const { id, versions } = await make('Versions')
    await rig.send('PATCH', `${base}/${id}`, { prompt: { text: 'two' } })
    await rig.send('PATCH', `${base}/${id}`, { name: 'Other name' })
    const { data, links } = (await rig.send('GET', versions)).body
    expect(data).toMatchObject([
      { document_version: 1, current: false },
      { document_version: 2, current: true },
    ])
    expect(data[0]).not.toHaveProperty('ai_agent')
    expect(links.self).toContain('/versions?')
    const first = (await rig.send('GET', `${versions}/${data[0].id}`)).body
    expect(first).toEqual({ ...data[0], ai_agent: { prompt: { text: 'one' } } })
    const back = await rig.make(versions, { ai_agent_version_id: data[0].id })
    expect(back).toEqual({ ...first, current: true })
    const present = (await rig.send('GET', `${base}/${id}`)).body.ai_agent
    expect(present).toEqual({ id, name: 'Other name', prompt: { text: 'one' } })
    expect(await rig.make(versions, { document_version: 2 })).toMatchObject({ id: data[1].id, current: true })
  })

  it('stay restored if the name changes at the same time', async () => {
    const { id, versions } = await make('Two at once')
    await rig.send('PATCH', `${base}/${id}`, { prompt: { text: 'two' } })
    const { resources } = rig.directory
    const present = resources.find('p1', 'ai_agent', id)!
    await rig.make(versions, { document_version: 1 })
    const change = aiAgents.change({ name: 'Renamed' }, present, () => undefined)
    await resources.update('p1', 'ai_agent', id, change)
    const { ai_agent } = (await rig.send('GET', `${base}/${id}`)).body
    expect(ai_agent).toEqual({ id, name: 'Renamed', prompt: { text: 'one' } })
    expect((await rig.send('GET', versions)).body.data).toHaveLength(2)
  })

  it('are refused if they are unknown, or belong to another project', async () => {
    const { id, versions } = await make('Unknown versions')
    const post = async (body: object) => attributes(await rig.send('POST', versions, body))
    expect(await post({})).toEqual(['document_version'])
    expect(await post({ document_version: 2 })).toEqual(['document_version'])
    expect(await post({ ai_agent_version_id: crypto.randomUUID() })).toEqual(['ai_agent_version_id'])
    expect(await post({ document_version: 1, ai_agent_version_id: crypto.randomUUID() })).toEqual([
      'ai_agent_version_id',
    ])
    expect((await rig.send('GET', `${versions}/${id}`)).status).toBe(404)
    const { id: versionId } = (await rig.send('GET', versions)).body.data[0]
    for (const [method, path] of [
      ['GET', versions],
      ['GET', `${versions}/${versionId}`],
      ['POST', versions],
    ] as const)
      expect((await rig.send(method, path, method === 'POST' ? {} : undefined, theirs)).status).toBe(404)
  })
})

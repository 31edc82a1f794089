import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, attributes } from '../../testing/api-test-site.ts'

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

  it('are checked as a whole when a part changes', async () => {
    const made = await rig.make(base, { name: 'Whole', prompt: { text: 'Hi' } })
    const changed = await rig.send('PATCH', `${base}/${made.id}`, { prompt: null })
    expect(changed.status).toBe(422)
    expect(attributes(changed)).toEqual(['prompt'])
    expect((await rig.send('GET', `${base}/${made.id}`)).body).toEqual(made)
  })

  it.each([
    [{ prompt: 'text' }, 'prompt'],
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

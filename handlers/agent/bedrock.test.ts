import { describe, expect, it } from 'vitest'
import { readBedrock } from './bedrock.ts'

const prompt = { text: 'Be kind.', temperature: 0.5 }

describe('a document of amazon_bedrock', () => {
  it('has the voice of its prompt', () => {
    const { document, warnings } = readBedrock({
      prompt: { ...prompt, voice_id: 'amy' },
      post_prompt: { text: 'Summarise.' },
      post_prompt_url: 'https://a.example',
      global_data: { a: 1 },
      params: { attention_timeout: 0, inactivity_timeout: '20000' },
      SWAIG: {
        functions: [{ function: 'f', description: 'F' }],
        defaults: { web_hook_url: 'https://b.example' },
      },
    })
    expect(warnings).toEqual([])
    expect(document).toMatchObject({
      prompt: { text: 'Be kind.', settings: { temperature: 0.5 } },
      languages: [{ name: 'English', code: 'en-GB', voice: 'amazon.amy' }],
      turns: { attentionMs: 0, inactivityMs: 20_000 },
      globalData: { a: 1 },
      functions: [{ name: 'f' }],
      defaultWebhook: { url: 'https://b.example' },
    })
  })

  it('has a default voice, and no contexts, includes or languages', () => {
    const { document, warnings } = readBedrock({
      prompt: { ...prompt, voice_id: 'x', contexts: { default: {} } },
      languages: [],
      SWAIG: { includes: [] },
    })
    expect(document?.languages[0]?.voice).toBe('amazon.matthew')
    expect(warnings.map(({ path }) => path)).toEqual([
      '/prompt/contexts',
      '/languages',
      '/prompt/voice_id',
      '/SWAIG/includes',
    ])
  })

  it('has the default voice, too, if its prompt is a text', () => {
    const { document, warnings } = readBedrock({ prompt: 'Be kind.', languages: [{ code: 'de' }] })
    expect(document?.prompt).toMatchObject({ text: 'Be kind.' })
    expect(document?.languages).toEqual([{ name: 'English', code: 'en-US', voice: 'amazon.matthew' }])
    expect(warnings.map(({ path }) => path)).toEqual(['/languages'])
  })

  it('must have a prompt', () => {
    expect(readBedrock({}).faults).toHaveLength(1)
    expect(readBedrock('x').faults).toHaveLength(1)
    expect(readBedrock({ prompt: { voice_id: 'amy' } }).faults).toEqual([
      { path: '/prompt', message: 'must have text, pom or contexts' },
    ])
    expect(readBedrock({ prompt, SWAIG: 5 }).document).toBeDefined()
  })
})

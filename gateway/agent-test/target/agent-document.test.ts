import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConfigInvalid } from '../../../config/faults.ts'
import { changedDocument, readTestDocument } from './agent-document.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent-document-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (text: string, functions: readonly string[] = []) => {
  writeFileSync(join(folder, 'agent.yaml'), text)
  return readTestDocument(join(folder, 'agent.yaml'), functions)
}

const changes = {
  functionsUrl: 'http://test/functions',
  functions: ['book'],
  reportUrl: 'http://test/report',
  engine: 'stand-in-1',
}

const agent = `
prompt: { text: You book tables. }
params: { end_of_speech_timeout: 500 }
post_prompt_url: https://example.com/report
post_prompt_auth_user: u
SWAIG:
  defaults: { web_hook_url: "https://example.com/functions" }
  functions:
    - { function: book, description: Books., data_map: {}, parameters: {} }
    - { function: cancel, description: Cancels., web_hook_url: "https://example.com/cancel" }
`

it('gives an agent the report, the engine and the functions of the test', () => {
  const { kind, value } = changedDocument(read(agent, ['book']), changes)
  expect(kind).toBe('agent')
  expect(value).toEqual({
    prompt: { text: 'You book tables.' },
    params: { end_of_speech_timeout: 500, engine: 'stand-in-1' },
    post_prompt_url: 'http://test/report',
    SWAIG: {
      defaults: { web_hook_url: 'https://example.com/functions' },
      functions: [
        { function: 'book', description: 'Books.', parameters: {}, web_hook_url: 'http://test/functions' },
        { function: 'cancel', description: 'Cancels.', web_hook_url: 'https://example.com/cancel' },
      ],
    },
  })
})

it('leaves the engine and the functions of a document as they are, if the test has none', () => {
  const { value } = changedDocument(read(agent), { ...changes, functions: [], engine: undefined })
  expect(value).toMatchObject({ params: { end_of_speech_timeout: 500 } })
  expect(value.params).not.toHaveProperty('engine')
  expect(value).toMatchObject({ SWAIG: { functions: [{ data_map: {} }, {}] } })
})

it('changes each agent of a script, and nothing else', () => {
  const document = read(
    JSON.stringify({
      version: '1.0.0',
      sections: {
        main: [
          { answer: {} },
          { ai: { prompt: { text: 'First.' } } },
          { switch: { variable: 'a', case: { b: [{ ai: { prompt: { text: 'Second.' } } }] } } },
        ],
      },
    }),
  )
  const { kind, value } = changedDocument(document, changes)
  expect(kind).toBe('script')
  const changed = (text: string) => ({
    prompt: { text },
    post_prompt_url: 'http://test/report',
    params: { engine: 'stand-in-1' },
    SWAIG: undefined,
  })
  expect(value).toEqual({
    version: '1.0.0',
    sections: {
      main: [
        { answer: {} },
        { ai: changed('First.') },
        { switch: { variable: 'a', case: { b: [{ ai: changed('Second.') }] } } },
      ],
    },
  })
})

const faultsOf = (text: string, functions?: readonly string[]): readonly string[] => {
  try {
    read(text, functions)
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return error.faults.map(({ line, path, message }) => `${line} ${path}: ${message}`)
  }
  return []
}

it('rejects a faulty document with the line of the fault', () => {
  expect(faultsOf('prompt: { text: Hello. }\nSWAIG: 5')).toEqual(['2 /SWAIG: must be an object'])
  expect(faultsOf('- a')).toEqual(['1 : must be a document of an agent, or a script'])
  expect(faultsOf('sections: { main: [{ nothing: {} }] }')[0]).toMatch(/^1 /)
  expect(faultsOf('prompt: [')[0]).toMatch(/^1 : /)
})

it('rejects a reply for a function that the document has not, unless its servers may have it', () => {
  expect(faultsOf(agent, ['book', 'bok'])).toEqual([
    '2 : has no function bok, for which the scenario has a reply',
  ])
  expect(faultsOf(`${agent}  includes: [{ url: "https://example.com", functions: [bok] }]`, ['bok'])).toEqual(
    [],
  )
})

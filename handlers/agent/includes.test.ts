import { describe, expect, it } from 'vitest'
import { includeRequest, readInclude } from './includes.ts'

const include = {
  target: { url: 'https://u:p@more.example/swaig' },
  functions: ['search'],
  metaData: { k: 'v' },
}

describe('an include', () => {
  it('asks for the signatures of functions', () => {
    expect(includeRequest(include, { projectId: 'p' })).toEqual({
      action: 'get_signature',
      functions: ['search'],
      meta_data: { k: 'v' },
      content_type: 'text/swaig',
      content_disposition: 'function signature request',
      version: '2.0',
      project_id: 'p',
      space_id: 'p',
    })
  })

  const search = { function: 'search', description: 'Searches', web_hook_url: 'https://a.example' }
  const other = { function: 'other', description: 'Other', data_map: { output: {} }, meta_data: { own: 1 } }

  it('takes all functions of a list, also those that it did not ask for', () => {
    const { functions, warnings } = readInclude([search, other], include)
    expect(warnings).toEqual([])
    expect(functions).toMatchObject([
      { name: 'search', webhook: { url: 'https://a.example' }, metaData: { k: 'v' } },
      { name: 'other', metaData: { own: 1 } },
    ])
  })

  it('takes one function, and functions with defaults', () => {
    expect(readInclude(search, include).functions).toHaveLength(1)
    const { functions } = readInclude(
      {
        functions: [{ function: 'a', description: 'A' }, search],
        defaults: { web_hook_url: 'https://b.example', web_hook_auth_user: 'x', web_hook_auth_pass: 'y' },
      },
      include,
    )
    expect(functions.map(({ webhook }) => webhook?.url)).toEqual([
      'https://x:y@b.example',
      'https://a.example',
    ])
  })

  it('passes over incomplete functions, and rejects anything else', () => {
    const incomplete = [
      { function: 'a', description: 'A' },
      { description: 'B', data_map: {} },
      { function: 'c' },
      search,
    ]
    expect(readInclude(incomplete, include)).toMatchObject({ functions: [{ name: 'search' }], warnings: [] })
    expect(readInclude('no', include).warnings).toEqual([
      { path: '', message: 'must be a list of functions' },
    ])
    expect(readInclude(new Array(50_001).fill(1), include).warnings).toHaveLength(1)
  })
})

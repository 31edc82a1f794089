import { fileURLToPath } from 'node:url'
import { BaseResolver, lint, loadConfig, makeDocumentFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'

const pathOf = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))

const config = loadConfig({ configPath: pathOf('redocly.yaml') })

const file = pathOf('docs/openapi.json')

/** Problems of a document as `pointer: message [rule]`, errors and warnings alike. */
const problemsOf = async (resolver = new BaseResolver()): Promise<string[]> => {
  const problems = await lint({ ref: file, config: await config, externalRefResolver: resolver })
  return problems
    .filter(({ ignored }) => !ignored)
    .map(({ location: [at], message, ruleId }) => `docs/openapi.json${at?.pointer}: ${message} [${ruleId}]`)
}

/** Resolver that returns a changed document in place of the file. */
class Changed extends BaseResolver {
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  override async resolveDocument() {
    return makeDocumentFromString(this.#text, file) as never
  }
}

describe('the linter of the OpenAPI document', () => {
  it('finds no error and no warning', async () => {
    expect(await problemsOf()).toEqual([])
  })

  it('names the place of an error', async () => {
    const wrong = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'x', version: '1', license: { name: 'x', identifier: 'MIT' } },
      servers: [{ url: '/' }],
      security: [],
      paths: {
        '/x/{id}': { get: { operationId: 'x', summary: 'x', responses: { 200: { description: 'x' } } } },
      },
    })
    expect(await problemsOf(new Changed(wrong))).toContainEqual(
      expect.stringMatching(/^docs\/openapi\.json#\/paths\/~1x~1\{id\}.*\[path-parameters-defined\]$/),
    )
  })
})

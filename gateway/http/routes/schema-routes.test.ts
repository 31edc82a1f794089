import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { schemaRoutes } from './schema-routes.ts'

it.each([
  ['script', 'sections'],
  ['flow', 'nodes'],
  ['configuration', 'domains'],
])('the schema of %s is served to any editor', async (name, property) => {
  const site = fastify()
  schemaRoutes(site)
  const { statusCode, headers, body } = await site.inject(`/schemas/${name}.json`)
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': expect.stringContaining('application/schema+json'),
    'access-control-allow-origin': '*',
  })
  expect(Object.keys(JSON.parse(body).properties)).toContain(property)
})

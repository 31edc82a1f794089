import type { FastifyInstance } from 'fastify'
import { configSchema } from '../../../config/schema/config-schema.ts'
import { flowSchema } from '../../../handlers/flow/schema.ts'
import { scriptSchema } from '../../../handlers/script/schema.ts'

const schemas = { script: scriptSchema, flow: flowSchema, configuration: configSchema }

/**
 * `GET /schemas/<name>.json`: the JSON Schemas of scripts, call flows and the configuration, for editors.
 * Public.
 */
export const schemaRoutes = (site: FastifyInstance): void => {
  for (const [name, schema] of Object.entries(schemas)) {
    const text = JSON.stringify(schema)
    site.get(`/schemas/${name}.json`, async (_request, reply) => {
      reply.header('access-control-allow-origin', '*').header('cache-control', 'public, max-age=3600')
      return reply.type('application/schema+json').send(text)
    })
  }
}
